import type { Profile } from '@orch/core/names'
import type { Clock, Log } from '@orch/platform'
import type { EtcdClient } from './client.ts'
import type { Layout } from './layout.ts'
import type { Timeline } from './timeline.ts'

/** What the parts of one store on etcd share. */
export interface EtcdContext {
  readonly client: EtcdClient
  readonly layout: Layout
  readonly profile: Profile
  readonly clock: Clock
  readonly log: Log
  /** Whether this version of etcd never loses events of a watch. */
  readonly isReliable: boolean
  /** Raised when the store is closed. */
  readonly closing: AbortSignal
  readonly timeline: Timeline
}
