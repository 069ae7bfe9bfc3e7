import type { MessagePort, Transferable } from 'node:worker_threads'
import type { BatchSink } from './batches.ts'
import type { Codec } from './codec.ts'
import type { CallItem, ReplyItem } from './frames.ts'

/** One end of a connection that carries frames in order. */
export interface FramePort<Sent, Received> extends BatchSink<Sent> {
  /** Calls back from now on. */
  listen(listener: FrameListener<Received>): void
  /** This end sends nothing more. */
  end(): void
}

/** The listener of one end. */
interface FrameListener<Received> {
  /** For each item of the other end. */
  take(item: Received): void
  /** The other end sends nothing more, and still receives. */
  finish(): void
  /** The connection has ended. */
  die(): void
}

/** The end that answers. */
export interface CalleePort extends FramePort<ReplyItem, CallItem> {
  /** Takes no more from the other end until `resume`, where the connection keeps a pace. */
  pause(): void
  resume(): void
  /** Ends the connection with an error: the other end does not keep to the protocol. */
  refuse(reason: string): void
}

/** One end of a port between threads. Its queue takes everything, so that callers bound it; the bytes of a frame change hands. */
export function overThread<Sent, Received>(
  port: MessagePort,
  sent: Codec<{ readonly items: readonly Sent[] }>,
  received: Codec<{ readonly items: readonly Received[] }>,
): FramePort<Sent, Received> & Omit<CalleePort, keyof FramePort<unknown, unknown>> {
  return {
    write(frame) {
      // Nothing else has a view of the buffer of an encoded message.
      const bytes = sent.encode(frame)
      port.postMessage(bytes, [bytes.buffer as Transferable])
      return true
    },
    once: () => {},
    listen({ take, die }) {
      // Read as a Buffer, like the bytes of a connection.
      port.on('message', ({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>) => {
        received.decode(Buffer.from(buffer, byteOffset, byteLength)).items.forEach(take)
      })
      port.on('close', die)
    },
    end: () => port.close(),
    pause: () => {},
    resume: () => {},
    refuse: () => port.close(),
  }
}
