import { type ClientDuplexStream, type ServerDuplexStream, status } from '@grpc/grpc-js'
import type { CalleePort, FramePort } from './frame-port.ts'
import type { CallFrame, CallItem, ReplyFrame, ReplyItem } from './frames.ts'

/** The calling end of a stream between processes. */
export function callerOverGrpc(call: ClientDuplexStream<CallFrame, ReplyFrame>): FramePort<CallItem, ReplyItem> {
  return {
    write: (frame) => call.write(frame),
    once: (event, listener) => call.once(event, listener),
    listen({ take, die }) {
      call.on('data', ({ items }: ReplyFrame) => items.forEach(take))
      // The end of a stream is handled by its status, which a dead connection has too.
      call.on('error', () => {})
      call.on('status', die)
    },
    end: () => call.end(),
  }
}

/** The answering end of a stream between processes. */
export function calleeOverGrpc(stream: ServerDuplexStream<CallFrame, ReplyFrame>): CalleePort {
  return {
    write: (frame) => stream.write(frame),
    once: (event, listener) => stream.once(event, listener),
    listen({ take, finish, die }) {
      stream.on('data', ({ items }: CallFrame) => items.forEach(take))
      stream.on('end', finish)
      stream.on('cancelled', die)
      stream.on('error', die)
    },
    end: () => stream.end(),
    pause: () => void stream.pause(),
    resume: () => void (stream.isPaused() && stream.resume()),
    refuse: (details) => void stream.emit('error', { code: status.INVALID_ARGUMENT, details }),
  }
}
