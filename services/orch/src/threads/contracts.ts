import type { MessagePort } from 'node:worker_threads'
import { contract, type Service, stream, type User, unary, wire } from '@orch/core/contracts'
import type { Access, Authentication, Authorities, Decision, HealthCheck } from '@orch/gateway'
import type { PlainAuditEvent } from '@orch/gateway/audit'
import type { KeyPair, MetricRows } from '@orch/platform'
import type { PlainLink } from '../authorization/open.ts'

const nothing = wire.message({})

/** The first thread's services for the other threads, besides storage, watch and admission. */
export const firstThreadContract = contract('threads.v1.First', {
  /** The metrics of the process, in the exposition format. */
  metrics: unary(nothing, wire.message({ text: wire.bytes(1) }), { idempotent: true }),
  /** Why a part of the server in the first thread is unhealthy; undefined if it is healthy. */
  problem: unary(wire.message({ check: wire.string(1) }), wire.message({ text: wire.optional(wire.string(1)) }), { idempotent: true }),
  /** The certificate of a name, then each certificate that replaces it. */
  certificate: stream(wire.message({ name: wire.string(1) }), wire.message({ value: wire.json<KeyPair>(1) }), {
    idempotent: true,
    endless: true,
  }),
  /** The authorities of client certificates, then each set that replaces them. */
  authorities: stream(nothing, wire.message({ value: wire.json<Authorities>(1) }), { idempotent: true, endless: true }),
  /** The user of a token. */
  token: unary(
    wire.message({ token: wire.string(1), audiences: wire.many(wire.string(2)), timeoutMs: wire.int64(3) }),
    wire.message({ answer: wire.json<Authentication>(1) }),
    { idempotent: true },
  ),
  /** The admission of a request without a credential. */
  anonymous: unary(wire.message({ path: wire.string(1) }), wire.message({ isAllowed: wire.bool(1) }), { idempotent: true }),
  /** The present chain of authorizers, then each chain that replaces it. */
  authorizers: stream(nothing, wire.message({ links: wire.json<readonly PlainLink[]>(1) }), { idempotent: true, endless: true }),
  /** The decision of an authorization webhook. */
  access: unary(
    wire.message({ webhook: wire.string(1), user: wire.json<User>(2), access: wire.json<Access>(3) }),
    wire.message({ decision: wire.json<Decision>(1) }),
    { idempotent: true },
  ),
  /** Takes an audit event. Answers when the blocking backends have it, with the reason if the request must fail. */
  audit: unary(
    wire.message({
      event: wire.json<PlainAuditEvent['event']>(1),
      requestObject: wire.optional(wire.bytes(2)),
      responseObject: wire.optional(wire.bytes(3)),
    }),
    wire.message({ problem: wire.optional(wire.string(1)) }),
  ),
})
export type FirstThreadService = Service<typeof firstThreadContract>

/** The first thread's calls to each other thread. */
export const gatewayThreadContract = contract('threads.v1.Gateway', {
  metrics: unary(nothing, wire.message({ rows: wire.json<readonly MetricRows[]>(1) }), { idempotent: true }),
  /** Ends the gateway: `/readyz` fails for this time, then the watches end one after the other. */
  close: unary(wire.message({ delayMs: wire.int64(1), graceMs: wire.int64(2), finishesRequests: wire.optional(wire.bool(3)) }), nothing),
})
export type GatewayThreadService = Service<typeof gatewayThreadContract>

/** The input of a thread: plain data, and the ends of its links. */
export interface ThreadStart {
  /** All given settings, as flags. */
  readonly flags: readonly string[]
  /** The values of all settings, which `/flagz` shows. */
  readonly shownFlags: ReadonlyMap<string, string>
  /** The thread's number, from 1; the process's first thread is 0. */
  readonly index: number
  readonly threads: number
  /** The port that the first thread has opened. */
  readonly port: number
  /** The key of service account tokens if the settings name no key, in PEM. */
  readonly signingKey: string
  /** The marks that tell a thread whether a cached object is current; undefined if it must always ask. */
  readonly marks: SharedArrayBuffer | undefined
  /** Counts how often the first thread has forgotten all tokens. */
  readonly forgottenTokens: SharedArrayBuffer
  /** The first thread's checks for `/readyz`. */
  readonly checks: readonly Pick<HealthCheck, 'name' | 'condition'>[]
  /** The port to the first thread's services. */
  readonly first: MessagePort
  /** The port for the first thread's calls to this thread. */
  readonly own: MessagePort
}

/**
 * The sockets of each thread at the port. The kernel gives every socket the same number of connections; the first thread, which also holds the objects,
 * opens two for each three of another thread.
 */
export const portSockets = { first: 2, further: 3 } as const

/** A counter in memory that all threads share. */
export class SharedCount {
  readonly memory: SharedArrayBuffer
  readonly #counts: Int32Array

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#counts = new Int32Array(memory)
  }

  /** Adds one. */
  add(): void {
    Atomics.add(this.#counts, 0, 1)
  }

  get value(): number {
    return Atomics.load(this.#counts, 0)
  }
}

/** The number of marks. A change of one object also invalidates the others with its mark. */
const marksMax = 65_536

/**
 * Counters in memory that all threads share; several keys share one. The first thread increments a counter when an object is replaced or deleted,
 * before any reader can see that. While the counter is unchanged, an object that was read after it is current.
 */
export class ObjectMarks {
  readonly memory: SharedArrayBuffer
  readonly #counts: Int32Array

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(marksMax * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#counts = new Int32Array(memory)
  }

  /** Marks the key's object as replaced or deleted. */
  count(key: string): void {
    Atomics.add(this.#counts, this.#placeOf(key), 1)
  }

  /** The value of a mark after one of its objects was replaced or deleted. */
  after(mark: number): number {
    return (mark + 1) | 0
  }

  /** The mark of a key. */
  of(key: string): number {
    return Atomics.load(this.#counts, this.#placeOf(key))
  }

  /** FNV-1a. */
  #placeOf(key: string): number {
    let hash = 0x811c9dc5
    for (let index = 0; index < key.length; index += 1) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193)
    return (hash >>> 0) % this.#counts.length
  }
}
