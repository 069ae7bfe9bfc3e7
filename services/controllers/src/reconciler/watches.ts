import type { InformerEvent, ResourceAddress } from '@orch/client'
import { type ApiObject, parseApiVersion } from '@orch/core/meta'
import type { Selection } from '../informers/collection-informer.ts'
import type { Reader } from '../informers/shared-informers.ts'

/** Options that narrow a watch. */
type WatchOptions<T extends ApiObject> = Omit<Selection<T>, 'resource'>

/** The caches of one reconciler's watches. */
export interface Caches {
  read<T extends ApiObject>(watch: Watched<T>): Reader<T>
}

/** A watch as a handle: `world.read(pods)` reads its cache. */
export interface Watched<T extends ApiObject> extends Selection<T> {
  readonly kind: 'own' | 'ownedBy' | 'mapped'
}

/** The objects that a reconciler reconciles; their keys are its keys. */
export interface Own<T extends ApiObject> extends Watched<T> {
  readonly kind: 'own'
  /** False for events that need no pass. */
  isDue(event: InformerEvent<T>): boolean
  /** Pause between the event and the pass. */
  delayMs(event: InformerEvent<T>): number
}

/** Objects whose controller reference leads to an object of the own collection. */
export interface OwnedBy<T extends ApiObject> extends Watched<T> {
  readonly kind: 'ownedBy'
  readonly isLazy: boolean
  /** Pause between an event and the pass. */
  readonly delayMs: number
}

/** Objects whose events lead to keys by a function. */
export interface Mapped<T extends ApiObject> extends Watched<T> {
  readonly kind: 'mapped'
  readonly isLazy: boolean
  /** Pause between an event and the pass. */
  readonly delayMs: number
  toKeys(event: InformerEvent<T>, caches: Caches): Iterable<string>
}

interface OwnOptions<T extends ApiObject> extends WatchOptions<T> {
  readonly isDue?: (event: InformerEvent<T>) => boolean
  readonly delayMs?: (event: InformerEvent<T>) => number
}

interface RelatedOptions<T extends ApiObject> extends WatchOptions<T> {
  /** Begin the watch with the first own object that is due: a server without such objects does not pay for it. */
  readonly isLazy?: boolean
  /** Pause between an event and the pass, in which further events are gathered. Absent: none. */
  readonly delayMs?: number
}

/** Watches the objects to reconcile: `own('apps/v1', 'replicasets')`. Each event wakes the object's key. */
export function own<T extends ApiObject>(groupVersion: string, plural: string, options: OwnOptions<T> = {}): Own<T> {
  const { isDue = () => true, delayMs = () => 0, ...rest } = options
  return { kind: 'own', resource: addressOf(groupVersion, plural), ...rest, isDue, delayMs }
}

/** Watches the objects that the own ones control: `ownedBy('v1', 'pods')`. Each event wakes the owner, and both if the owner changes. */
export function ownedBy<T extends ApiObject>(groupVersion: string, plural: string, options: RelatedOptions<T> = {}): OwnedBy<T> {
  const { isLazy = false, delayMs = 0, ...rest } = options
  return { kind: 'ownedBy', resource: addressOf(groupVersion, plural), ...rest, isLazy, delayMs }
}

/** Watches objects that decisions rest on; `toKeys` gives the keys that an event wakes. */
export function mapped<T extends ApiObject>(
  groupVersion: string,
  plural: string,
  toKeys: Mapped<T>['toKeys'],
  options: RelatedOptions<T> = {},
): Mapped<T> {
  const { isLazy = false, delayMs = 0, ...rest } = options
  return { kind: 'mapped', resource: addressOf(groupVersion, plural), ...rest, isLazy, delayMs, toKeys }
}

/** Paths need no scope: objects at cluster scope have no namespace. */
function addressOf(groupVersion: string, plural: string): ResourceAddress {
  const parsed = parseApiVersion(groupVersion)
  if (parsed === undefined) throw new Error(`${groupVersion} is no group version`)
  return { ...parsed, plural, namespaced: true }
}
