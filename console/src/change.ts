import type { TimelineEntry } from '@orch/core/contracts'

/** A change, as the timeline of the server has it. */
export interface Change
  extends Pick<TimelineEntry, 'time' | 'event' | 'kind' | 'resource' | 'namespace' | 'name'>,
    Partial<Pick<TimelineEntry, 'uid' | 'managers' | 'user' | 'request' | 'changed'>> {
  readonly revision: string
  readonly before?: unknown
  readonly after?: unknown
}
