import { wire } from '@orch/core/contracts'
import type { Status } from '@orch/core/meta'
import { codecOf } from './codec.ts'

/** A caller's message. */
const callItem = wire.variants({
  /** `id` is the caller's own, and new on this connection. `payload` is the request in the form of the method. */
  call: wire.message({
    id: wire.int64(1),
    method: wire.string(2),
    payload: wire.bytes(3),
    /** Milliseconds that the caller still waits. */
    timeoutMs: wire.optional(wire.int64(4)),
    traceparent: wire.optional(wire.string(5)),
    requestId: wire.optional(wire.string(6)),
  }),
  /** The caller wants nothing more of that call. */
  cancel: wire.message({ id: wire.int64(1) }),
  /** The reader of a stream has taken so many bytes since its last such message. */
  taken: wire.message({ id: wire.int64(1), bytes: wire.int64(2) }),
})

/** The called side's message. A stream is any number of parts, then its end or a failure. */
const replyItem = wire.variants({
  answer: wire.message({ id: wire.int64(1), payload: wire.bytes(2) }),
  failure: wire.message({ id: wire.int64(1), status: wire.json<Status>(2), isUnknown: wire.bool(3) }),
  /** The server is about to stop: accepted calls will be answered, new ones are refused. */
  leaving: wire.message({}),
  part: wire.message({ id: wire.int64(1), payload: wire.bytes(2) }),
  end: wire.message({ id: wire.int64(1) }),
})

const callFrame = wire.message({ items: wire.many(wire.union(1, callItem)) })
const replyFrame = wire.message({ items: wire.many(wire.union(1, replyItem)) })

export type CallItem = wire.Static<typeof callItem>
export type ReplyItem = wire.Static<typeof replyItem>
export type CallFrame = wire.Static<typeof callFrame>
export type ReplyFrame = wire.Static<typeof replyFrame>
/** A call on its way. */
export type Call = Extract<CallItem, { readonly kind: 'call' }>

/** Many calls in one message. */
export const callFrames = codecOf(callFrame)
/** Many answers in one message. */
export const replyFrames = codecOf(replyFrame)

/** The approximate cost of an item besides its payload. */
export const itemBytes = 96
