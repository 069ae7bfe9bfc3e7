import { expect, test } from 'vitest'
import { PushStream } from './push-stream.ts'

test('items pushed before the first pull wait, in order', async () => {
  const stream = new PushStream<number>()
  stream.push(1)
  stream.push(2)
  expect([await stream.next(), await stream.next()]).toEqual([
    { value: 1, done: false },
    { value: 2, done: false },
  ])
  const waiting = stream.next()
  stream.push(3)
  expect(await waiting).toEqual({ value: 3, done: false })
})

test('the sizes of waiting items are counted until they are read', async () => {
  let drained = 0
  const stream = new PushStream<string>({
    onDrain: () => {
      drained += 1
    },
  })
  stream.push('a', 10)
  stream.push('b', 5)
  expect(stream.waitingBytes).toBe(15)
  await stream.next()
  expect([stream.waitingBytes, drained]).toEqual([5, 0])
  await stream.next()
  expect([stream.waitingBytes, drained]).toEqual([0, 1])
})

test('an end or an error comes after the waiting items', async () => {
  const ended = new PushStream<number>()
  ended.push(1)
  ended.end()
  ended.push(2)
  expect([await ended.next(), await ended.next()]).toEqual([
    { value: 1, done: false },
    { value: undefined, done: true },
  ])
  const failed = new PushStream<number>()
  failed.push(1)
  failed.fail(new Error('broken'))
  expect(await failed.next()).toEqual({ value: 1, done: false })
  await expect(failed.next()).rejects.toThrow('broken')
  expect(await failed.next()).toEqual({ value: undefined, done: true })
})

test('an abandoned stream drops the waiting items and fails', async () => {
  const stream = new PushStream<number>()
  stream.push(1, 100)
  stream.abandon(new Error('too slow'))
  expect(stream.waitingBytes).toBe(0)
  await expect(stream.next()).rejects.toThrow('too slow')
})

test('closing notifies the producer once, and ends waiting readers', async () => {
  let closed = 0
  const stream = new PushStream<number>({
    onClose: () => {
      closed += 1
    },
  })
  const waiting = [stream.next(), stream.next()]
  stream.close()
  stream.close()
  stream.end()
  expect(await Promise.all(waiting)).toEqual([
    { value: undefined, done: true },
    { value: undefined, done: true },
  ])
  expect(closed).toBe(1)
})

test('leaving the loop closes the stream', async () => {
  const stream = new PushStream<number>()
  stream.push(1)
  stream.push(2)
  for await (const item of stream) if (item === 1) break
  expect(stream.ended).toBe(true)
})

test('waiting items may be joined with the next item, and an item for a waiting reader is not', async () => {
  const join = (waiting: string, item: string) => (waiting.length + item.length <= 3 ? waiting + item : undefined)
  const stream = new PushStream<string>({ join })
  const first = stream.next()
  for (const item of ['a', 'b', 'c', 'd', 'e']) stream.push(item, 1)
  expect([await first, stream.waitingBytes]).toEqual([{ value: 'a', done: false }, 4])
  expect([(await stream.next()).value, stream.waitingBytes, (await stream.next()).value]).toEqual(['bcd', 1, 'e'])
})
