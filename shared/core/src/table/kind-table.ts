import type { Cell, ReadCells } from './cell.ts'
import type { RowCondition } from './cells/pod.ts'

export interface KindTable {
  /** A name alone is a column of texts. */
  readonly columns: readonly (string | Column)[]
  /** The cells of an object, in the order of all levels' columns. */
  readonly cells: ReadCells
  readonly conditions?: (object: Readonly<Record<string, unknown>>) => readonly RowCondition[]
  /** Compares rows of a list by their cells. Default: the order of names. */
  readonly order?: (left: readonly Cell[], right: readonly Cell[]) => number
}

/** A column of a table. */
export interface Column {
  readonly name: string
  /** Default: `string`. */
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  /** Default: `name` for the column Name, and none for others. */
  readonly format?: string
  /** Above 0 for columns of the wide view only. */
  readonly priority?: number
  /** The first and the last level that have it, by minor version. */
  readonly since?: number
  readonly until?: number
  /** Default: the common description of columns with this name. */
  readonly description?: string
}

/** Columns of the wide view. */
export const wide = (...names: readonly string[]): Column[] => names.map((name) => ({ name, priority: 1 }))

/** Columns of numbers. */
export const integers = (...names: readonly string[]): Column[] => names.map((name) => ({ name, type: 'integer' }))
