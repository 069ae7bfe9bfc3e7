import type { NodesService, SessionInput, SessionPart, Stream } from '@orch/core/contracts'
import { internal } from '@orch/core/meta'

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
