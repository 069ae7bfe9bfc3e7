import { wire } from '@orch/core/contracts'
import type { Status } from '@orch/core/meta'
import { codecOf } from '../codec.ts'

const callItem = wire.variants({
  /** The caller chooses an `id` that is new on this connection. `payload` is the encoded request. */
  call: wire.message({
    id: wire.int64(1),
    method: wire.string(2),
    payload: wire.bytes(3),
    /** The caller's remaining time in milliseconds. */
    timeoutMs: wire.optional(wire.int64(4)),
    traceparent: wire.optional(wire.string(5)),
    requestId: wire.optional(wire.string(6)),
  }),
  /** The caller cancels that call. */
  cancel: wire.message({ id: wire.int64(1) }),
  /** The number of bytes that the reader of a stream has taken since its last such message. */
  taken: wire.message({ id: wire.int64(1), bytes: wire.int64(2) }),
})

/** A message of the called side. A stream consists of any number of parts, followed by an end or a failure. */
const replyItem = wire.variants({
  answer: wire.message({ id: wire.int64(1), payload: wire.bytes(2) }),
  failure: wire.message({ id: wire.int64(1), status: wire.json<Status>(2), isUnknown: wire.bool(3) }),
  /** The server is about to stop: it answers accepted calls and refuses new ones. */
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
/** A call message. */
export type Call = Extract<CallItem, { readonly kind: 'call' }>

/** Many calls in one message. */
export const callFrames = codecOf(callFrame)
/** Many answers in one message. */
export const replyFrames = codecOf(replyFrame)

/** The approximate cost of an item besides its payload. */
export const itemBytes = 96
