import type { Entry } from '../contracts/storage.ts'
import { parseBytes } from '../json/text.ts'
import { encodeObject, encodeStored, schemaFingerprint } from '../stored/index.ts'
import type { DefinitionNames } from './definition-spec.ts'

/** Storage prefixes of rows about definitions; they are not served. */
export const namesPrefix = 'definitions/names'
const servingPrefix = 'definitions/serving'

export function namesKey(group: string): string {
  return `${namesPrefix}/${group}`
}

/** The key of a definition's serving row. */
export function servingKey(definition: string): string {
  return `${servingPrefix}/${definition}`
}

/**
 * The names of all definitions of a group. They are in a single row, and every write that takes a name is conditional on it,
 * so that two definitions cannot have the same name.
 */
export interface NamesRow {
  readonly definitions: Readonly<Record<string, HeldNames>>
}

/** The names that are reserved for a definition. */
interface HeldNames {
  readonly uid: string
  readonly names: DefinitionNames
  /** The previous names, until the write is known to have happened. */
  readonly former?: DefinitionNames
  /** The id of a write of the definition, until its outcome is known; undefined if the row equals the definition. */
  readonly pending?: string
}

/** The bytes of a row. */
export function encodeNamesRow(group: string, row: NamesRow, writeId: string): Uint8Array {
  return encodeRow({ kind: 'DefinitionNames', metadata: { name: group }, ...row }, writeId)
}

/** The stored row; an absent row means no names. */
export function decodeNamesRow(entry: Pick<Entry, 'value'> | undefined): NamesRow {
  if (entry === undefined) return { definitions: {} }
  const { definitions }: NamesRow = parseBytes(entry.value)
  return { definitions }
}

/**
 * The precondition for writes of custom resources. It changes with each change of the definition after which existing objects could be
 * lost or left over, and with no other change. Creating an object is conditional on its revision.
 */
export interface ServingRow {
  /** The uid of the definition, which differs for a later definition of the same name. */
  readonly uid: string
  readonly storageVersion: string
  readonly scope: string
  /** True if the definition is being deleted, so that no object may be created. */
  readonly isTerminating: boolean
}

/** The bytes of a row. */
export function encodeServingRow(definition: string, row: ServingRow, writeId: string): Uint8Array {
  return encodeRow({ kind: 'DefinitionServing', metadata: { name: definition }, ...row }, writeId)
}

/** The stored row; undefined if absent. */
export function decodeServingRow(entry: Pick<Entry, 'value'> | undefined): ServingRow | undefined {
  if (entry === undefined) return undefined
  const { uid, storageVersion, scope, isTerminating }: ServingRow = parseBytes(entry.value)
  return { uid, storageVersion, scope, isTerminating }
}

function encodeRow(row: Readonly<Record<string, unknown>>, writeId: string): Uint8Array {
  return encodeStored({ fingerprint: schemaFingerprint, writeId, expiresAtMs: 0, encoded: encodeObject(row), labels: {}, fields: {} })
}
