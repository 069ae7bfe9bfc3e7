import { isJsonObject } from '@orch/core/json'
import { type ApiObject, printApiVersion } from '@orch/core/meta'
import type { BuiltIn } from '@orch/core/schema'
import { type Command, command } from '../command.ts'
import { ageOf, printColumns } from '../output/columns.ts'
import { printValue } from '../output/template.ts'
import type { Session } from '../session.ts'
import { readTargets, selectionFlags } from '../targets.ts'

type EventObject = BuiltIn<'core/v1.Event'>

/** `orchctl describe`. */
export const describe: Command = command({
  usage: 'describe resource [name…]',
  doc: 'print objects with all their fields and their events',
  takesObjects: true,
  flags: {
    selector: selectionFlags.selector,
    'all-namespaces': selectionFlags['all-namespaces'],
    'show-events': { word: 'true|false', whenAlone: 'true', doc: 'Print the events of the objects. (default true)' },
  },
  async run({ terminal, session, flags, rest }) {
    const texts: string[] = []
    for (const { resource, namespace, name } of await readTargets(session, rest, flags)) {
      const collection = session.client.resource(resource)
      const objects =
        name === undefined
          ? (await collection.listAll({ namespace, labelSelector: flags.selector })).items
          : [await collection.get(name, { namespace })]
      const { kind, group, version } = resource
      for (const object of objects) {
        const events = flags['show-events'] === 'false' ? undefined : await eventsOf(session, kind, object)
        texts.push(printDescription({ ...object, kind, apiVersion: printApiVersion(group, version) }, events))
      }
    }
    if (texts.length === 0) terminal.error('No resources found\n')
    terminal.out(texts.join('\n\n'))
  },
})

async function eventsOf(
  session: Session,
  kind: string,
  { metadata: { name = '', namespace, uid } }: ApiObject,
): Promise<readonly EventObject[]> {
  const fieldSelector = [
    `involvedObject.kind=${kind}`,
    `involvedObject.name=${name}`,
    ...(uid === undefined ? [] : [`involvedObject.uid=${uid}`]),
  ]
  const events = session.client.resource<EventObject>({ group: '', version: 'v1', plural: 'events', namespaced: true })
  const { items } = await events.listAll({ namespace, fieldSelector: fieldSelector.join(',') })
  return items.toSorted((one, other) => (timeOf(one) < timeOf(other) ? -1 : 1))
}

function timeOf({ lastTimestamp, eventTime, metadata }: EventObject): string {
  return lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? ''
}

/** The format of kubectl for unknown kinds: labelled values, one level of indentation for each level of the object. */
function printDescription(object: ApiObject, events: readonly EventObject[] | undefined): string {
  const { apiVersion, kind, metadata, ...rest } = object
  const { name, namespace, labels, annotations, managedFields: _, ...others } = metadata
  const rows: Row[] = [
    { depth: 0, label: 'Name', value: name ?? '' },
    ...(namespace === undefined ? [] : [{ depth: 0, label: 'Namespace', value: namespace }]),
    ...pairRows('Labels', labels, '='),
    ...pairRows('Annotations', annotations, ': '),
    { depth: 0, label: 'API Version', value: apiVersion },
    { depth: 0, label: 'Kind', value: kind },
    { depth: 0, label: 'Metadata', value: undefined },
    ...fieldRows(others, 1),
    ...fieldRows(rest, 0),
  ]
  return printRows(rows) + (events === undefined ? '' : printEvents(events))
}

/** A line; without a value it is a heading. */
interface Row {
  readonly depth: number
  readonly label: string
  readonly value: string | undefined
}

function pairRows(label: string, pairs: Readonly<Record<string, string>> = {}, between: string): Row[] {
  const texts = Object.entries(pairs)
    .map(([key, value]) => `${key}${between}${value}`)
    .sort()
  if (texts.length === 0) return [{ depth: 0, label, value: '<none>' }]
  return texts.map((value, index) => ({ depth: 0, label: index === 0 ? label : '', value }))
}

function fieldRows(fields: Readonly<Record<string, unknown>>, depth: number): Row[] {
  return Object.keys(fields)
    .sort()
    .flatMap((key) => valueRows(labelOf(key), fields[key], depth))
}

function valueRows(label: string, value: unknown, depth: number): Row[] {
  if (isJsonObject(value)) return [{ depth, label, value: undefined }, ...fieldRows(value, depth + 1)]
  if (!Array.isArray(value)) return [{ depth, label, value: value === null ? '<nil>' : printValue(value) }]
  const items = value.flatMap((item): Row[] =>
    isJsonObject(item) ? fieldRows(item, depth + 1) : [{ depth: depth + 1, label: printValue(item), value: undefined }],
  )
  return [{ depth, label, value: undefined }, ...items]
}

/** `creationTimestamp` becomes `Creation Timestamp`; names other than field names stay unchanged. */
function labelOf(key: string): string {
  if (!/^[A-Za-z]+$/.test(key)) return key
  const words = key.replace(/([a-z])([A-Z])/g, '$1 $2').replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}

function printRows(rows: readonly Row[]): string {
  const width = Math.max(...rows.map(({ depth, label }) => depth * 2 + label.length + 1)) + 2
  return rows
    .map(({ depth, label, value }) => {
      const head = '  '.repeat(depth) + (label === '' ? '' : `${label}:`)
      return `${(value === undefined ? head : head.padEnd(width) + value).trimEnd()}\n`
    })
    .join('')
}

function printEvents(events: readonly EventObject[]): string {
  if (events.length === 0) return 'Events:  <none>\n'
  const rows = events.map((event) => [
    `  ${event.type ?? ''}`,
    event.reason ?? '',
    ageOf(timeOf(event)),
    event.source?.component ?? event.reportingComponent ?? '',
    (event.message ?? '').trim(),
  ])
  return `Events:\n${printColumns([['  Type', 'Reason', 'Age', 'From', 'Message'], ['  ----', '------', '---', '----', '-------'], ...rows])}`
}
