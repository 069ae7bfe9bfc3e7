import type { WatchEvent } from '@orch/client'
import { type ApiObject, failed } from '@orch/core/meta'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { untilMet } from './until.ts'

const object: ApiObject = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', resourceVersion: '5' } }
const deleted: WatchEvent = { type: 'DELETED', object }
const isGone = (found: ApiObject | undefined) => found === undefined

/** A watch that fails to start. */
interface Refused {
  readonly refusal: Error
}

/** A collection with the given lists and watches, in turn; a watch that is an error breaks off with it. */
function scripted(lists: readonly ApiObject[][], watches: readonly (readonly WatchEvent[] | Error | Refused)[]) {
  const clock = createFakeClock()
  const asked: string[] = []
  const [listed, watched] = [lists.values(), watches.values()]
  const collection = {
    async list() {
      asked.push('list')
      return { apiVersion: 'v1', kind: 'PodList', metadata: { resourceVersion: '5' }, items: listed.next().value ?? [] }
    },
    async watch() {
      asked.push('watch')
      const events = watched.next().value ?? []
      if ('refusal' in events) throw events.refusal
      return (async function* () {
        if (events instanceof Error) throw events
        yield* events
      })()
    },
  }
  return { collection, asked, clock }
}

const follow = ({ collection, clock }: ReturnType<typeof scripted>, signal = new AbortController().signal) =>
  untilMet(collection, { namespace: 'default', name: 'a', isMet: isGone, signal, clock })

/** Advances the clock over the delay between a watch and the next list. */
async function passPause({ clock }: ReturnType<typeof scripted>): Promise<void> {
  for (let turn = 0; turn < 1_000 && clock.pendingTimers === 0; turn++) await Promise.resolve()
  clock.advance(1_000)
}

test('an object that already meets the condition is not watched', async () => {
  const script = scripted([[]], [])
  expect(await follow(script)).toBe(true)
  expect(script.asked).toEqual(['list'])
})

test('the event that meets the condition ends the watch', async () => {
  const script = scripted([[object]], [[{ type: 'MODIFIED', object }, deleted]])
  expect(await follow(script)).toBe(true)
  expect(script.asked).toEqual(['list', 'watch'])
})

test('after a watch that the server ends, the object is listed and watched again', async () => {
  const script = scripted([[object], [object], []], [[], [{ type: 'MODIFIED', object }]])
  const following = follow(script)
  await passPause(script)
  await passPause(script)
  expect(await following).toBe(true)
  expect(script.asked).toEqual(['list', 'watch', 'list', 'watch', 'list'])
})

test('a refused watch throws the refusal', async () => {
  await expect(follow(scripted([[object]], [{ refusal: failed(403, 'Forbidden', 'no') }]))).rejects.toThrow('no')
})

test.each([
  ['one from a revision that has been compacted', { refusal: failed(410, 'Expired', 'too old') }],
  ['one that ends with an error', failed(410, 'Expired', 'too old')],
  ['one that breaks off', new Error('socket hang up')],
])('a failed watch is started again: %s', async (_which, end) => {
  const script = scripted([[object], []], [end])
  const following = follow(script)
  await passPause(script)
  expect(await following).toBe(true)
  expect(script.asked).toEqual(['list', 'watch', 'list'])
})

test('an aborted signal ends the wait', async () => {
  const ending = new AbortController()
  const script = scripted([[object]], [new Error('aborted')])
  const following = follow(script, ending.signal)
  ending.abort()
  expect(await following).toBe(false)
})
