import { randomUUID } from 'node:crypto'
import {
  type ApiObject,
  foregroundFinalizer,
  generateName,
  type ObjectMeta,
  orphanFinalizer,
  parseRevision,
  printTime,
  toInstant,
} from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import type { Clock } from '@orch/platform'
import type { Served } from '../served.ts'

/** What the metadata of a new object needs. */
export interface MetadataParts {
  readonly clock: Clock
  /** Whole number from 0 to below the bound; for generated names. */
  readonly random: (bound: number) => number
}

/** Gives a new object metadata of its own, without what only the server may say of it. */
export function clearMetadata(object: ApiObject): void {
  object.metadata = newMetadata(object.metadata, undefined)
}

/**
 * Says what the server alone says about a new object, and makes up the name where one is wanted. Mutating admission comes before
 * and knows none of it, as with the real server.
 */
export function fillMetadata(object: ApiObject, { strategy }: Served, { clock, random }: MetadataParts): void {
  object.metadata = newMetadata(object.metadata, {
    random,
    generation: strategy.behaviour.countsGenerations && strategy.rules.countsOnly === undefined ? 1 : undefined,
    creationTimestamp: printTime(toInstant(clock.now())),
  })
}

interface ServersPart {
  /** For a name. */
  readonly random: MetadataParts['random']
  readonly generation: number | undefined
  readonly creationTimestamp: string
}

/** In the order of the type, so that equal objects have equal bytes; one field after the other, as what is left of an object is slow. */
function newMetadata(given: ObjectMeta, own: ServersPart | undefined): ObjectMeta {
  const metadata: ObjectMeta = {}
  if (own !== undefined && !given.name && given.generateName) metadata.name = generateName(given.generateName, own.random)
  else if (given.name !== undefined) metadata.name = given.name
  if (given.generateName !== undefined) metadata.generateName = given.generateName
  if (given.namespace !== undefined) metadata.namespace = given.namespace
  if (own !== undefined) {
    metadata.uid = randomUUID()
    if (own.generation !== undefined) metadata.generation = own.generation
    metadata.creationTimestamp = own.creationTimestamp
  }
  if (given.labels !== undefined) metadata.labels = given.labels
  if (given.annotations !== undefined) metadata.annotations = given.annotations
  if (given.ownerReferences !== undefined) metadata.ownerReferences = given.ownerReferences
  if (given.finalizers !== undefined) metadata.finalizers = given.finalizers
  if (given.managedFields !== undefined) metadata.managedFields = given.managedFields
  return metadata
}

/** Finalizers that need no domain; undefined: any may go without. One that an object has already is left to it. */
export function bareFinalizersOf({ strategy }: Served, names: Names, live?: ApiObject): readonly string[] | undefined {
  if (strategy.behaviour.takesBareFinalizers) return undefined
  return [names.namespaceFinalizer, orphanFinalizer, foregroundFinalizer, ...(live?.metadata.finalizers ?? [])]
}

/** Whether the writer of an object says which state of it is meant. Version 0 says nothing. */
export function namesVersion({ metadata: { resourceVersion } }: ApiObject): boolean {
  return resourceVersion !== undefined && resourceVersion !== '' && parseRevision(resourceVersion) !== 0
}

/**
 * Whether two states of an object differ in what the generation counts: everything but metadata and status. An empty list, which is
 * stored as null where it is printed, is not another value than null.
 */
export function differsInSubstance(object: ApiObject, live: ApiObject): boolean {
  return print(object) !== print(live)
}

function print({ metadata: _metadata, status: _status, ...rest }: ApiObject): string {
  return JSON.stringify(rest, (_key, value: unknown) => {
    if (typeof value === 'bigint') return `${value}n`
    return Array.isArray(value) && value.length === 0 ? null : value
  })
}
