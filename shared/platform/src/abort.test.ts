import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { aborted, onAbort, unlessAborted } from './abort.ts'

test('a listener is called once for a later abort, and at once for an aborted signal', () => {
  const ending = new AbortController()
  const called: string[] = []
  onAbort(ending.signal, () => called.push('early'))
  expect(called).toEqual([])
  ending.abort()
  onAbort(ending.signal, () => called.push('late'))
  onAbort(undefined, () => called.push('never'))
  expect(called).toEqual(['early', 'late'])
})

test('a wait for an aborted signal ends', async () => {
  await expect(aborted(AbortSignal.abort())).resolves.toBeUndefined()
})

test('work that never ends is left when its signal is aborted, also before, and leaves no listener', async () => {
  const never = new Promise<never>(() => {})
  const ending = new AbortController()
  const left = unlessAborted(never, ending.signal)
  ending.abort(new Error('left'))
  await expect(left).rejects.toThrow('left')
  await expect(unlessAborted(never, ending.signal)).rejects.toThrow('left')
  const { signal } = new AbortController()
  await expect(unlessAborted(Promise.resolve(1), signal)).resolves.toBe(1)
  expect(getEventListeners(signal, 'abort')).toEqual([])
})
