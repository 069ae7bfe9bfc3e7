import type { ApiObject, CallContext, Entry, Freshness } from '@orch/core'
import { readBytesOfOurs, readBytesOfOursInSteps, toServedObject } from '../convert.ts'
import { limits } from '../limits.ts'
import type { GatewayParts } from '../parts.ts'
import type { Served } from '../served.ts'

/** The object as it is before a write, in the version of the request. It is never changed. */
export interface Live {
  readonly object: ApiObject
  readonly hasBigIntegers: boolean
  readonly entry: Entry
}

/** Reads the object that a write starts from; undefined: there is none. */
export async function readLive(
  key: string,
  served: Served,
  parts: GatewayParts,
  { read, ...context }: { read: Freshness } & CallContext,
): Promise<Live | undefined> {
  const { entry } = await parts.storage.get({ key, read }, context)
  return entry === undefined ? undefined : toLive(entry, served, parts)
}

async function toLive(entry: Entry, served: Served, parts: GatewayParts): Promise<Live> {
  const isLarge = entry.value.length >= limits.largeBytesMin
  const { object, hasBigIntegers } = isLarge ? await parts.pace.run(readBytesOfOursInSteps(entry.value)) : readBytesOfOurs(entry.value)
  return { object: toServedObject(parts, served, object), hasBigIntegers, entry }
}
