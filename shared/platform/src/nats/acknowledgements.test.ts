import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { headers } from '@nats-io/transport-node'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { AcknowledgedPublisher } from './acknowledgements.ts'

/** A publisher on a connection that the test answers. */
function open() {
  const replies: string[] = []
  let callback: (error: Error | null, message: Msg) => void = () => {}
  const { promise: closed, resolve: end } = Promise.withResolvers<undefined | Error>()
  const connection = {
    subscribe: (_subject: string, options: { callback: typeof callback }) => {
      callback = options.callback
    },
    publish: (_subject: string, _data: Uint8Array, { reply }: { reply: string }) => void replies.push(reply),
    closed: () => closed,
  } as unknown as NatsConnection
  const clock = createFakeClock()
  const publisher = new AcknowledgedPublisher({ connection, clock, timeoutMs: 2_000 })
  return {
    clock,
    end,
    publish: () => publisher.publish({ subject: 's', data: new Uint8Array(), headers: headers() }),
    /** Answers the message with this number. */
    answer(number: number, answer: unknown) {
      const data = answer === undefined ? new Uint8Array() : Buffer.from(JSON.stringify(answer))
      callback(null, { subject: replies[number], data, json: () => answer } as unknown as Msg)
    },
  }
}

test('each message gets its own answer, in any order of answers', async () => {
  const { publish, answer } = open()
  const [first, second, third] = [publish(), publish(), publish()]
  answer(1, { stream: 's', seq: 8, duplicate: true })
  answer(0, { stream: 's', seq: 7 })
  answer(2, { error: { code: 400, description: 'wrong last sequence: 9' } })
  expect(await first).toEqual({ sequence: 7, isDuplicate: false })
  expect(await second).toEqual({ sequence: 8, isDuplicate: true })
  await expect(third).rejects.toThrow('wrong last sequence: 9')
})

test('a missing stream, and an invalid answer, are refusals', async () => {
  const { publish, answer } = open()
  const [nobody, nonsense] = [publish(), publish()]
  answer(0, undefined)
  answer(1, { stream: 's' })
  await expect(nobody).rejects.toThrow('no stream')
  await expect(nonsense).rejects.toThrow('something other than an acknowledgement')
})

test('a message is dropped after its own timeout, and later messages after theirs', async () => {
  const { publish, answer, clock } = open()
  const first = publish()
  clock.advance(1_500)
  const second = publish()
  clock.advance(600)
  await expect(first).rejects.toThrow('not acknowledged a message in time')
  answer(0, { seq: 1 })
  answer(1, { seq: 2 })
  expect(await second).toMatchObject({ sequence: 2 })
  const third = publish()
  clock.advance(2_100)
  await expect(third).rejects.toThrow('not acknowledged a message in time')
})

test('the end of the connection rejects all pending messages', async () => {
  const { publish, end } = open()
  const waiting = [publish(), publish()]
  end(new Error('gone'))
  for (const one of waiting) await expect(one).rejects.toThrow('gone')
})
