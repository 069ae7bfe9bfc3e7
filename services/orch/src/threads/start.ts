import type { MessagePort } from 'node:worker_threads'
import type { HealthCheck } from '@orch/gateway'

/** The input of a thread: plain data, and the ends of its links. */
export interface ThreadStart {
  /** All settings that were given, as flags. */
  readonly flags: readonly string[]
  /** The values of all settings, which `/flagz` shows. */
  readonly shownFlags: ReadonlyMap<string, string>
  /** The number of the thread, from 1; the first one of the process is 0. */
  readonly index: number
  readonly threads: number
  /** The port that the first thread has opened. */
  readonly port: number
  /** The key of service account tokens if the settings name none, in PEM. */
  readonly signingKey: string
  /** Marks of objects, by which a thread knows that one it has read is the present one; absent: it asks each time. */
  readonly marks: SharedArrayBuffer | undefined
  /** Counts how often the first thread has forgotten all tokens. */
  readonly forgottenTokens: SharedArrayBuffer
  /** The first thread's checks for `/readyz`. */
  readonly checks: readonly Pick<HealthCheck, 'name' | 'condition'>[]
  /** The port to the services of the first thread. */
  readonly first: MessagePort
  /** The port for the first thread's calls to this one. */
  readonly own: MessagePort
}

/**
 * Sockets of each thread at the port. The kernel gives every socket as many connections; the first thread, which also holds the objects,
 * takes two for each three of another one.
 */
export const portSockets = { first: 2, further: 3 } as const
