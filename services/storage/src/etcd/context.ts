import type { Profile } from '@orch/core/names'
import type { Clock, Log } from '@orch/platform'
import type { EtcdClient } from './client.ts'
import type { Layout } from './layout.ts'
import type { Timeline } from './timeline.ts'

/** The state shared by the parts of one store on etcd. */
export interface EtcdContext {
  readonly client: EtcdClient
  readonly layout: Layout
  readonly profile: Profile
  readonly clock: Clock
  readonly log: Log
  /** True if this version of etcd never loses events of a watch. */
  readonly isReliable: boolean
  /** Aborts when the store is closed. */
  readonly closing: AbortSignal
  readonly timeline: Timeline
}
