import { type Clock, messageOf, sleep } from '@orch/platform'
import { limits } from '../limits.ts'
import { toFailure } from './errors.ts'

/** The retry policy of calls to one member. */
export interface MemberPolicy {
  execute<T>(call: (context: unknown) => T | Promise<T>): Promise<T>
}

/** While the members elect a leader, none can answer for a moment. The client then asks the reachable members and not the lost member. */
const distances = { none: 0, silent: 1, absent: 2 } as const
type Distance = (typeof distances)[keyof typeof distances]

/** A failed or unsent call to a member. It is not one of the library's own errors, for which the library would drop all connections to the member. */
class MemberError extends Error {}

/** The client passes over members that recently gave no answer while other members are available: otherwise a stopped member would delay every third call. */
export class Members {
  readonly #servers: readonly string[]
  readonly #clock: Clock
  readonly #isBack: (server: string) => Promise<boolean>
  /** The unavailable members, with the time until the client tries them again. A member without an entry is available. */
  readonly #away = new Map<string, Distance>()
  readonly #serverOf = new WeakMap<object, string>()
  readonly #closing = new AbortController()

  constructor({ servers, clock, isBack }: { servers: readonly string[]; clock: Clock; isBack: (server: string) => Promise<boolean> }) {
    this.#servers = servers
    this.#clock = clock
    this.#isBack = isBack
  }

  policyOf(server: string): MemberPolicy {
    return {
      execute: async (call) => {
        if (this.#distanceOf(server) > Math.min(...this.#servers.map((other) => this.#distanceOf(other))))
          throw new MemberError(`${server} is away`)
        try {
          const result = await call({})
          if (typeof result === 'object' && result !== null) this.#serverOf.set(result, server)
          return result
        } catch (error) {
          if (!isOfNoUse(error)) throw error
          this.#passOver(server, toFailure(error) === 'unsent' ? distances.absent : distances.silent)
          // The library waits without end for a connection that never opens, so this drops the connection and opens another.
          if (error instanceof Error && /Waiting for LB pick/.test(error.message)) throw error
          throw new MemberError(messageOf(error), { cause: error })
        }
      },
    }
  }

  /** The stream of a call that has ended; its events mean nothing. */
  isSilent(stream: object): void {
    const server = this.#serverOf.get(stream)
    if (server !== undefined) this.#passOver(server, distances.silent)
  }

  close(): void {
    this.#closing.abort()
  }

  #distanceOf(server: string): Distance {
    return this.#away.get(server) ?? distances.none
  }

  #passOver(server: string, distance: Distance): void {
    if (this.#servers.length === 1 || this.#closing.signal.aborted) return
    const isKnown = this.#away.has(server)
    this.#away.set(server, distance)
    if (!isKnown) void this.#awaitReturn(server)
  }

  async #awaitReturn(server: string): Promise<void> {
    const { signal } = this.#closing
    do await sleep(this.#clock, limits.etcdMemberLookMs, signal)
    while (!signal.aborted && !(await this.#isBack(server)))
    this.#away.delete(server)
  }
}

/** The member was down, did not answer or has lost the other members. Errors of streams that this process ended say nothing. */
function isOfNoUse(error: unknown): boolean {
  if (!(error instanceof Error) || /^1 CANCELLED/.test(error.message)) return false
  const failure = toFailure(error)
  return failure === 'unsent' || failure === 'unanswered' || failure === 'late'
}
