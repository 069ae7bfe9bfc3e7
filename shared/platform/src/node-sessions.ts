import { once } from 'node:events'
import { type Duplex, duplexPair } from 'node:stream'
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

/** Connects to a port of a simulated Pod. Rejects if no script answers there, or if the node is not simulated. */
export async function connectToPod(nodes: NodesService, request: ForwardRequest, context?: CallContext): Promise<Duplex> {
  const session = await openSession(nodes, nodes.forward(request, context))
  const [socket, far] = duplexPair()
  // The error of a connection is that of the request over it.
  socket.on('error', () => {})
  socket.once('close', () => {
    session.close()
    far.destroy()
  })
  receiveOutput(session, far).catch((error: unknown) => socket.destroy(error instanceof Error ? error : undefined))
  sendInput(session, far).catch(() => {})
  return socket
}

async function receiveOutput({ parts }: NodeSession, socket: Duplex): Promise<void> {
  for await (const part of parts) if (part.kind === 'stdout' && !socket.write(part.bytes)) await once(socket, 'drain')
  socket.end()
}
