import { type Duplex, duplexPair } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { CallContext, ForwardRequest, NodesService, SessionInput, SessionPart, Stream } from '@orch/core/contracts'
import { internal, StatusError } from '@orch/core/meta'

/** An open session with a node. */
export interface NodeSession {
  /** The output, and the exit status. */
  readonly parts: AsyncIterable<SessionPart>
  /** Resolves when the session has capacity for more, or has ended. */
  input(input: SessionInput): Promise<void>
  /** The client has disconnected. */
  close(): void
}

/** Resolves when the node has opened the session; rejects with its refusal. */
export async function openSession(nodes: Pick<NodesService, 'input'>, stream: Stream<SessionPart>): Promise<NodeSession> {
  const parts = stream[Symbol.asyncIterator]()
  const close = () => stream.close()
  try {
    const { value } = await parts.next()
    if (value?.kind !== 'opened') throw internal('the node has opened no session')
    const { session } = value
    return {
      parts: { [Symbol.asyncIterator]: () => parts },
      async input(input) {
        try {
          await nodes.input({ session, input })
        } catch {
          // The session has ended, according to its output.
        }
      },
      close,
    }
  } catch (error) {
    close()
    throw error
  }
}

/** Sends the bytes of a client, and their end. */
export async function sendInput({ input }: NodeSession, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of bytes) await input({ kind: 'stdin', bytes: chunk })
  await input({ kind: 'end' })
}

/** True if the node of a call is not simulated. */
export function isUnsimulated(error: unknown): boolean {
  return error instanceof StatusError && error.reason === 'NotFound' && error.status.details?.kind === 'nodes'
}

/** The other parts of a connection to a Pod. */
interface PodConnectionOptions {
  readonly context?: CallContext
  /** Connects if the node is not simulated. By default the connection fails then. */
  readonly elsewhere?: () => Duplex
}

/**
 * A connection to a port of a simulated Pod. It can be used at once and emits `connect`, like one of `net.connect`, and is destroyed with the error
 * if no script answers there.
 */
export function connectToPod(nodes: NodesService, request: ForwardRequest, { context, elsewhere }: PodConnectionOptions = {}): Duplex {
  const [socket, far] = duplexPair()
  const stream = nodes.forward(request, context)
  // The error of a connection is that of the request over it.
  socket.on('error', () => {})
  socket.once('close', () => {
    stream.close()
    far.destroy()
  })
  const fail = (error: unknown) => void socket.destroy(error instanceof Error ? error : undefined)
  const pass = async () => {
    try {
      const session = await openSession(nodes, stream)
      socket.emit('connect')
      // A client may end its side before the answer.
      sendInput(session, far.iterator({ destroyOnReturn: false })).catch(() => {})
      await pipeline(outputOf(session, fail), far)
    } catch (error) {
      if (elsewhere === undefined || !isUnsimulated(error)) throw error
      // A pipeline destroys its streams before it reports an error, so the client would take it for the end of the connection.
      await pipeline(far, elsewhere().once('error', fail), far)
    }
  }
  pass().catch(fail)
  return socket
}

/** A failure is reported before the output ends: the client would take it for the end of the connection. */
async function* outputOf({ parts }: NodeSession, fail: (error: unknown) => void): AsyncGenerator<Uint8Array> {
  try {
    for await (const part of parts) if (part.kind === 'stdout') yield part.bytes
  } catch (error) {
    fail(error)
  }
}
