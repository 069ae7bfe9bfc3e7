import { ask } from './api.ts'

/** A change, as the timeline of the server has it. */
export interface Change {
  readonly revision: string
  readonly time?: string
  readonly event: 'created' | 'modified' | 'deleted'
  readonly kind: string
  readonly resource: string
  readonly namespace?: string
  readonly name: string
  readonly uid?: string
  readonly managers?: readonly string[]
  readonly user?: string
  readonly request?: string
  readonly changed?: readonly string[]
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
