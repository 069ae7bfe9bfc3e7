import type { ListMeta } from '../meta/object-meta.ts'
import { domainGroup, type Names } from '../names.ts'
import type { Cell } from './cell.ts'
import type { TablePrinter, TableRow } from './printer.ts'

/** Versions of Table, which differ only in their `apiVersion`. */
export type TableVersion = 'v1' | 'v1beta1'

/** The object in a row. `json` and `metadata` are encoded bytes. */
export type RowObject =
  | { readonly kind: 'none' }
  | { readonly kind: 'object'; readonly json: Uint8Array }
  | { readonly kind: 'metadata'; readonly metadata: Uint8Array }

/** The contents of a Table before its rows. */
export interface TableFront {
  readonly version: TableVersion
  /** The metadata of the list, or the resourceVersion of a single object. */
  readonly metadata: ListMeta
  /** Undefined for later events of a watch, since the first event contained the columns. */
  readonly printer: TablePrinter | undefined
}

/** Prints a Table up to its first row. Rows separated by commas and `tableBack` follow. */
export function printTableFront(names: Names, { version, metadata, printer }: TableFront): string {
  const { resourceVersion, continue: next, remainingItemCount, shardInfo } = metadata
  const listMeta = JSON.stringify({ resourceVersion, continue: next || undefined, remainingItemCount, shardInfo })
  const typeMeta = `"kind":"Table","apiVersion":"${metaVersion(names, version)}"`
  return `{${typeMeta},"metadata":${listMeta},"columnDefinitions":${printer?.columnsJson ?? 'null'},"rows":[`
}

/** The end of a Table after its last row. */
export const tableBack = ']}'

export interface PrintRowOptions {
  readonly version: TableVersion
  readonly nowMs: number
  readonly object: RowObject
}

/** A row in three pieces: text, the encoded object, text. */
export interface TableRowPieces {
  readonly front: string
  readonly object: Uint8Array
  readonly back: string
}

/** Prints a row as JSON, with the object's bytes unchanged. */
export function printTableRow(names: Names, row: TableRow, options: PrintRowOptions): Uint8Array {
  const { front, object, back } = tableRowPieces(names, row, options)
  return embrace(front, object, back)
}

/** Like `printTableRow`, for callers that concatenate many rows. */
export function tableRowPieces(names: Names, { cells, conditions }: TableRow, { version, nowMs, object }: PrintRowOptions): TableRowPieces {
  let text = ''
  for (const cell of cells) text += `${text === '' ? '' : ','}${printCell(cell, nowMs)}`
  const printed = conditions.length === 0 ? '' : `,"conditions":${JSON.stringify(conditions)}`
  const front = `{"cells":[${text}]${printed},"object":`
  switch (object.kind) {
    case 'none':
      return { front: `${front}null`, object: nothing, back: '}' }
    case 'object':
      return { front, object: object.json, back: '}' }
    case 'metadata':
      return { front: `${front}${partialFront(names, version)}`, object: object.metadata, back: '}}' }
  }
}

/** Prints a whole Table for one object or event. */
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
const nothing = new Uint8Array(0)
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

/** Concatenates a text, bytes, and a short text. */
function embrace(front: string, middle: Uint8Array, back: string): Uint8Array {
  const bytes = new Uint8Array(front.length * bytesPerUnitMax + middle.length + back.length)
  const { written } = encoder.encodeInto(front, bytes)
  bytes.set(middle, written)
  const { written: last } = encoder.encodeInto(back, bytes.subarray(written + middle.length))
  return bytes.subarray(0, written + middle.length + last)
}

/** A UTF-16 unit takes at most three bytes in UTF-8. */
const bytesPerUnitMax = 3
