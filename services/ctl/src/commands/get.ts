import { isRefusal, readText, type WatchOptions } from '@orch/client'
import { type ApiList, type ApiObject, printApiVersion } from '@orch/core/meta'
import { type Command, command } from '../command.ts'
import { printColumns, type RowBounds } from '../output/columns.ts'
import { type ObjectPrinter, parseOutput, type TableDocument, type TableOptions, tableRows } from '../output/output.ts'
import { objectName, qualifiedName, type ServedResource } from '../resources.ts'
import type { Session } from '../session.ts'
import { namesFiles, pathOf, readFileTargets, readTargets, selectionFlags, type Target } from '../targets.ts'
import type { CtlTerminal, StatusTerminal } from '../terminal.ts'
import { CtlError } from '../words.ts'

const flags = {
  ...selectionFlags,
  output: { short: 'o', word: 'format', doc: 'json, yaml, name, wide, jsonpath=…, or custom-columns=….' },
  watch: { short: 'w', word: '', doc: 'Print the objects, then each change.' },
  'watch-only': { word: '', doc: 'Print changes from now on.' },
  'output-watch-events': { word: '', doc: 'Print what has happened with each change: ADDED, MODIFIED or DELETED.' },
  'no-headers': { word: '', doc: 'Print no headers.' },
  'show-labels': { word: '', doc: 'Print labels as the last column.' },
  'ignore-not-found': { word: '', doc: 'An object that is not there is no failure.' },
  'chunk-size': { word: 'int', doc: 'Objects per page of a list; 0 for all at once.' },
  raw: { word: 'path', doc: 'Print the response of the server for a path.' },
} as const

/** `orchctl get`. */
export const get: Command = command({
  usage: 'get resource [name…] | -f file | --raw path',
  doc: 'print objects, one or many',
  takesObjects: true,
  flags,
  async run({ terminal, session, flags, rest }) {
    if (flags.raw !== undefined) {
      const response = await session.client.transport.send({ method: 'GET', path: flags.raw, headers: {}, signal: terminal.signal })
      const text = await readText(response)
      if (response.status >= 400) throw new CtlError(text.trim())
      terminal.out(text)
      return undefined
    }
    const targets = namesFiles(flags) ? await readFileTargets({ terminal, session, flags, rest }) : await readTargets(session, rest, flags)
    if (flags.watch || flags['watch-only']) return watch({ session, targets, flags, terminal })
    const nameOf = await namer(session)
    const printer = parseOutput(flags.output, nameOf)
    if (printer === undefined) return printTables(terminal, await getTables({ session, terminal }, targets, flags), flags)
    const objects = (await getObjects({ session, terminal }, targets, flags)).flatMap((each) => each.objects)
    if (objects.length === 0 && targets.every(({ name }) => name !== undefined)) return undefined
    const isList = !(targets.length === 1 && targets[0]?.name !== undefined)
    terminal.out(await printer(objects, isList))
  },
})

/** `orchctl watch`: each current object, then each event, with its type. */
export const watchCommand: Command = command({
  usage: 'watch resource [name]',
  doc: 'print objects, then each change with what has happened, until it is ended',
  takesObjects: true,
  flags: {
    selector: flags.selector,
    'field-selector': flags['field-selector'],
    'all-namespaces': flags['all-namespaces'],
    output: flags.output,
    'watch-only': flags['watch-only'],
    'no-headers': flags['no-headers'],
    'show-labels': flags['show-labels'],
  },
  async run({ terminal, session, flags: given, rest }) {
    const targets = await readTargets(session, rest, given)
    const values = { ...given, 'output-watch-events': true, 'ignore-not-found': false, 'chunk-size': undefined }
    return watch({ session, targets, flags: values, terminal })
  },
})

interface GetValues {
  readonly selector: string | undefined
  readonly 'field-selector': string | undefined
  readonly 'chunk-size': string | undefined
  readonly 'ignore-not-found': boolean
  readonly 'all-namespaces': boolean
  readonly 'no-headers': boolean
  readonly 'show-labels': boolean
  readonly output: string | undefined
  readonly 'watch-only': boolean
  readonly 'output-watch-events': boolean
}

interface FoundObjects {
  readonly target: Target
  readonly objects: readonly ApiObject[]
}

interface FoundTable {
  readonly target: Target
  readonly pages: readonly TableDocument[]
}

const chunkSizeDefault = 500

