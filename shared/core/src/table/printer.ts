import { boundedMemo, memo } from '@orch/cel/memo'
import { existsAt, oldestLevel } from '../description/levels.ts'
import type { Names } from '../names.ts'
import { type Cell, type Data, dataOf, nameOf, type ReadCells } from './cell.ts'
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
  columns: [
    { name: 'Name', type: 'string', format: 'name' },
    { name: 'Created At', type: 'date' },
  ],
  // TABLE-05.
  cells: (object) => {
    const createdAt = dataOf(object, 'metadata')['creationTimestamp']
    return [nameOf(object), typeof createdAt === 'string' ? createdAt : null]
  },
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
  const isThere = table.columns.map((column) => existsAt(column, level))
  const columns = table.columns.filter((_, index) => isThere[index])
  const described = columns.map((column) => ({ ...column, description: column.description ?? describeColumn(column.name) }))
  if (columns.length === table.columns.length) return createTablePrinter(described, table.cells, table)
  return createTablePrinter(described, (object, names) => table.cells(object, names).filter((_, index) => isThere[index]), table)
}

/** A column as clients see it. */
export type DescribedColumn = Column & { readonly description: string }

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
