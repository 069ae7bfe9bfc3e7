import { boundedMemo, memo } from '@orch/cel/memo'
import { existsAt, oldestLevel } from '../description/levels.ts'
import type { Names } from '../names.ts'
import { type Cell, type Data, dataOf, nameOf, type ReadCells } from './cell.ts'
import type { RowCondition } from './cells/pod.ts'
import { describeColumn } from './descriptions.ts'
import type { Column, KindTable } from './kind-table.ts'

/** The rows of a kind's objects. */
export interface TablePrinter {
  /** JSON of the column definitions, made once. */
  readonly columnsJson: string
  /** An object's row. It depends on the object alone, so it may be cached with it. */
  readonly read: (object: Data, names: Names) => TableRow
  /** The order of the rows of a list, by their cells; undefined: that of the objects' names. */
  readonly order: KindTable['order']
}

/** A row before it is printed. */
export interface TableRow {
  readonly cells: readonly Cell[]
  readonly conditions: readonly RowCondition[]
}

/** The table of kinds that have none of their own. */
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
 * The printer of a kind's table at a level, made at the first use. Objects are read in the version in which they are
 * stored. A kind without a table of its own shows names and creation times.
 */
export function tablePrinterOf(table: KindTable = defaultTable, level: number = oldestLevel): TablePrinter {
  return printersOf(table)(level)
}

/** Levels of one table whose printers are kept: as many as there are. */
const levelsMax = 16

/** The printers of a table by level, each made once. */
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

/** The table of a kind that is not built in. */
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
