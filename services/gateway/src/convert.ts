import { convert } from '@orch/core/catalogue'
import { decodeJsonInSteps, printJson } from '@orch/core/json'
import type { ApiObject } from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import { runAtOnce, type Steps } from '@orch/core/steps'
import type { Served } from './served.ts'

/** What conversion between versions needs. */
export interface ConversionParts {
  readonly names: Names
}

/** An object that has been read from bytes of ours. */
export interface ReadObject {
  readonly object: ApiObject
  readonly hasBigIntegers: boolean
}

/** Bytes of the stored version as the asked version shows them. */
export function toServedBytes(parts: ConversionParts, served: Served, stored: Uint8Array): Uint8Array {
  if (served.isStoredVersion) return stored
  const { object, hasBigIntegers } = readBytesOfOurs(stored)
  return Buffer.from(printJson(toServedObject(parts, served, object), { hasBigIntegers }))
}

/** An object of the stored version in the asked one. */
export function toServedObject({ names }: ConversionParts, { resource, isStoredVersion }: Served, object: ApiObject): ApiObject {
  return isStoredVersion ? object : resource.readers.renew(convert(object, { names, from: resource.stored, to: resource }))
}

/** An object of the asked version in the stored one. */
export function toStoredObject({ names }: ConversionParts, { resource, isStoredVersion }: Served, object: ApiObject): ApiObject {
  const { stored } = resource
  return isStoredVersion ? object : stored.readers.renew(convert(object, { names, from: resource, to: stored }))
}

export function readBytesOfOurs(bytes: Uint8Array): ReadObject {
  return runAtOnce(readBytesOfOursInSteps(bytes))
}

/** As `readBytesOfOurs`, for large objects. */
export function* readBytesOfOursInSteps(bytes: Uint8Array): Steps<ReadObject> {
  const decoded = yield* decodeJsonInSteps(bytes)
  if (decoded.kind === 'malformed') throw new Error(`a stored object is not JSON: ${decoded.message}`)
  return { object: decoded.value as ApiObject, hasBigIntegers: decoded.hasBigIntegers }
}
