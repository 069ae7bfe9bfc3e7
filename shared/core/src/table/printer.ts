import { boundedMemo, memo } from '@orch/cel/memo'
import { existsAt, oldestLevel } from '../description/levels.ts'
import type { Names } from '../names.ts'
import { type Cell, createdAtOf, type Data, nameOf, type ReadCells } from './cell.ts'
import type { RowCondition } from './cells/pod.ts'
import { describeColumn } from './descriptions.ts'
import type { Column, KindTable } from './kind-table.ts'

/** The table printer of a kind. */
export interface TablePrinter {
  /** The JSON of the column definitions, printed once. */
  readonly columnsJson: string
  /** The row of an object. It depends only on the object, so it can be cached with it. */
  readonly read: (object: Data, names: Names) => TableRow
  /** Compares rows of a list by their cells; undefined for the order of names. */
  readonly order: KindTable['order']
}

/** A row before it is printed. */
export interface TableRow {
  readonly cells: readonly Cell[]
  readonly conditions: readonly RowCondition[]
}

/** The table of kinds without their own. */
const defaultTable: KindTable = {
  columns: ['Name', { name: 'Created At', type: 'date' }],
  // TABLE-05.
  cells: (object) => [nameOf(object), createdAtOf(object)],
}

/**
 * The table printer of a kind at a level, created at first use. Objects are read in their storage
 * version. A kind without a table shows names and creation times.
 */
export function tablePrinterOf(table: KindTable = defaultTable, level: number = oldestLevel): TablePrinter {
  return printersOf(table)(level)
}

/** Number of cached levels per table, which covers all levels. */
const levelsMax = 16

/** Cached printers of a table by level. */
const printersOf = memo((table: KindTable) => boundedMemo(levelsMax, (level: number) => printerAt(table, level)))

function printerAt(table: KindTable, level: number): TablePrinter {
  const all = table.columns.map(toDescribed)
  const isThere = all.map((column) => existsAt(column, level))
  const described = all.filter((_, index) => isThere[index])
  if (described.length === all.length) return createTablePrinter(described, table.cells, table)
  return createTablePrinter(described, (object, names) => table.cells(object, names).filter((_, index) => isThere[index]), table)
}

function toDescribed(given: string | Column): DescribedColumn {
  const column = typeof given === 'string' ? { name: given } : given
  const { name } = column
  return { type: 'string', format: name === 'Name' ? 'name' : '', description: describeColumn(name), ...column }
}

/** A column as clients see it. */
export type DescribedColumn = Column & Required<Pick<Column, 'type' | 'description'>>

/** The table printer of a custom kind. */
export function createTablePrinter(
  columns: readonly DescribedColumn[],
  readCells: ReadCells,
  { conditions: readConditions = () => [], order }: Pick<KindTable, 'conditions' | 'order'> = {},
): TablePrinter {
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
    order,
  }
}
