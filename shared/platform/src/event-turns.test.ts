import { expect, test } from 'vitest'
import { Activity } from './activity.ts'
import { eventTurns } from './event-turns.ts'

/** The turn of the event loop in which each group of `count` events is sent. */
async function sentTurns({ isVirtual = false, signal = new AbortController().signal, work = new Activity(), count = 1, groups = 1 }) {
  const sent: number[] = []
  let now = 0
  const passing = (async () => {
    for (; now < 20; now++) await new Promise((resolve) => setImmediate(resolve))
  })()
  const turns = eventTurns({ work, isVirtual }, signal)
  const send = async () => {
    await turns.first()
    for (let group = 0; group < groups; group++) void Promise.resolve(turns.take(count)).then(() => sent.push(now))
  }
  await Promise.all([send(), passing])
  return sent
}

test('sixteen turns of the event loop precede the first event, unless the clock is manual or the signal is aborted', async () => {
  expect(await sentTurns({})).toEqual([16])
  expect(await sentTurns({ isVirtual: true })).toEqual([0])
  expect(await sentTurns({ signal: AbortSignal.abort() })).toEqual([0])
})

test('32 events are sent in one turn, in groups of any size', async () => {
  expect(await sentTurns({ isVirtual: true, count: 1, groups: 70 })).toEqual([
    ...Array(32).fill(0),
    ...Array(32).fill(1),
    ...Array(6).fill(2),
  ])
  expect(await sentTurns({ isVirtual: true, count: 12, groups: 5 })).toEqual([0, 0, 1, 1, 2])
})

test('the wait for the first event is work in progress', async () => {
  const work = new Activity()
  const waiting = eventTurns({ work }, new AbortController().signal).first()
  expect(work.inProgress()).toEqual(['events'])
  await waiting
  expect(work.inProgress()).toEqual([])
})
