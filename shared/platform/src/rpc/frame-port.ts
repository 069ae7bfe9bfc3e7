import type { MessagePort, Transferable } from 'node:worker_threads'
import type { Codec } from '../codec.ts'
import type { BatchSink } from './batches.ts'
import type { CallItem, ReplyItem } from './frames.ts'

/** One end of a connection that carries frames in order. */
export interface FramePort<Sent, Received> extends BatchSink<Sent> {
  /** Sets the listener. */
  listen(listener: FrameListener<Received>): void
  /** Ends the sending direction. */
  end(): void
}

/** The listener of one end. */
interface FrameListener<Received> {
  /** Called for each received item. */
  take(item: Received): void
  /** Called when the other end sends no more; it can still receive. */
  finish(): void
  /** Called when the connection has ended. */
  die(): void
}

/** The answering end. */
export interface CalleePort extends FramePort<ReplyItem, CallItem> {
  /** Stops reading until `resume`, if the connection supports flow control. */
  pause(): void
  resume(): void
  /** Ends the connection with an error because the other end violates the protocol. */
  refuse(reason: string): void
}

/** One end of a port between threads. The port's queue is unbounded, so callers must bound it. The bytes of a frame are transferred, not copied. */
export function overThread<Sent, Received>(
  port: MessagePort,
  sent: Codec<{ readonly items: readonly Sent[] }>,
  received: Codec<{ readonly items: readonly Received[] }>,
): FramePort<Sent, Received> & Omit<CalleePort, keyof FramePort<unknown, unknown>> {
  return {
    write(frame) {
      // The encoded message has its own buffer, so that it can be transferred.
      const bytes = sent.encode(frame)
      port.postMessage(bytes, [bytes.buffer as Transferable])
      return true
    },
    once: () => {},
    listen({ take, die }) {
      // As a Buffer, like bytes from a socket.
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
