import type { CallContext, Entry, Freshness, StorageService } from '@orch/core/contracts'
import { type ApiObject, conflict, notFound, type ResourceName } from '@orch/core/meta'
import type { Clock } from '@orch/platform'
import { readConverted, type WebhookConversionParts } from '../conversion/by-webhook.ts'
import {
  type ConversionParts,
  isCurrent,
  needsWebhook,
  readBytesOfOurs,
  readBytesOfOursInSteps,
  toServedObject,
} from '../conversion/convert.ts'
import { limits } from '../limits.ts'
import { type CallOrigin, callContext, type Pace, requestLate } from '../request/index.ts'
import type { Served, Target } from '../target/target.ts'
import type { RecentObjects } from './recent-objects.ts'

/** The dependencies of reading an object. */
export type LiveParts = ConversionParts &
  WebhookConversionParts & {
    readonly storage: Pick<StorageService, 'get'>
    readonly recent: Pick<RecentObjects, 'find'>
    readonly pace: Pace
    readonly clock: Clock
  }

/** The object before a write, in the version of the request. It is never changed. */
export interface Live {
  readonly object: ApiObject
  /** It is as its decoder reads it: an object that is read beside it may share its parts, once they are frozen. */
  readonly isAsDecoded: boolean
  readonly hasBigIntegers: boolean
  readonly entry: Entry
  /** It is to be stored again even where a write changes nothing. */
  readonly isStale?: boolean | undefined
}

/** Reads the object that a write starts from; undefined if it does not exist. */
export async function readLive(
  key: string,
  served: Served,
  parts: LiveParts,
  { read, ...context }: { read: Freshness } & CallContext,
): Promise<Live | undefined> {
  const { entry, isStale } = await parts.storage.get({ key, read }, context)
  if (entry === undefined) return undefined
  const live = await toLive(entry, served, parts, context)
  return isStale === true ? { ...live, isStale } : live
}

/** The present object at the path of a request; throws if it does not exist. */
export async function readPresent(
  request: CallOrigin,
  { keyPrefix, info, served }: Target,
  parts: LiveParts,
  missing: ResourceName = served.name,
): Promise<ApiObject> {
  const live = await readLive(`${keyPrefix}${info.name}`, served, parts, { read: { kind: 'latest' }, ...callContext(request, parts) })
  if (live === undefined) throw notFound(missing, info.name)
  return live.object
}

async function toLive(entry: Entry, served: Served, parts: LiveParts, context: CallContext): Promise<Live> {
  if (needsWebhook(served, entry)) return { ...(await readConverted(parts, served, entry, context)), isAsDecoded: false, entry }
  const isAsDecoded = isCurrent(served, entry)
  const known = isAsDecoded ? parts.recent.find(entry.key, entry.value, entry.revision) : undefined
  if (known !== undefined) return { object: known, isAsDecoded, hasBigIntegers: false, entry }
  if (entry.value.length >= limits.largeBytesMin) {
    const { object, hasBigIntegers } = await parts.pace.run(readBytesOfOursInSteps(entry.value))
    return { object: toServedObject(parts, served, object, entry), isAsDecoded: false, hasBigIntegers, entry }
  }
  const { object, hasBigIntegers } = readBytesOfOurs(entry.value)
  return { object: toServedObject(parts, served, object, entry), isAsDecoded, hasBigIntegers, entry }
}

/** The object's present revision, for which the object need not be read; undefined if it was deleted. */
export async function latestRevision(key: string, request: CallOrigin, parts: LiveParts): Promise<number | undefined> {
  const { entry } = await parts.storage.get({ key, read: { kind: 'latest' } }, timelyContext(request, parts))
  return entry?.revision
}

/** As `callContext`, as long as the request has time left. */
export function timelyContext(request: CallOrigin, parts: Pick<LiveParts, 'clock'>): CallContext {
  const context = callContext(request, parts)
  if (context.timeoutMs === 0) throw requestLate()
  return context
}

/** The refusal of a write whose body has another value of a field than the stored object. */
export function mismatch(
  { name: resource }: Served,
  name: string,
  { field, given, live }: { readonly field: string; readonly given: string; readonly live: string },
): Error {
  return conflict(resource, name, `Precondition failed: ${field} in precondition: ${given}, ${field} in object meta: ${live}`)
}

/** The refusal of a write for an object of another uid. */
export function uidMismatch(served: Served, name: string, given: string, live: string): Error {
  return mismatch(served, name, { field: 'UID', given, live })
}
