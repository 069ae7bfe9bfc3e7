import { randomUUID } from 'node:crypto'
import { type ApiObject, generateName, type ObjectMeta } from '@orch/core'
import type { GatewayParts } from '../parts.ts'
import type { Served } from '../served.ts'

/** Whole seconds in UTC: `2006-01-02T15:04:05Z`. */
export function printTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}

/** What the server alone says about a new object. */
export function fillMetadata(object: ApiObject, { strategy }: Served, { clock, random }: GatewayParts): void {
  const {
    selfLink: _selfLink,
    managedFields: _managed,
    deletionTimestamp: _deleted,
    deletionGracePeriodSeconds: _grace,
    generation: _generation,
    resourceVersion: _version,
    ...given
  } = object.metadata
  const metadata: ObjectMeta = { ...given, uid: randomUUID(), creationTimestamp: printTime(clock.now()) }
  if (!metadata.name && metadata.generateName) metadata.name = generateName(metadata.generateName, random)
  if (strategy.countsGenerations) metadata.generation = 1
  object.metadata = metadata
}

/** Whether two states of an object differ in what the generation counts: everything but metadata and status. */
export function differsInSubstance(object: ApiObject, live: ApiObject): boolean {
  return print(object) !== print(live)
}

function print({ metadata: _metadata, status: _status, ...rest }: ApiObject): string {
  return JSON.stringify(rest, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))
}