/** Prints an object for `-o name`. */
async function namer(session: Session): Promise<(object: ApiObject) => string> {
  const all = await session.resources.all()
  return ({ apiVersion, kind, metadata }) => {
    const resource = all.find((each) => each.kind === kind && printApiVersion(each.group, each.version) === apiVersion)
    return resource === undefined ? `${kind.toLowerCase()}/${metadata.name}` : objectName(resource, metadata.name ?? '')
  }
}

/** A read of objects, and the display of its progress. */
interface Reading {
  readonly session: Session
  readonly terminal: StatusTerminal
}

/** An object, or a page of a list or table. */
interface Page {
  readonly metadata?: { readonly continue?: string; readonly remainingItemCount?: number }
  readonly items?: readonly unknown[]
  readonly rows?: readonly unknown[] | null
}

/** Reads an object, or the pages of a collection, in the given form. */
async function readPages<T extends Page>(
  { session, terminal: { statusLine } }: Reading,
  target: Target,
  flags: GetValues,
  accept: string,
): Promise<T[]> {
  const pages: T[] = []
  const limit = Number(flags['chunk-size'] ?? chunkSizeDefault)
  if (limit < 0) throw new CtlError(`--chunk-size=${limit}: must not be negative`)
  let token: string | undefined
  let count = 0
  do {
    if (target.name === undefined)
      statusLine.show(`reading ${qualifiedName(target.resource)}${count === 0 ? '' : `: ${count}${left(pages.at(-1), count)}`}`)
    const query =
      target.name === undefined
        ? { labelSelector: flags.selector, fieldSelector: flags['field-selector'], limit: limit > 0 ? limit : undefined, continue: token }
        : {}
    const page = await session.client.request<T>({ method: 'GET', path: pathOf(target), query, headers: { accept } })
    pages.push(page)
    count += (page.items ?? page.rows ?? []).length
    token = page.metadata?.continue
  } while (token !== undefined && token !== '')
  return pages
}

/** ` of 7000`: with the remaining count of the page. */
function left(page: Page | undefined, count: number): string {
  const remaining = page?.metadata?.remainingItemCount
  return remaining === undefined ? '' : ` of ${count + remaining}`
}

async function perTarget<T>(targets: readonly Target[], flags: GetValues, read: (target: Target) => Promise<T>): Promise<T[]> {
  const found: T[] = []
  for (const target of targets) {
    try {
      found.push(await read(target))
    } catch (error) {
      if (!flags['ignore-not-found'] || !isRefusal(error, [404])) throw error
    }
  }
  return found
}

function getObjects(reading: Reading, targets: readonly Target[], flags: GetValues): Promise<FoundObjects[]> {
  return perTarget(targets, flags, async (target) => {
    const pages = await readPages<ApiObject & Partial<ApiList>>(reading, target, flags, 'application/json')
    const objects =
      target.name === undefined ? pages.flatMap(({ items = [] }) => items.map((item) => withType(item, target.resource))) : pages
    return { target, objects }
  })
}

/** Items of lists carry no type. */
function withType(object: ApiObject, { group, version, kind }: ServedResource): ApiObject {
  return { ...object, apiVersion: printApiVersion(group, version), kind }
}

async function tableType(session: Session): Promise<string> {
  const { apiDomain } = await session.names()
  return `application/json;as=Table;v=v1;g=meta.${apiDomain},application/json`
}

async function getTables(reading: Reading, targets: readonly Target[], flags: GetValues): Promise<FoundTable[]> {
  const accept = await tableType(reading.session)
  return perTarget(targets, flags, async (target) => ({
    target,
    pages: await readPages<TableDocument & Page>(reading, target, flags, accept),
  }))
}

function printTables(terminal: CtlTerminal, found: readonly FoundTable[], flags: GetValues): undefined {
  const groups = Map.groupBy(found, ({ target }) => target.resource)
  const filled = [...groups].filter(([, tables]) => tables.some(({ pages }) => pages.some(({ rows }) => (rows ?? []).length > 0)))
  if (filled.length === 0) {
    const namespace = found.find(({ target }) => target.namespace !== undefined)?.target.namespace
    if (!flags['ignore-not-found'])
      terminal.error(namespace === undefined ? 'No resources found\n' : `No resources found in ${namespace} namespace.\n`)
    return undefined
  }
  const texts = filled.map(([resource, tables]) => {
    const prefix = groups.size > 1 ? objectName(resource, '') : ''
    const pages = tables.flatMap((table) => table.pages)
    const columns = pages.find(({ columnDefinitions }) => columnDefinitions !== null)?.columnDefinitions ?? []
    const options = {
      isWide: flags.output === 'wide',
      hasNamespaces: flags['all-namespaces'] && resource.namespaced,
      hasLabels: flags['show-labels'],
      prefix,
    }
    const rows = pages.flatMap((page, index) => tableRows(page, columns, { ...options, hasHeaders: index === 0 && !flags['no-headers'] }))
    return printColumns(rows, boundsOf(terminal, options))
  })
  terminal.out(texts.join('\n'))
  return undefined
}

