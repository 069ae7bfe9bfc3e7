import { isJsonObject } from '../json/member.ts'
import type { ApiObject } from '../meta/object-meta.ts'
import { domainLabel, type Names } from '../names.ts'

/** The name of the ConfigMap whose key `since` has the day from which on the use of tokens in Secrets is noted. */
export const trackingMapName = 'kube-apiserver-legacy-service-account-token-tracking'

const dayMs = 24 * 60 * 60 * 1000

/** The label with the day on which a token of a Secret was last used. */
export function lastUsedLabel(names: Names): string {
  return domainLabel(names, 'legacy-token-last-used')
}

/** The label of a Secret with the first day on which its token is refused. */
export function invalidSinceLabel(names: Names): string {
  return domainLabel(names, 'legacy-token-invalid-since')
}

/** Prints the day of a time, in UTC: `2026-11-29`. */
function printDay(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10)
}

/** The first moment of a day; undefined for other texts. */
function parseDay(text: unknown): number | undefined {
  if (typeof text !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(text)) return undefined
  const timeMs = Date.parse(text)
  return !Number.isNaN(timeMs) && printDay(timeMs) === text ? timeMs : undefined
}

/** The day that the use of a token has to be noted with; undefined: the Secret has it already. Clocks of servers differ around midnight. */
export function usedDay({ metadata }: ApiObject, names: Names, nowMs: number): string | undefined {
  const known = metadata.labels?.[lastUsedLabel(names)]
  const today = printDay(nowMs)
  return known === today || known === printDay(nowMs + dayMs) ? undefined : today
}

/** The next step for the Secret of an unused token. */
export type UnusedTokenStep =
  /** Nothing until this time. */
  | { readonly kind: 'wait'; readonly untilMs: number }
  /** The token is not used any more, unless a Pod mounts the Secret: it is marked as invalid, then deleted. */
  | { readonly kind: 'mark'; readonly day: string }
  | { readonly kind: 'delete' }

/** The times that decide about an unused token. */
export interface UnusedTokenTimes {
  readonly nowMs: number
  /** The time without use after which a token is invalid, and after which an invalid one is deleted. */
  readonly periodMs: number
}

/**
 * Decides about the Secret of a token that no Pod mounts. With a period of 365 days:
 *
 *   created 2025-01-05, last used 2025-03-01   2026-03-01 → wait   2026-03-02 → mark   invalid since 2026-03-02   2027-03-03 → delete
 */
export function decideUnusedToken({ metadata }: ApiObject, names: Names, { nowMs, periodMs }: UnusedTokenTimes): UnusedTokenStep {
  const { labels = {}, creationTimestamp, deletionTimestamp } = metadata
  const never = { kind: 'wait', untilMs: Number.POSITIVE_INFINITY } as const
  if (deletionTimestamp != null) return never
  const lastUsed = labels[lastUsedLabel(names)]
  const usedMs = lastUsed === undefined ? 0 : parseDay(lastUsed)
  // The last use is not known.
  if (usedMs === undefined) return never
  const keptUntilMs = Math.max(Date.parse(String(creationTimestamp)) + 1, usedMs + dayMs) + periodMs
  if (nowMs < keptUntilMs) return { kind: 'wait', untilMs: keptUntilMs }
  const invalidMs = parseDay(labels[invalidSinceLabel(names)])
  if (invalidMs === undefined) return { kind: 'mark', day: printDay(nowMs) }
  const heldUntilMs = invalidMs + dayMs + periodMs
  return nowMs < heldUntilMs ? { kind: 'wait', untilMs: heldUntilMs } : { kind: 'delete' }
}

/** The time from which a token without a noted use counts as unused, by the ConfigMap; undefined if the ConfigMap has no valid day. */
export function trackedFromMs(map: ApiObject, periodMs: number): number | undefined {
  const sinceMs = parseDay(sinceOf(map))
  return sinceMs === undefined ? undefined : sinceMs + dayMs + periodMs
}

function sinceOf({ data }: ApiObject): unknown {
  return isJsonObject(data) ? data['since'] : undefined
}

/** The ConfigMap with the day of a time; undefined: it has a day already. */
export function withTrackingDay(map: ApiObject, nowMs: number): ApiObject | undefined {
  if (parseDay(sinceOf(map)) !== undefined) return undefined
  return { ...map, data: { ...(isJsonObject(map['data']) ? map['data'] : {}), since: printDay(nowMs) } }
}

/**
 * True if a Pod may use a Secret: its specification has the name as a value. There are two dozen places for names of Secrets; a token
 * that is kept for another use of the name does no harm.
 */
export function mayUseSecret({ spec }: ApiObject, name: string): boolean {
  return JSON.stringify(spec ?? {}).includes(`:${JSON.stringify(name)}`)
}
