import type { MessagePort } from 'node:worker_threads'
import type { HealthCheck } from '@orch/gateway'

/** With what a thread begins: plain data, and the ends of its links. */
export interface ThreadStart {
  /** All settings that were given, as flags. */
  readonly flags: readonly string[]
  /** The values of all settings, which `/flagz` shows. */
  readonly shownFlags: ReadonlyMap<string, string>
  /** Which of the threads it is, from 1; the first one of the process is 0. */
  readonly index: number
  readonly threads: number
  /** The port that the first thread has opened. */
  readonly port: number
  /** Of tokens of service accounts where the settings name no key, PEM. */
  readonly signingKey: string
  /** Marks of objects, by which a thread knows that one it has read is the present one; absent: it asks each time. */
  readonly marks: SharedArrayBuffer | undefined
  /** Counts how often the first thread has forgotten all tokens. */
  readonly forgottenTokens: SharedArrayBuffer
  /** What the first thread keeps and `/readyz` tells. */
  readonly checks: readonly Pick<HealthCheck, 'name' | 'condition'>[]
  /** Where the services of the first thread are called. */
  readonly first: MessagePort
  /** Where the first thread calls this one. */
  readonly own: MessagePort
}

/**
 * Sockets of each thread at the port. The kernel gives every socket as many connections; the first thread, which also holds the objects,
 * takes two for each three of another one.
 */
export const portSockets = { first: 2, further: 3 } as const
