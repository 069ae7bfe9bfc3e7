import { randomUUID } from 'node:crypto'
import { type ApiObject, generateName, type ObjectMeta, parseRevision, printTime, toInstant } from '@orch/core'
import type { GatewayParts } from '../parts.ts'
import type { Served } from '../served.ts'

/** What the server alone says about a new object, but for a name that it makes up: that is for `giveName`. */
export function fillMetadata(object: ApiObject, { strategy }: Served, { clock }: GatewayParts): void {
  const {
    selfLink: _selfLink,
    deletionTimestamp: _deleted,
    deletionGracePeriodSeconds: _grace,
    generation: _generation,
    resourceVersion: _version,
    ...given
  } = object.metadata
  const metadata: ObjectMeta = { ...given, uid: randomUUID(), creationTimestamp: printTime(toInstant(clock.now())) }
  if (strategy.countsGenerations) metadata.generation = 1
  object.metadata = metadata
}

/** Makes up the name of an object that has none and wants one; says whether it did. Mutating admission does not know the name yet. */
export function giveName({ metadata }: ApiObject, { random }: GatewayParts): boolean {
  if (metadata.name || !metadata.generateName) return false
  metadata.name = generateName(metadata.generateName, random)
  return true
}

/** Whether the writer of an object says which state of it is meant. Version 0 says nothing. */
export function namesVersion({ metadata: { resourceVersion } }: ApiObject): boolean {
  return resourceVersion !== undefined && resourceVersion !== '' && parseRevision(resourceVersion) !== 0
}

/** Whether two states of an object differ in what the generation counts: everything but metadata and status. */
export function differsInSubstance(object: ApiObject, live: ApiObject): boolean {
  return print(object) !== print(live)
}

function print({ metadata: _metadata, status: _status, ...rest }: ApiObject): string {
  return JSON.stringify(rest, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))
}
