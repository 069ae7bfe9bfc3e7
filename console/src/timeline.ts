import type { TimelineEntry } from '@orch/core/contracts'
import { ask } from './api.ts'

/** A change, as the timeline of the server has it. */
export interface Change
  extends Pick<TimelineEntry, 'time' | 'event' | 'kind' | 'resource' | 'namespace' | 'name'>,
    Partial<Pick<TimelineEntry, 'uid' | 'managers' | 'user' | 'request' | 'changed'>> {
  readonly revision: string
  readonly before?: unknown
  readonly after?: unknown
}

interface TimelineAnswer {
  readonly revision: string
  readonly oldest: string
  readonly next?: string
  readonly items: readonly Change[]
}

/** Asks for changes, newest first. */
export function readTimeline(query: Readonly<Record<string, string>>): Promise<TimelineAnswer> {
  return ask(`/orch/v1/timeline?${new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''))}`)
}
