import type { MessagePort } from 'node:worker_threads'
import type { HealthCheck } from '@orch/gateway'

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
