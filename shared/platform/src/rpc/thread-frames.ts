import type { MessagePort, Transferable } from 'node:worker_threads'
import { wire } from '@orch/core/contracts'
import type { Status } from '@orch/core/meta'
import { Batches } from './batches.ts'
import { type Codec, codecOf } from './codec.ts'

/** A caller's message to another thread. `id` is the caller's own, and new on this port. */
const threadCall = wire.variants({
  /** `payload` is the request in the form of the method, `method` the path of it. */
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

/** The called thread's message. A stream is any number of parts, then its end or a failure. */
const threadReply = wire.variants({
  answer: wire.message({ id: wire.int64(1), payload: wire.bytes(2) }),
  failure: wire.message({ id: wire.int64(1), status: wire.json<Status>(2), isUnknown: wire.bool(3) }),
  part: wire.message({ id: wire.int64(1), payload: wire.bytes(2) }),
  end: wire.message({ id: wire.int64(1) }),
})

const callFrame = wire.message({ items: wire.many(wire.union(1, threadCall)) })
const replyFrame = wire.message({ items: wire.many(wire.union(1, threadReply)) })

export type ThreadCall = wire.Static<typeof threadCall>
export type ThreadReply = wire.Static<typeof threadReply>

/** Receives the other end's messages. Their bytes are read as a Buffer, like those from a connection. */
export function onFrames<T>(port: MessagePort, codec: Codec<{ readonly items: readonly T[] }>, take: (item: T) => void): void {
  port.on('message', ({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>) => {
    for (const item of codec.decode(Buffer.from(buffer, byteOffset, byteLength)).items) take(item)
  })
}

/** Calls of one turn of the event loop. */
export const threadCalls = codecOf(callFrame)
/** Replies of one turn of the event loop. */
export const threadReplies = codecOf(replyFrame)

/** The approximate cost of an item besides its payload. */
export const threadItemBytes = 96

/** Sends the items of one turn as few messages, whose bytes are transferred. The queue of a port takes everything. */
export function batchesOver<T>(port: MessagePort, codec: Codec<{ readonly items: readonly T[] }>): Batches<T> {
  return new Batches<T>({
    write(frame) {
      // Nothing else has a view of the buffer of an encoded message, so it can change hands.
      const bytes = codec.encode(frame)
      port.postMessage(bytes, [bytes.buffer as Transferable])
      return true
    },
    once: () => {},
  })
}
