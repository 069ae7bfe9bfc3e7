import { type Clock, messageOf, sleep } from '@orch/platform'
import { etcdMemberLookMs } from '../limits.ts'
import { toFailure } from './errors.ts'

/** The policy of calls to one member. */
export interface MemberPolicy {
  execute<T>(call: (context: unknown) => T | Promise<T>): Promise<T>
}

/** While members elect a leader none is of use for a moment; then the reachable ones are asked, and not the lost one. */
const distances = { none: 0, silent: 1, absent: 2 } as const
type Distance = (typeof distances)[keyof typeof distances]

/** A call to a member failed, or was not made. The library would drop all connections to it were this one of its own errors. */
class MemberError extends Error {}

/**
 * Members of etcd that gave no answer a moment ago are passed over as long as there are others, until they answer again:
 * a member that is down must not cost every third call its time.
 */
export class Members {
  readonly #servers: readonly string[]
  readonly #clock: Clock
  readonly #isBack: (server: string) => Promise<boolean>
  /** The unavailable members, with their distance from use; a member without an entry is available. */
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
          // A connection that is never made is waited for without end: it is dropped, and another one begun.
          if (error instanceof Error && /Waiting for LB pick/.test(error.message)) throw error
          throw new MemberError(messageOf(error), { cause: error })
        }
      },
    }
  }

  /** Of a stream that a call has given: it says nothing any more. */
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
    do await sleep(this.#clock, etcdMemberLookMs, signal)
    while (!signal.aborted && !(await this.#isBack(server)))
    this.#away.delete(server)
  }
}

/** It was not there, gave no answer, or has lost the others. What we ended ourselves says nothing. */
function isOfNoUse(error: unknown): boolean {
  if (!(error instanceof Error) || /^1 CANCELLED/.test(error.message)) return false
  const failure = toFailure(error)
  return failure === 'unsent' || failure === 'unanswered' || failure === 'late'
}
