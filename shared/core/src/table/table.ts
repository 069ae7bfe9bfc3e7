import { type Column, columnsOf, defaultColumns } from '../catalogue/columns.ts'
import type { ListMeta } from '../meta/object-meta.ts'
import { domainGroup, type Names } from '../names.ts'
import type { Cell, Data, ReadCells } from './cell.ts'
import { dataOf, nameOf } from './cell.ts'
import { accessCells } from './cells/access.ts'
import { clusterCells } from './cells/cluster.ts'
import { configurationCells } from './cells/configuration.ts'
import { networkCells } from './cells/network.ts'
import { podCells, podConditions, type RowCondition } from './cells/pod.ts'
import { storageCells } from './cells/storage.ts'
import { workloadCells } from './cells/workloads.ts'
import { describeColumn } from './descriptions.ts'

/** Versions in which a Table is written. They differ in their `apiVersion` only. */
export type TableVersion = 'v1' | 'v1beta1'

/** How the objects of a kind become rows. */
export interface TableForm {
  /** JSON of the column definitions, made once. */
  readonly columnsJson: string
  /** An object's row. It depends on the object alone, so it may be kept for as long as the object is what it is. */
  readonly read: (object: Data, names: Names) => TableRow
}

/** A row before it is printed. */
export interface TableRow {
  readonly cells: readonly Cell[]
  readonly conditions: readonly RowCondition[]
}

/** What a row carries of its object. `json` and `metadata` are bytes that are ready to be sent. */
export type RowObject =
  | { readonly kind: 'none' }
  | { readonly kind: 'object'; readonly json: Uint8Array }
  | { readonly kind: 'metadata'; readonly metadata: Uint8Array }

/** The values that `includeObject` may have. */
export type IncludeObject = 'None' | 'Object' | 'Metadata'

export type IncludeObjectReading =
  | { readonly kind: 'include'; readonly include: IncludeObject }
  | { readonly kind: 'malformed'; readonly message: string }

/** Reads the query parameter `includeObject`; nothing, or an empty text, means the metadata. */
export function parseIncludeObject(text: string | null | undefined): IncludeObjectReading {
  switch (text) {
    case undefined:
    case null:
    case '':
      return { kind: 'include', include: 'Metadata' }
    case 'None':
    case 'Object':
    case 'Metadata':
      return { kind: 'include', include: text }
  }
  const problem = `Invalid value: ${JSON.stringify(text)}: must be 'Metadata', 'Object', 'None', or empty`
  return { kind: 'malformed', message: `Unable to convert to Table as requested: includeObject: ${problem}` }
}

const forms = new Map<string, TableForm>()

/**
 * The table of a kind, made at the first question. Objects are read in the version in which they are stored. A kind
 * without columns of its own shows names and when the objects were created.
 */
export function tableFormOf(kind: string): TableForm {
  const known = forms.get(kind)
  if (known !== undefined) return known
  const columns = columnsOf(kind)
  const readCells = columns === defaultColumns ? defaultCells : cellsOf(kind)
  const described = columns.map((column) => ({ ...column, description: describeColumn(kind, column.name) }))
  const form = createTableForm(described, readCells, kind === 'Pod' ? podConditions : () => [])
  forms.set(kind, form)
  return form
}

/** A column as clients see it. */
export interface DescribedColumn extends Omit<Column, 'cell'> {
  readonly description: string
}

/** The table of a kind that is not built in. */
export function createTableForm(
  columns: readonly DescribedColumn[],
  readCells: ReadCells,
  readConditions: (object: Data) => readonly RowCondition[] = () => [],
): TableForm {
  const definitions = columns.map(({ name, type, format = '', description, priority = 0 }) => ({
    name,
    type,
    format,
    description,
    priority,
  }))
  return {
    columnsJson: JSON.stringify(definitions),
    read: (object, names) => ({ cells: readCells(object, names), conditions: readConditions(object) }),
  }
}

const allCells: Readonly<Record<string, ReadCells>> = {
  Pod: podCells,
  ...workloadCells,
  ...networkCells,
  ...clusterCells,
  ...accessCells,
  ...storageCells,
  ...configurationCells,
}

