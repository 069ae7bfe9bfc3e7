import { ask } from './api.ts'
import type { Change } from './change.ts'

interface TimelineAnswer {
  readonly revision: string
  readonly oldest: string
  readonly next?: string
  readonly items: readonly Change[]
}

/** Reads changes, newest first. */
export function readTimeline(query: Readonly<Record<string, string>>): Promise<TimelineAnswer> {
  return ask(`/orch/v1/timeline?${new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''))}`)
}
