import { expect, test } from 'vitest'
import { Activity } from './activity.ts'
import { eventTurns } from './event-turns.ts'

/** The turn of the event loop in which each event is sent. */
async function sentTurns({ isVirtual = false, signal = new AbortController().signal, work = new Activity(), count = 1 }) {
  const sent: number[] = []
  let now = 0
  const passing = (async () => {
    for (; now < 20; now++) await new Promise((resolve) => setImmediate(resolve))
  })()
  const turn = eventTurns({ work, isVirtual }, signal)
  for (let event = 0; event < count; event++) void Promise.resolve(turn(event === 0)).then(() => sent.push(now))
  await passing
  return sent
}

test('sixteen turns of the event loop precede the first event, unless the clock is manual or the signal is aborted', async () => {
  expect(await sentTurns({})).toEqual([16])
  expect(await sentTurns({ isVirtual: true })).toEqual([0])
  expect(await sentTurns({ signal: AbortSignal.abort() })).toEqual([0])
})

test('eight events are sent in one turn', async () => {
  const turns = await sentTurns({ isVirtual: true, count: 20 })
  expect(turns).toEqual([...Array(8).fill(0), ...Array(8).fill(1), ...Array(4).fill(2)])
})

test('the wait for the first event is work in progress', async () => {
  const work = new Activity()
  const waiting = eventTurns({ work }, new AbortController().signal)(true)
  expect(work.inProgress()).toEqual(['events'])
  await waiting
  expect(work.inProgress()).toEqual([])
})
