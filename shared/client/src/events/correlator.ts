import { RecentMap } from '@orch/core/memo'

/** The object that an event is about. */
export interface ObjectReference {
  readonly apiVersion: string
  readonly kind: string
  /** Undefined at cluster scope. */
  readonly namespace?: string | undefined
  readonly name: string
  /** The uid. Default: the name identifies the object. */
  readonly uid?: string | undefined
  readonly resourceVersion?: string | undefined
  /** The part of the object, such as `spec.containers{web}`. Default: the whole object. */
  readonly fieldPath?: string | undefined
}

/** The contents of an event. */
export interface EventDraft {
  readonly type: 'Normal' | 'Warning'
  /** UpperCamelCase. */
  readonly reason: string
  readonly message: string
}

/** A reported event, before the correlator combines equal and similar events. */
export interface ReportedEvent extends EventDraft {
  /** The name for the Event object. */
  readonly name: string
  readonly about: ObjectReference
}

/** The one write for a reported event. `patch` raises the count of an event that was written earlier. Times are milliseconds since 1970. */
export type Correlated =
  | { readonly kind: 'skipped' }
  | { readonly kind: 'create' | 'patch'; readonly event: ReportedEvent; readonly count: number; readonly firstMs: number }

/** Bounds as in client-go. */
const similarMax = 10
const similarMs = 600_000
const burst = 25
const refillMs = 300_000
/** Maximum number of entries per cache; the least recently used entry is dropped first. */
const cachedMax = 4096

const combinedPrefix = '(combined from similar events): '

/**
 * Limits repeated events by the rules of client-go. An equal event raises the count of the first. From the tenth event on that differs only
 * in its message, with pauses of at most ten minutes, events are combined into one. One object gets 25 events of one type
 * at once and then one every five minutes; further events are dropped. All events have the same source.
 *
 *   a, a, b                      create a, patch a (count 2), create b
 *   m1, m2 … m9, m10, m11        nine creates, create "(combined from similar events): m10", patch it (count 2, message of m11)
 */
export class EventCorrelator {
  readonly #similar = new RecentMap<{ readonly messages: string[]; lastMs: number }>(cachedMax)
  readonly #written = new RecentMap<{ readonly name: string; readonly firstMs: number; count: number }>(cachedMax)
  readonly #tokens = new RecentMap<{ left: number; atMs: number }>(cachedMax)

  correlate(reported: ReportedEvent, nowMs: number): Correlated {
    const place = placeOf(reported)
    const { event, key } = this.#combineSimilar(reported, place, nowMs)
    const before = this.#written.get(key)
    const written = { name: before?.name ?? event.name, firstMs: before?.firstMs ?? nowMs, count: (before?.count ?? 0) + 1 }
    this.#written.set(key, written)
    if (!this.#takeToken(place, nowMs)) return { kind: 'skipped' }
    const { name, firstMs, count } = written
    return { kind: count > 1 ? 'patch' : 'create', event: { ...event, name }, count, firstMs }
  }

  #combineSimilar(event: ReportedEvent, place: string, nowMs: number): { readonly event: ReportedEvent; readonly key: string } {
    const similarKey = `${place}\n${event.reason}`
    const known = this.#similar.get(similarKey)
    const similar = known === undefined || nowMs - known.lastMs > similarMs ? { messages: [], lastMs: nowMs } : known
    if (!similar.messages.includes(event.message)) similar.messages.push(event.message)
    similar.lastMs = nowMs
    this.#similar.set(similarKey, similar)
    if (similar.messages.length < similarMax) return { event, key: `${similarKey}\n${event.message}` }
    similar.messages.shift()
    return { event: { ...event, message: combinedPrefix + event.message }, key: similarKey }
  }

  #takeToken(place: string, nowMs: number): boolean {
    const known = this.#tokens.get(place)
    const left = known === undefined ? burst : Math.min(burst, known.left + (nowMs - known.atMs) / refillMs)
    const isAllowed = left >= 1
    this.#tokens.set(place, { left: isAllowed ? left - 1 : left, atMs: nowMs })
    return isAllowed
  }
}

/** The object and the type of an event. A uid, which no other object of the kind has, keeps the text short. */
function placeOf({ about: { apiVersion, kind, namespace, name, uid, fieldPath }, type }: ReportedEvent): string {
  return JSON.stringify(uid ? [kind, uid, fieldPath, type] : [apiVersion, kind, namespace, name, fieldPath, type])
}
