import type { InputRequest, SessionInput, SessionPart, Stream } from '@orch/core/contracts'
import { lazily } from '@orch/core/memo'
import { notFound, serviceUnavailable } from '@orch/core/meta'
import { failedStream, type PushStream } from '@orch/platform'
import { Way } from './programs/way.ts'

/** The program's side of a session. */
export interface Session {
  /** The client's input in order. It ends with the session. */
  readonly input: AsyncIterable<SessionInput>
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal
  /** Tells the client that the session is open. The first write does so as well. */
  opened(): void
  /** Resolves when the client has read most of the output; rejects when it has disconnected. */
  write(part: Extract<SessionPart, { readonly kind: 'stdout' | 'stderr' }>): Promise<void>
}

/** A program: its exit status, or undefined for a session without one. A thrown StatusError fails the session. */
export type Program = (session: Session) => Promise<number | undefined>

/** Maximum open sessions of all nodes; each holds a request of a client, and up to twice `waitingBytesMax`. */
const sessionsMax = 4096

/** The client has disconnected during output. */
class ClientLeftError extends Error {
  override readonly name = 'ClientLeftError'
}

/** The open sessions, by their names for input. */
export class Sessions {
  readonly #inputs = new Map<string, Way<SessionInput>>()
  readonly #newName: () => string

  constructor({ newName }: { readonly newName: () => string }) {
    this.#newName = newName
  }

  /** Runs a program for the reader of the output. An error of `find` replaces the opening. */
  open(find: () => Program): Stream<SessionPart> {
    try {
      if (this.#inputs.size < sessionsMax) return this.#open(find())
      throw serviceUnavailable('too many sessions are open on simulated nodes', { retryAfterSeconds: 1 })
    } catch (error) {
      return failedStream(error)
    }
  }

  #open(program: Program): Stream<SessionPart> {
    const name = this.#newName()
    const leaving = new AbortController()
    const input = new Way<SessionInput>(() => {})
    const output = new Way<SessionPart>(() => {
      this.#inputs.delete(name)
      input.parts.close()
      leaving.abort()
    })
    this.#inputs.set(name, input)
    const opened = lazily(() => output.parts.push({ kind: 'opened', session: name }) ?? true)
    const session: Session = {
      input: input.parts,
      signal: leaving.signal,
      opened,
      async write(part) {
        opened()
        await output.push(part, part.bytes.length)
        if (leaving.signal.aborted) throw new ClientLeftError('the client has left')
      },
    }
    void run(program, session, output.parts)
    return output.parts
  }

  /** Resolves when the session has capacity for more. */
  async input({ session, input }: InputRequest): Promise<Record<string, never>> {
    const way = this.#inputs.get(session)
    if (way === undefined) throw notFound({ group: '', resource: 'sessions' }, session)
    if (input.kind === 'end') way.parts.end()
    else await way.push(input, input.kind === 'stdin' ? input.bytes.length : 0)
    return {}
  }
}

async function run(program: Program, session: Session, parts: PushStream<SessionPart>): Promise<void> {
  try {
    const code = await program(session)
    if (code !== undefined) parts.push({ kind: 'exit', code })
    parts.end()
  } catch (error) {
    parts.fail(error)
  }
}
