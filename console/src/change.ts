import type { TimelineEntry } from '@orch/core/contracts'

/** A change in the format of the server's timeline. */
export interface Change
  extends Pick<TimelineEntry, 'time' | 'event' | 'kind' | 'resource' | 'namespace' | 'name'>,
    Partial<Pick<TimelineEntry, 'uid' | 'managers' | 'user' | 'request' | 'changed'>> {
  readonly revision: string
  readonly before?: unknown
  readonly after?: unknown
}
