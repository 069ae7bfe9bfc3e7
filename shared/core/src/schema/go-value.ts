import { nodeAtLevel } from '../description/levels.ts'
import { type Field, isScalar, type Node, type ScalarNode, type StructNode } from '../description/node.ts'
import { escapeMarkup, goQuote, isJsonObject, printValue, shown } from '../json/index.ts'
import { goQuantity } from '../meta/go-quantity.ts'
import { type LevelText, parseBase64, textSince } from '../meta/index.ts'
import { goJson } from './go-json.ts'
import { goFieldName, internalFields, isPointer } from './go-names.ts'
import { packageOf, resolveNode, typeNameAt, typeOf } from './resolve.ts'

/** The first level whose messages show values as JSON. */
export const jsonSince = 34

/**
 * A structured value with its type, for a message: before 1.34 in the syntax of Go's `%#v`, since then as
 * JSON. Clients compare messages.
 */
export class GoValue {
  readonly #node: Node
  readonly #value: unknown

  constructor(node: Node, value: unknown) {
    this.#node = node
    this.#value = value
  }

  textAt(level: number): string {
    const node = nodeAtLevel(this.#node, level, (name) => typeNameAt(name, level))
    if (level >= jsonSince) return goJson(node, this.#value)
    // Bytes, raw values and times at the top are printed differently from those within other values.
    if (node.kind === 'raw') return unknownText(this.#value)
    if (node.kind === 'time' || node.kind === 'microTime') return printedTime(this.#value)
    return node.kind === 'bytes' ? bytesText(this.#value).replace('[]uint8', '[]byte') : print(node, this.#value)
  }
}

/** A value of a type for a message. The type is written as in `api/`: `ref('core/v1.Taint')`, `map(string())`. */
export function goValue(node: Node, value: unknown): GoValue {
  return new GoValue(node, value)
}

/** A value as a message prints it. */
export function printFieldValue(value: unknown): LevelText {
  if (typeof value === 'string') return goQuote(value)
  if (value === null || value === undefined) return nothing
  return value instanceof GoValue ? (level) => shown(value.textAt(level)) : shown(escapeMarkup(printValue(value)))
}

/** The text of an absent value. */
const nothing = textSince(jsonSince, { before: '"null"', after: 'null' })

/** Go prints the address of a pointer, which differs in every run; this constant replaces it. */
const somewhere = '0xc000000000'

function print(node: Node, value: unknown): string {
  const target = resolveNode(node)
  if (isScalar(target)) return scalarTexts[target.kind](value, node)
  switch (target.kind) {
    case 'ref':
      return print(target, value)
    case 'struct':
      return `${typeName(node)}${structBody(node.kind === 'ref' ? node.name : undefined, target, isJsonObject(value) ? value : {})}`
    case 'list':
      return listText(node, target.items, value)
    case 'map':
      return mapText(node, target.values, value)
    case 'string':
      return goQuote(typeof value === 'string' ? value : '')
    case 'variant':
      return rawText(value, node)
  }
}

const numberText = (value: unknown): string => String(value ?? 0)
const rawText = (_value: unknown, node: Node): string => `${typeName(node)}{Raw:${bytesText(undefined)}}`

const scalarTexts: Readonly<Record<ScalarNode['kind'], (value: unknown, node: Node) => string>> = {
  boolean: (value) => String(value === true),
  int32: numberText,
  int64: numberText,
  double: numberText,
  bytes: (value) => bytesText(value),
  time: (value) => timeText(value),
  microTime: (value) => timeText(value),
  quantity: (value) => goQuantity(String(value ?? '0')),
  intOrString: (value) => intOrStringText(value),
  raw: rawText,
  json: rawText,
  fieldsV1: rawText,
}

/** The Go name of a type: the package's word and its own name, including the types of which it consists. */
function typeName(node: Node): string {
  switch (node.kind) {
    case 'ref': {
      const [group = '', version = ''] = packageOf(node.name).split('/')
      return `${group === 'meta' ? version : group}.${typeOf(node.name)}`
    }
    case 'list':
      return `[]${typeName(node.items)}`
    case 'map':
      return node.values.kind === 'quantity' ? 'core.ResourceList' : `map[string]${typeName(node.values)}`
    case 'struct':
    case 'variant':
      return 'struct'
    default:
      return scalarNames[node.kind]
  }
}

const scalarNames: Readonly<Record<Exclude<Node['kind'], 'ref' | 'list' | 'map' | 'struct' | 'variant'>, string>> = {
  string: 'string',
  boolean: 'bool',
  int32: 'int32',
  int64: 'int64',
  double: 'float64',
  bytes: '[]uint8',
  time: 'v1.Time',
  microTime: 'v1.MicroTime',
  quantity: 'resource.Quantity',
  intOrString: 'intstr.IntOrString',
  raw: 'runtime.RawExtension',
  json: 'apiextensions.JSON',
  fieldsV1: 'v1.FieldsV1',
}

function structBody(type: string | undefined, struct: StructNode, value: Part): string {
  const texts: string[] = struct.hasTypeMeta
    ? [`TypeMeta:v1.TypeMeta{Kind:${textOf(value, 'kind')}, APIVersion:${textOf(value, 'apiVersion')}}`]
    : []
  for (const group of groupsOf(internalFields(type, struct))) {
    const members = group.fields.map((field) => `${goFieldName(field)}:${memberText(field, isPointer(type, field), value[field.name])}`)
    if (group.inlined === undefined) texts.push(...members)
    else texts.push(`${typeOf(group.inlined)}:${typeName({ kind: 'ref', name: group.inlined })}{${members.join(', ')}}`)
  }
  return `{${texts.join(', ')}}`
}

type Part = Readonly<Record<string, unknown>>

/** Fields of one struct. JSON shows those of an embedded struct flat, Go does not. */
interface FieldGroup {
  readonly inlined: string | undefined
  readonly fields: Field[]
}

function groupsOf(fields: readonly Field[]): readonly FieldGroup[] {
  const groups: FieldGroup[] = []
  for (const field of fields) {
    const inlined = field.inlined?.type
    const last = groups.at(-1)
    if (last !== undefined && last.inlined === inlined) last.fields.push(field)
    else groups.push({ inlined, fields: [field] })
  }
  return groups
}

function memberText({ node }: Field, isAddress: boolean, value: unknown): string {
  if (!isAddress) return print(node, value)
  const { kind } = resolveNode(node)
  const isTime = kind === 'time' || kind === 'microTime'
  if (value === undefined || value === null) return isTime ? '<nil>' : `(*${typeName(node)})(nil)`
  return isTime ? timeText(value) : `(*${typeName(node)})(${somewhere})`
}

function textOf(value: Part, name: string): string {
  const text = value[name]
  return goQuote(typeof text === 'string' ? text : '')
}

function listText(node: Node, items: Node, value: unknown): string {
  if (!Array.isArray(value)) return `${typeName(node)}(nil)`
  return `${typeName(node)}{${value.map((item: unknown) => print(items, item)).join(', ')}}`
}

function mapText(node: Node, values: Node, value: unknown): string {
  if (!isJsonObject(value)) return `${typeName(node)}(nil)`
  const members = Object.keys(value)
    .sort()
    .map((key) => `${goQuote(key)}:${print(values, value[key])}`)
  return `${typeName(node)}{${members.join(', ')}}`
}

/** An object of a type that the server does not know. */
function unknownText(value: unknown): string {
  const bytes = bytesList(new TextEncoder().encode(printValue(value)))
  return `runtime.Unknown{TypeMeta:runtime.TypeMeta{APIVersion:"", Kind:""}, Raw:${bytes}, ContentEncoding:"", ContentType:"application/json"}`
}

/** Bytes are base64 in JSON. */
function bytesText(value: unknown): string {
  const bytes = typeof value === 'string' ? parseBase64(value) : undefined
  return bytes === undefined ? '[]uint8(nil)' : bytesList(bytes)
}

/** A message shows the beginning. */
function bytesList(bytes: Uint8Array): string {
  return `[]uint8{${[...bytes.subarray(0, 65_536)].map((byte) => `0x${byte.toString(16)}`).join(', ')}}`
}

function intOrStringText(value: unknown): string {
  const isText = typeof value === 'string'
  return `intstr.IntOrString{Type:${isText ? 1 : 0}, IntVal:${isText ? 0 : String(value ?? 0)}, StrVal:${goQuote(isText ? value : '')}}`
}

const noTime = 'time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC)'

function timeText(value: unknown): string {
  const time = typeof value === 'string' ? new Date(value) : undefined
  if (time === undefined || Number.isNaN(time.getTime())) return noTime
  const clock = [time.getUTCHours(), time.getUTCMinutes(), time.getUTCSeconds(), nanosecondsOf(String(value))]
  return `time.Date(${time.getUTCFullYear()}, time.${monthNames[time.getUTCMonth()]}, ${time.getUTCDate()}, ${clock.join(', ')}, time.Local)`
}

/** A time as its method `String` prints it. */
function printedTime(value: unknown): string {
  const given = typeof value === 'string' ? value : '0001-01-01T00:00:00Z'
  const [day = '', rest = ''] = new Date(given).toISOString().split('T')
  const fraction = String(nanosecondsOf(given)).padStart(9, '0').replace(/0+$/, '')
  return `${day} ${rest.slice(0, 8)}${fraction === '' ? '' : `.${fraction}`} +0000 UTC`
}

function nanosecondsOf(text: string): number {
  return Number((/\.(\d{1,9})/.exec(text)?.[1] ?? '0').padEnd(9, '0'))
}

const monthNames = [
  ...['January', 'February', 'March', 'April', 'May', 'June'],
  ...['July', 'August', 'September', 'October', 'November', 'December'],
]