/** Rows fit the terminal, unless all columns are requested; the object's name is never cut. */
function boundsOf(terminal: CtlTerminal, options: Pick<TableOptions, 'isWide' | 'hasNamespaces' | 'event'>): RowBounds {
  if (options.isWide) return { whole: 0 }
  return { widthMax: terminal.lineWidth(), whole: 1 + Number(options.hasNamespaces) + Number(options.event !== undefined) }
}

interface Watching {
  readonly terminal: CtlTerminal
  readonly session: Session
  readonly targets: readonly Target[]
  readonly flags: GetValues
}

/** Prints the current objects, then each change, until the server or the user ends it. */
async function watch(watching: Watching): Promise<undefined> {
  const { session, targets, flags, terminal } = watching
  const [target] = targets
  if (target === undefined || targets.length > 1) throw new CtlError('you may only specify a single resource type to watch')
  const { namespace, name } = target
  const printer = parseOutput(flags.output, await namer(session))
  const fieldSelector = [
    ...(flags['field-selector'] === undefined ? [] : [flags['field-selector']]),
    ...(name === undefined ? [] : [`metadata.name=${name}`]),
  ].join(',')
  const selected = { labelSelector: flags.selector, ...(fieldSelector === '' ? {} : { fieldSelector }) }
  const watched = { target: { resource: target.resource, namespace }, select: { namespace, ...selected } }
  try {
    if (printer === undefined) await watchTable(watching, watched)
    else await watchObjects(watching, watched, printer)
  } catch (error) {
    if (!terminal.signal.aborted) throw error
  }
}

/** The targets of a watch. */
interface Watched {
  readonly target: Target
  readonly select: Pick<WatchOptions, 'namespace' | 'labelSelector' | 'fieldSelector'>
}

async function watchObjects({ session, flags, terminal }: Watching, { target, select }: Watched, printer: ObjectPrinter): Promise<void> {
  const { signal } = terminal
  const collection = session.client.resource(target.resource)
  const list = await collection.list(select)
  const show = async (object: ApiObject, type: string) => {
    const typed = withType(object, target.resource)
    // An event is printed in its API form.
    terminal.out(await printer([flags['output-watch-events'] ? ({ type, object: typed } as unknown as ApiObject) : typed], false))
  }
  if (!flags['watch-only']) for (const item of list.items) await show(item, 'ADDED')
  for await (const { type, object } of await collection.watch({ ...select, resourceVersion: list.metadata.resourceVersion, signal })) {
    if (type !== 'BOOKMARK') await show(object, type)
  }
}

interface WatchedTable extends TableDocument, ApiObject {}

/** The server creates the row of each event. Only its first event has the columns. */
async function watchTable({ session, flags, terminal }: Watching, { target, select }: Watched): Promise<void> {
  const { signal } = terminal
  const accept = await tableType(session)
  const { namespace: _namespace, ...query } = select
  const list = await session.client.request<WatchedTable>({ method: 'GET', path: pathOf(target), query, headers: { accept } })
  const columns = list.columnDefinitions ?? []
  let hasHeaders = !flags['no-headers']
  const show = (table: TableDocument, type: string) => {
    if ((table.rows ?? []).length === 0) return
    const options = { isWide: flags.output === 'wide', hasNamespaces: flags['all-namespaces'], hasLabels: flags['show-labels'], prefix: '' }
    const shown = { ...options, ...(flags['output-watch-events'] ? { event: type } : {}) }
    terminal.out(printColumns(tableRows(table, columns, { ...shown, hasHeaders }), boundsOf(terminal, shown)))
    hasHeaders = false
  }
  if (!flags['watch-only']) show(list, 'ADDED')
  const { resourceVersion } = list.metadata
  const collection = session.client.resource<WatchedTable>(target.resource)
  for await (const { type, object } of await collection.watch({ ...select, resourceVersion, accept, signal })) {
    if (type === 'BOOKMARK') continue
    if (type !== 'DELETED' || flags['output-watch-events']) show(object, type)
    else for (const { object: row } of object.rows ?? []) terminal.out(`${row?.metadata?.name ?? ''}   deleted\n`)
  }
}