function cellsOf(kind: string): ReadCells {
  const readCells = allCells[kind]
  if (readCells === undefined) throw new Error(`${kind} has columns but nothing that fills them`)
  return readCells
}

/** TABLE-05. */
const defaultCells: ReadCells = (object) => {
  const createdAt = dataOf(object, 'metadata')['creationTimestamp']
  return [nameOf(object), typeof createdAt === 'string' ? createdAt : null]
}

/** What stands before the rows of a Table. */
export interface TableFront {
  readonly version: TableVersion
  /** Of the list, or of the one object: its resourceVersion. */
  readonly metadata: ListMeta
  /** Undefined for the later events of a watch, whose columns the first one has told. */
  readonly form: TableForm | undefined
}

/** A Table up to its first row. Rows follow with commas between them, then `tableBack`. */
export function printTableFront(names: Names, { version, metadata, form }: TableFront): string {
  const { resourceVersion, continue: next, remainingItemCount } = metadata
  const listMeta = JSON.stringify({ resourceVersion, continue: next || undefined, remainingItemCount })
  const typeMeta = `"kind":"Table","apiVersion":"${metaVersion(names, version)}"`
  return `{${typeMeta},"metadata":${listMeta},"columnDefinitions":${form?.columnsJson ?? 'null'},"rows":[`
}

/** The end of a Table, behind its last row. */
export const tableBack = ']}'

/** What a row is printed with beside itself. */
export interface PrintRowOptions {
  readonly version: TableVersion
  readonly nowMs: number
  readonly object: RowObject
}

/** The JSON of a row, with the object's bytes put in as they are. */
export function printTableRow(names: Names, { cells, conditions }: TableRow, { version, nowMs, object }: PrintRowOptions): Uint8Array {
  let text = ''
  for (const cell of cells) text += `${text === '' ? '' : ','}${printCell(cell, nowMs)}`
  const told = conditions.length === 0 ? '' : `,"conditions":${JSON.stringify(conditions)}`
  const front = `{"cells":[${text}]${told},"object":`
  switch (object.kind) {
    case 'none':
      return encoder.encode(`${front}null}`)
    case 'object':
      return embrace(front, object.json, '}')
    case 'metadata':
      return embrace(`${front}${partialFront(names, version)}`, object.metadata, '}}')
  }
}

/** A whole Table with its rows, for one object or one event. */
export function printTable(names: Names, front: TableFront, rows: readonly Uint8Array[]): Uint8Array {
  const start = encoder.encode(printTableFront(names, front))
  const end = encoder.encode(tableBack)
  const commas = Math.max(rows.length - 1, 0)
  const bytes = new Uint8Array(start.length + rows.reduce((sum, row) => sum + row.length, commas) + end.length)
  bytes.set(start)
  let at = start.length
  for (const [index, row] of rows.entries()) {
    if (index > 0) bytes[at++] = comma
    bytes.set(row, at)
    at += row.length
  }
  bytes.set(end, at)
  return bytes
}

const encoder = new TextEncoder()
const comma = 0x2c

function metaVersion(names: Names, version: TableVersion): string {
  return `${domainGroup(names, 'meta')}/${version}`
}

function partialFront(names: Names, version: TableVersion): string {
  return `{"kind":"PartialObjectMetadata","apiVersion":"${metaVersion(names, version)}","metadata":`
}

function printCell(cell: Cell, nowMs: number): string {
  const value = typeof cell === 'function' ? cell(nowMs) : cell
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value)
}

/** Text, bytes, and a short text behind them. */
function embrace(front: string, middle: Uint8Array, back: string): Uint8Array {
  const bytes = new Uint8Array(front.length * bytesPerUnitMax + middle.length + back.length)
  const { written } = encoder.encodeInto(front, bytes)
  bytes.set(middle, written)
  const { written: last } = encoder.encodeInto(back, bytes.subarray(written + middle.length))
  return bytes.subarray(0, written + middle.length + last)
}

/** UTF-8 of a unit of text has three bytes at most. */
const bytesPerUnitMax = 3
