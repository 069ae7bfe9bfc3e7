import { goNumber } from '../json/go-text.ts'
import { printJson } from '../json/print.ts'
import { parseInstant } from '../meta/time.ts'
import { type Cell, type Data, nameOf } from '../table/cell.ts'
import { describeColumn } from '../table/descriptions.ts'
import { createTablePrinter, type DescribedColumn, printAge, type TablePrinter, unknownAge } from '../table/index.ts'
import { type JsonPath, MalformedPath, parseJsonPath } from './json-path.ts'

/** A printer column of a definition. */
export interface PrinterColumn {
  readonly name: string
  readonly type: string
  readonly format?: string
  readonly description?: string
  readonly priority?: number
  readonly jsonPath: string
}

/** The only column of a definition without columns. */
const age: PrinterColumn = {
  name: 'Age',
  type: 'date',
  description: describeColumn('Age'),
  jsonPath: '.metadata.creationTimestamp',
}

const nameColumn: DescribedColumn = { name: 'Name', type: 'string', format: 'name', description: describeColumn('Name') }

/** The table of a custom kind: the name, then the definition's columns up to the first one with an invalid path. */
export function createCustomTable(columns: readonly PrinterColumn[]): TablePrinter {
  const read = readable(columns.length === 0 ? [age] : columns)
  const described = read.map(({ column }) => describe(column))
  return createTablePrinter([nameColumn, ...described], (object) => [nameOf(object), ...read.map(({ cells }) => cells(object))])
}

function describe({ name, type, format, description, priority, jsonPath }: PrinterColumn): DescribedColumn {
  const text = description || `Custom resource definition column (in JSONPath format): ${jsonPath}`
  return { name, type: type as DescribedColumn['type'], format: format ?? '', description: text, priority: priority ?? 0 }
}

interface ReadColumn {
  readonly column: PrinterColumn
  readonly cells: (object: Data) => Cell
}

function readable(columns: readonly PrinterColumn[]): ReadColumn[] {
  const read: ReadColumn[] = []
  for (const column of columns) {
    const path = pathOf(column.jsonPath)
    if (path === undefined) break
    read.push({ column, cells: cellsOf(column.type, path) })
  }
  return read
}

function cellsOf(type: string, path: JsonPath): (object: Data) => Cell {
  return (object) => {
    const [value] = path(object)
    return type === 'string' ? printedCell(value) : cellOf(type, value)
  }
}

/** Undefined if the path is invalid, which definitions may contain. */
function pathOf(text: string): JsonPath | undefined {
  try {
    return parseJsonPath(text)
  } catch (error) {
    if (error instanceof MalformedPath) return undefined
    throw error
  }
}

/** A column of type string prints any value. */
function printedCell(value: unknown): Cell {
  if (value === undefined || value === null) return null
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'bigint') return goNumber(value)
  return printJson(value)
}

/** The cell for a value in a column of a type; null if the value has another type. */
export function cellOf(type: string, value: unknown): Cell {
  switch (type) {
    case 'integer':
      if (typeof value === 'bigint') return value
      return typeof value === 'number' ? Math.trunc(value) : null
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint' ? value : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'string':
      return typeof value === 'string' ? value : null
    case 'date':
      return typeof value === 'string' ? ageCell(value) : null
    default:
      return null
  }
}

function ageCell(text: string): Cell {
  if (text === '') return unknownAge
  const instant = parseInstant(text)
  return instant === undefined ? '<invalid>' : (nowMs) => printAge(nowMs - instant.seconds * 1000)
}
