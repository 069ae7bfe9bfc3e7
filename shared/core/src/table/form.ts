import { type Column, columnsOf, defaultColumns } from '../catalogue/columns.ts'
import type { Names } from '../names.ts'
import { type Cell, type Data, dataOf, nameOf, type ReadCells } from './cell.ts'
import { accessCells } from './cells/access.ts'
import { clusterCells } from './cells/cluster.ts'
import { configurationCells } from './cells/configuration.ts'
import { networkCells } from './cells/network.ts'
import { podCells, podConditions, type RowCondition } from './cells/pod.ts'
import { storageCells } from './cells/storage.ts'
import { workloadCells } from './cells/workloads.ts'
import { describeColumn } from './descriptions.ts'

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
