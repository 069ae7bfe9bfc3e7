import type { ApiObject } from '@orch/core/meta'
import { CtlError } from '../words.ts'
import { printColumns } from './columns.ts'
import { parseTemplate, printValue } from './template.ts'
import { printYaml, sorted } from './yaml.ts'

/** Prints objects: a single one alone, several as a List. Undefined if the output is a table by the server. */
export type ObjectPrinter = (objects: readonly ApiObject[], isList: boolean) => string | Promise<string>

/** Parses `-o`; undefined for a table and `wide`. `nameOf` prints an object for `-o name`. */
export function parseOutput(text: string | undefined, nameOf: (object: ApiObject) => string): ObjectPrinter | undefined {
  if (text === undefined || text === '' || text === 'wide') return undefined
  const [, name = '', argument = ''] = /^([a-z-]+)(?:=(.*))?$/s.exec(text) ?? []
  switch (name) {
    case 'json':
      return (objects, isList) => `${JSON.stringify(sorted(asOne(objects, isList)), null, 4)}\n`
    case 'yaml':
      return (objects, isList) => printYaml(asOne(objects, isList))
    case 'name':
      return (objects) => objects.map((object) => `${nameOf(object)}\n`).join('')
    case 'jsonpath': {
      const template = parseTemplate(argument.includes('{') ? argument : `{${argument}}`)
      return (objects, isList) => template(asOne(objects, isList))
    }
    case 'custom-columns': {
      const columns = customColumns(argument)
      return (objects) =>
        printColumns([columns.map(({ header }) => header), ...objects.map((object) => columns.map(({ print }) => print(object)))])
    }
  }
  throw new CtlError(`-o ${text}: must be json, yaml, name, wide, jsonpath=…, or custom-columns=…`)
}

function asOne(objects: readonly ApiObject[], isList: boolean): unknown {
  const [first] = objects
  return !isList && first !== undefined ? first : { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '' }, items: objects }
}

function customColumns(text: string) {
  if (text === '') throw new CtlError('-o custom-columns: columns are required, such as NAME:.metadata.name,IMAGE:.spec.image')
  return text.split(',').map((column) => {
    const cut = column.indexOf(':')
    if (cut < 1) throw new CtlError(`-o custom-columns: ${column}: must be a header and a path, such as NAME:.metadata.name`)
    const path = column.slice(cut + 1)
    const template = parseTemplate(path.includes('{') ? path : `{${path}}`)
    return {
      header: column.slice(0, cut),
      print: (object: unknown) => {
        const printed = template(object)
        return printed === '' ? '<none>' : printed
      },
    }
  })
}

/** A Table of the server. */
export interface TableDocument {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[] | null
  readonly rows: readonly TableRow[] | null
}

interface TableRow {
  readonly cells: readonly unknown[]
  readonly object?: {
    readonly metadata?: { readonly name?: string; readonly namespace?: string; readonly labels?: Readonly<Record<string, string>> }
  }
}

export interface TableOptions {
  readonly isWide: boolean
  readonly hasNamespaces: boolean
  readonly hasLabels: boolean
  readonly hasHeaders: boolean
  /** The event type, as the first column. */
  readonly event?: string
  /** Prefix of each name, such as `deployment.apps/`. */
  readonly prefix: string
}

/** The rows of a table; `columns` are present only in the first of several. */
export function tableRows(
  { columnDefinitions, rows }: TableDocument,
  columns: NonNullable<TableDocument['columnDefinitions']>,
  options: TableOptions,
): string[][] {
  const shown = (columnDefinitions ?? columns)
    .map(({ name, priority }, index) => ({ name, index, priority }))
    .filter(({ priority }) => options.isWide || priority === 0)
  const header = [
    ...(options.event === undefined ? [] : ['EVENT']),
    ...(options.hasNamespaces ? ['NAMESPACE'] : []),
    ...shown.map(({ name }) => name.toUpperCase()),
    ...(options.hasLabels ? ['LABELS'] : []),
  ]
  const body = (rows ?? []).map(({ cells, object }) => [
    ...(options.event === undefined ? [] : [options.event]),
    ...(options.hasNamespaces ? [object?.metadata?.namespace ?? ''] : []),
    ...shown.map(({ index }, place) => (place === 0 ? options.prefix : '') + cellText(cells[index])),
    ...(options.hasLabels ? [labelsText(object?.metadata?.labels)] : []),
  ])
  return options.hasHeaders ? [header, ...body] : body
}

function cellText(cell: unknown): string {
  if (cell === null || cell === undefined) return '<none>'
  return printValue(cell)
}

function labelsText(labels: Readonly<Record<string, string>> = {}): string {
  const texts = Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .sort()
  return texts.length === 0 ? '<none>' : texts.join(',')
}
