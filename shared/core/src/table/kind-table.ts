import type { Cell, ReadCells } from './cell.ts'
import type { RowCondition } from './cells/pod.ts'

/** The rows of a kind's objects. */
export interface KindTable {
  readonly columns: readonly Column[]
  /** The cells of an object, in the order of the columns of all levels. */
  readonly cells: ReadCells
  readonly conditions?: (object: Readonly<Record<string, unknown>>) => readonly RowCondition[]
  /** The order of the rows of a list, by their cells. Absent: that of the objects' names. */
  readonly order?: (left: readonly Cell[], right: readonly Cell[]) => number
}

/** A column of the table that a list is shown as. */
export interface Column {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  readonly format?: string
  /** Above 0: shown in the wide view only. */
  readonly priority?: number
  /** First level and last level that have it, by their minor numbers. */
  readonly since?: number
  readonly until?: number
  /** Absent: the description of columns of this name in all kinds. */
  readonly description?: string
}
