import { type Entry, listEntries, type StorageService } from '@orch/core/contracts'
import {
  decodeNamesRow,
  decodeServingRow,
  encodeNamesRow,
  encodeServingRow,
  type NamesRow,
  namesKey,
  namesPrefix,
  type ServingRow,
  servingKey,
} from '@orch/core/definitions'
import type { Draws } from '../request/draws.ts'
import type { Condition } from '../write/draft.ts'

/** A row at its read revision; revision 0 if absent. */
export interface Found<T> {
  readonly row: T
  readonly revision: number
}

/** The rows for definitions in storage. */
export class DefinitionRows {
  readonly #storage: StorageService
  readonly #writeId: Draws['writeId']

  constructor(storage: StorageService, writeId: Draws['writeId']) {
    this.#storage = storage
    this.#writeId = writeId
  }

  async names(group: string): Promise<Found<NamesRow>> {
    const entry = await this.#get(namesKey(group))
    return { row: decodeNamesRow(entry), revision: entry?.revision ?? 0 }
  }

  async serving(definition: string): Promise<Found<ServingRow | undefined>> {
    const entry = await this.#get(servingKey(definition))
    return { row: decodeServingRow(entry), revision: entry?.revision ?? 0 }
  }

  /** Replaces the names of a group; undefined if another write was faster. A group without definitions has no row. */
  async writeNames(group: string, row: NamesRow, expected: number, conditions: readonly Condition[] = []): Promise<Condition | undefined> {
    const isEmpty = Object.keys(row.definitions).length === 0
    const encode = isEmpty ? undefined : (writeId: string) => encodeNamesRow(group, row, writeId)
    return this.#commit({ key: namesKey(group), expected, conditions, encode })
  }

  /** Replaces the serving state of a definition; undefined if another write was faster. */
  async writeServing(
    definition: string,
    row: ServingRow | undefined,
    expected: number,
    conditions: readonly Condition[] = [],
  ): Promise<Condition | undefined> {
    const encode = row === undefined ? undefined : (writeId: string) => encodeServingRow(definition, row, writeId)
    return this.#commit({ key: servingKey(definition), expected, conditions, encode })
  }

  /** The names of all groups in which a write may be in progress. */
  async pendingNames(): Promise<(Found<NamesRow> & { readonly group: string })[]> {
    const entries: Entry[] = []
    for await (const page of listEntries(this.#storage, { resource: namesPrefix })) entries.push(...page.filter(mayBePending))
    return entries.map((entry) => ({
      group: entry.key.slice(namesPrefix.length + 1),
      row: decodeNamesRow(entry),
      revision: entry.revision,
    }))
  }

  async #get(key: string): Promise<Entry | undefined> {
    return (await this.#storage.get({ key, read: { kind: 'latest' } })).entry
  }

  async #commit({ key, expected, conditions, encode }: RowWrite): Promise<Condition | undefined> {
    const writeId = this.#writeId()
    const value = encode?.(writeId)
    const outcome = await this.#storage.commit({
      key,
      expected,
      conditions: [...conditions],
      writeId,
      ...(value !== undefined && { value }),
    })
    if (outcome.kind !== 'written') return undefined
    return { key, revision: value === undefined ? 0 : outcome.revision }
  }
}

/** False if no write of a definition of the group is in progress. Searched in the bytes, as a sweep checks thousands of rows. */
export function mayBePending({ value: { buffer, byteOffset, length } }: Pick<Entry, 'value'>): boolean {
  return Buffer.from(buffer, byteOffset, length).includes(pendingMember)
}

const pendingMember = Buffer.from('"pending":')

interface RowWrite {
  readonly key: string
  readonly expected: number
  readonly conditions: readonly Condition[]
  /** Undefined if the row is removed. */
  readonly encode: ((writeId: string) => Uint8Array) | undefined
}
