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
  /** False for events without a pass. */
  isDue(event: InformerEvent<T>): boolean
  /** Delay between the event and the pass. */
  delayMs(event: InformerEvent<T>): number
}

/** Objects whose controller is in the own collection. */
export interface OwnedBy<T extends ApiObject> extends Watched<T> {
  readonly kind: 'ownedBy'
  readonly isLazy: boolean
  /** Delay between the event and the pass. */
  delayMs(event: InformerEvent<T>): number
}

/** Objects whose events are mapped to keys by a function. */
export interface Mapped<T extends ApiObject> extends Watched<T> {
  readonly kind: 'mapped'
  readonly isLazy: boolean
  /** Delay between an event and the pass. */
  readonly delayMs: number
  toKeys(event: InformerEvent<T>, caches: Caches): Iterable<string>
}

interface OwnOptions<T extends ApiObject> extends WatchOptions<T> {
  readonly isDue?: (event: InformerEvent<T>) => boolean
  readonly delayMs?: (event: InformerEvent<T>) => number
}

interface RelatedOptions<T extends ApiObject> extends WatchOptions<T> {
  /** True to start the watch with the first own object, so that a server without such objects has no cost. */
  readonly isLazy?: boolean
  /** Delay between the event and the pass, which collects further events; none by default. */
  readonly delayMs?: number
}

/** Watches the objects to reconcile: `own('apps/v1', 'replicasets')`. Each event enqueues the object's key. */
export function own<T extends ApiObject>(groupVersion: string, plural: string, options: OwnOptions<T> = {}): Own<T> {
  const { isDue = () => true, delayMs = () => 0, ...rest } = options
  return { kind: 'own', resource: addressOf(groupVersion, plural), ...rest, isDue, delayMs }
}

/** Watches the objects that own objects control: `ownedBy('v1', 'pods')`. Each event enqueues the owner, and both if the owner changes. */
export function ownedBy<T extends ApiObject>(
  groupVersion: string,
  plural: string,
  options: WatchOptions<T> & Partial<Pick<OwnedBy<T>, 'isLazy' | 'delayMs'>> = {},
): OwnedBy<T> {
  const { isLazy = false, delayMs = () => 0, ...rest } = options
  return { kind: 'ownedBy', resource: addressOf(groupVersion, plural), ...rest, isLazy, delayMs }
}

/** Watches inputs of decisions; `toKeys` returns the keys that an event enqueues. */
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
