import type { Entry } from '../contracts/storage.ts'
import { encodeObject, encodeStored } from '../stored/envelope.ts'
import { schemaFingerprint } from '../stored/stored-object.ts'
import type { DefinitionNames } from './definition-spec.ts'

/** Storage prefixes of the rows of definitions; no path leads to them. */
export const namesPrefix = 'definitions/names'
const servingPrefix = 'definitions/serving'

/** The key of the names of a group. */
export function namesKey(group: string): string {
  return `${namesPrefix}/${group}`
}

/** The key of a definition's serving row. */
export function servingKey(definition: string): string {
  return `${servingPrefix}/${definition}`
}

/**
 * The names of all definitions of a group. All of them are in one row, and every write that takes a name is conditional on it,
 * so that no two definitions have the same.
 */
export interface NamesRow {
  readonly definitions: Readonly<Record<string, HeldNames>>
}

/** The names that are held for one definition. */
interface HeldNames {
  readonly uid: string
  readonly names: DefinitionNames
  /** Names that it had before, until it is known that the write has happened. */
  readonly former?: DefinitionNames
  /** Id of a write of the definition, until the write's end is known; absent: the row equals the definition. */
  readonly pending?: string
}

/** The bytes of a row. */
export function encodeNamesRow(group: string, row: NamesRow, writeId: string): Uint8Array {
  return encodeRow({ kind: 'DefinitionNames', metadata: { name: group }, ...row }, writeId)
}

/** The row that is stored; an absent one holds no names. */
export function decodeNamesRow(entry: Pick<Entry, 'value'> | undefined): NamesRow {
  if (entry === undefined) return { definitions: {} }
  const { definitions }: NamesRow = JSON.parse(decoder.decode(entry.value))
  return { definitions }
}

/**
 * The precondition of a write of a custom resource: it changes with each change of a definition by which objects written before would be
 * lost or left over, and with no other. A create of an object is conditional on its revision.
 */
export interface ServingRow {
  /** The uid of the definition: a later definition of the same name is another one. */
  readonly uid: string
  readonly storageVersion: string
  readonly scope: string
  /** The definition is being deleted: no object may be created any more. */
  readonly isTerminating: boolean
}

/** The bytes of a row. */
export function encodeServingRow(definition: string, row: ServingRow, writeId: string): Uint8Array {
  return encodeRow({ kind: 'DefinitionServing', metadata: { name: definition }, ...row }, writeId)
}

/** The row that is stored; undefined where there is none. */
export function decodeServingRow(entry: Pick<Entry, 'value'> | undefined): ServingRow | undefined {
  if (entry === undefined) return undefined
  const { uid, storageVersion, scope, isTerminating }: ServingRow = JSON.parse(decoder.decode(entry.value))
  return { uid, storageVersion, scope, isTerminating }
}

const decoder = new TextDecoder()

function encodeRow(row: Readonly<Record<string, unknown>>, writeId: string): Uint8Array {
  return encodeStored({ fingerprint: schemaFingerprint, writeId, expiresAtMs: 0, encoded: encodeObject(row), labels: {}, fields: {} })
}
