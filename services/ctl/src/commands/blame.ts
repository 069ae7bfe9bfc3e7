import { isJsonObject, jsonEqual } from '@orch/core/json'
import type { ApiObject, ManagedFieldsEntry } from '@orch/core/meta'
import { type Command, command } from '../command.ts'
import { ageOf } from '../output/columns.ts'
import { sorted } from '../output/yaml.ts'
import { readTargets } from '../targets.ts'
import { CtlError } from '../words.ts'

/** The fields of one manager below one path of an object, in the form of `fieldsV1`. */
interface Owned {
  readonly owner: string
  readonly fields: Readonly<Record<string, unknown>>
}

interface Line {
  readonly owners: readonly string[]
  readonly text: string
}

/** `orchctl blame`. */
export const blame: Command = command({
  usage: 'blame resource name',
  doc: 'print an object with the manager and the age of each field',
  takesObjects: true,
  flags: {},
  async run({ terminal, session, rest }) {
    const targets = await readTargets(session, rest, { 'all-namespaces': false })
    for (const { resource, namespace, name } of targets) {
      if (name === undefined) throw new CtlError('objects must be named: blame resource name')
      const object = await session.client.resource(resource).get(name, { namespace })
      terminal.out(await printBlame(object))
    }
  },
})

/** The object as YAML, with the owning managers before each line, `-` for the server's own fields. */
async function printBlame(object: ApiObject): Promise<string> {
  const { printYaml } = await import('@orch/core/yaml')
  const { managedFields = [], ...metadata } = object.metadata
  const owned = managedFields.flatMap((entry) =>
    isJsonObject(entry.fieldsV1) ? [{ owner: ownerText(entry), fields: entry.fieldsV1 }] : [],
  )
  const print = (value: unknown) => printYaml(value).trimEnd().split('\n')
  const lines = linesOfMap(sorted({ ...object, metadata }) as Record<string, unknown>, owned, print)
  const marks = lines.map(({ owners }) => (owners.length === 0 ? '-' : owners.join(', ')))
  const width = Math.max(...marks.map((mark) => mark.length))
  return lines.map(({ text }, index) => `${(marks[index] ?? '').padEnd(width)} │ ${text}\n`).join('')
}

function ownerText({ manager = '', operation, subresource, time }: ManagedFieldsEntry): string {
  return `${manager} (${operation}${subresource === undefined ? '' : ` ${subresource}`}, ${ageOf(time)})`
}

type Print = (value: unknown) => string[]

function linesOfMap(map: Readonly<Record<string, unknown>>, owned: readonly Owned[], print: Print): Line[] {
  return Object.entries(map).flatMap(([key, value]) => {
    const below = stepInto(owned, `f:${key}`)
    const owners = below.filter(({ isMember }) => isMember).map(({ owner }) => owner)
    if (isEmpty(value) || below.every(({ fields }) => isLeaf(fields))) return print({ [key]: value }).map((text) => ({ owners, text }))
    const [head = ''] = print({ [key]: null })
    const inside = Array.isArray(value) ? linesOfList(value, below, print) : linesOfMap(isJsonObject(value) ? value : {}, below, print)
    const indent = Array.isArray(value) ? '' : '  '
    return [{ owners, text: head.replace(/ null$/, '') }, ...inside.map((line) => ({ ...line, text: indent + line.text }))]
  })
}

function linesOfList(list: readonly unknown[], owned: readonly Owned[], print: Print): Line[] {
  return list.flatMap((item, index) => {
    const step = stepOf(owned, item, index)
    const below = step === undefined ? [] : stepInto(owned, step)
    const owners = below.filter(({ isMember }) => isMember).map(({ owner }) => owner)
    const lines =
      isEmpty(item) || Array.isArray(item) || below.every(({ fields }) => isLeaf(fields))
        ? print(item).map((text) => ({ owners, text }))
        : linesOfMap(isJsonObject(item) ? item : {}, below, print)
    return lines.map((line, at) => ({ ...line, text: `${at === 0 ? '-' : ' '} ${line.text}` }))
  })
}

/** The owned fields one element deeper. An element without members below it is owned as a whole. */
function stepInto(owned: readonly Owned[], step: string): (Owned & { readonly isMember: boolean })[] {
  return owned.flatMap(({ owner, fields }) => {
    const below = fields[step]
    return isJsonObject(below) ? [{ owner, fields: below, isMember: isLeaf(below) || '.' in below }] : []
  })
}

/** The path element of an item: by its keys, its value, or its index. */
function stepOf(owned: readonly Owned[], item: unknown, index: number): string | undefined {
  const steps = new Set(owned.flatMap(({ fields }) => Object.keys(fields)))
  return [...steps].find((step) => {
    const rest = step.slice(2)
    if (step.startsWith('i:')) return Number(rest) === index
    if (step.startsWith('v:')) return jsonEqual(JSON.parse(rest), item)
    if (!step.startsWith('k:') || !isJsonObject(item)) return false
    const keys: Readonly<Record<string, unknown>> = JSON.parse(rest)
    return Object.entries(keys).every(([key, value]) => jsonEqual(item[key], value))
  })
}

function isLeaf(fields: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(fields).every((key) => key === '.')
}

function isEmpty(value: unknown): boolean {
  return typeof value !== 'object' || value === null || Object.keys(value).length === 0
}
