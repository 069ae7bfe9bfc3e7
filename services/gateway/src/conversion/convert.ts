import { convert, type Resource } from '@orch/core/catalogue'
import type { Entry } from '@orch/core/contracts'
import { decodeJsonInSteps, decodeOwnJson, printJson } from '@orch/core/json'
import type { ApiObject } from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import type { Steps } from '@orch/core/steps'
import type { Served } from '../target/target.ts'

/** The dependencies of conversion between versions. */
export interface ConversionParts {
  readonly names: Names
}

/** An object decoded from stored bytes. */
export interface ReadObject {
  readonly object: ApiObject
  readonly hasBigIntegers: boolean
}

/** The bytes of an object in the stored version, or in an earlier one. */
export interface StoredBytes {
  readonly value: Uint8Array
  /** The fingerprint of the schema that the object was written under; by default that of the current schema. */
  readonly fingerprint?: number | undefined
}

/** True if stored bytes are the answer. */
export function isCurrent({ resource, isStoredVersion }: Served, stored: Pick<StoredBytes, 'fingerprint'>): boolean {
  return isStoredVersion && isOfPresentSchema(resource, stored)
}

function isOfPresentSchema({ stored: { readers } }: Resource, { fingerprint }: Pick<StoredBytes, 'fingerprint'>): boolean {
  return fingerprint === undefined || readers.fingerprint === undefined || fingerprint === readers.fingerprint
}

/** True if a stored object may need a conversion before it is shown in this version. */
export function needsWebhook(served: Served, stored: Pick<StoredBytes, 'fingerprint'>): boolean {
  return served.resource.conversion !== undefined && !isCurrent(served, stored)
}

/** Bytes of the stored version in the requested version. */
export function toServedBytes(parts: ConversionParts, served: Served, stored: StoredBytes): Uint8Array {
  if (isCurrent(served, stored)) return stored.value
  const { object, hasBigIntegers } = readBytesOfOurs(stored.value)
  return Buffer.from(printJson(toServedObject(parts, served, object, stored), { hasBigIntegers }))
}

/** Bytes of the stored version, decoded by its current schema; those that only a webhook could convert stay unchanged. */
export function toCurrentBytes({ names }: ConversionParts, { resource }: Served, stored: StoredBytes): Uint8Array {
  if (isOfPresentSchema(resource, stored) || resource.conversion !== undefined) return stored.value
  const { object, hasBigIntegers } = readBytesOfOurs(stored.value)
  const { stored: version } = resource
  const current = version.readers.prune(convert(asStored(resource, object), { names, from: version, to: version }))
  return Buffer.from(printJson(current, { hasBigIntegers }))
}

/**
 * A stored object in the requested version. As in kube-apiserver the stored version sets the defaults, and the requested one drops the fields that it
 * lacks: its own defaults are for new writes.
 */
export function toServedObject(
  { names }: ConversionParts,
  served: Served,
  object: ApiObject,
  stored: Pick<StoredBytes, 'fingerprint'> = present,
): ApiObject {
  if (isCurrent(served, stored)) return object
  const { resource } = served
  refuseByName(resource)
  const kept = isOfPresentSchema(resource, stored) ? object : asStored(resource, object)
  return resource.readers.prune(convert(kept, { names, from: resource.stored, to: resource }))
}

/** A stored object decoded by the current schema of its version. */
export function asStored({ stored, readersOf }: Resource, object: ApiObject): ApiObject {
  const readers = object.apiVersion === stored.apiVersion ? stored.readers : (readersOf?.(object.apiVersion) ?? stored.readers)
  return readers.renew(object)
}

const present: Pick<StoredBytes, 'fingerprint'> = {}

/** An object of the requested version in the stored one. */
export function toStoredObject({ names }: ConversionParts, { resource, isStoredVersion }: Served, object: ApiObject): ApiObject {
  if (isStoredVersion) return object
  refuseByName(resource)
  const { stored } = resource
  return stored.readers.renew(convert(object, { names, from: resource, to: stored }))
}

/** Refuses another version's name for objects that a webhook converts. */
function refuseByName({ conversion, apiVersion }: Resource): void {
  if (conversion !== undefined) throw new Error(`${apiVersion}: the webhook of ${conversion.definition} has not been asked`)
}

export function readBytesOfOurs(bytes: Uint8Array): ReadObject {
  const { value, hasBigIntegers } = decodeOwnJson(bytes)
  return { object: value as ApiObject, hasBigIntegers }
}

/** Like `readBytesOfOurs`, for large objects. */
export function* readBytesOfOursInSteps(bytes: Uint8Array): Steps<ReadObject> {
  const decoded = yield* decodeJsonInSteps(bytes)
  if (decoded.kind === 'malformed') throw new Error(`a stored object is not JSON: ${decoded.message}`)
  return { object: decoded.value as ApiObject, hasBigIntegers: decoded.hasBigIntegers }
}

/** An object of the stored version: an entry of storage, or a newly written one that is not cached. */
export type StoredContent = Pick<Entry, 'value'> & Partial<Entry>
