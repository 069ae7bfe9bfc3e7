import { wire } from '@orch/core/contracts'
import type { Status } from '@orch/core/meta'
import { codecOf } from './codec.ts'

/** A caller's message on a stream of batches. */
const callItem = wire.variants({
  /** `id` is the caller's own, and new on this stream. `payload` is the request in the form of the method. */
  call: wire.message({
    id: wire.int64(1),
    method: wire.string(2),
    payload: wire.bytes(3),
    /** Milliseconds that the caller still waits. */
    timeoutMs: wire.optional(wire.int64(4)),
    traceparent: wire.optional(wire.string(5)),
    requestId: wire.optional(wire.string(6)),
  }),
  /** The caller no longer waits for that answer. */
  cancel: wire.message({ id: wire.int64(1) }),
})

/** The called side's message. */
const replyItem = wire.variants({
  answer: wire.message({ id: wire.int64(1), payload: wire.bytes(2) }),
  failure: wire.message({ id: wire.int64(1), status: wire.json<Status>(2), isUnknown: wire.bool(3) }),
  /** The server is about to stop: accepted calls will be answered, new ones are refused. */
  leaving: wire.message({}),
})

const callFrame = wire.message({ items: wire.many(wire.union(1, callItem)) })
const replyFrame = wire.message({ items: wire.many(wire.union(1, replyItem)) })

export type CallItem = wire.Static<typeof callItem>
export type ReplyItem = wire.Static<typeof replyItem>
export type CallFrame = wire.Static<typeof callFrame>
export type ReplyFrame = wire.Static<typeof replyFrame>

/** Many calls in one message. */
export const callFrames = codecOf(callFrame)
/** Many answers in one message. */
export const replyFrames = codecOf(replyFrame)
