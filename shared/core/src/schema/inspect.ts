import { type Field, isScalar, type Node, type ScalarNode, type StructNode, structDepthMax, type VariantNode } from '../description/node.ts'
import { isJsonObject, memberPath } from '../json/member.ts'
import { packageOf, resolveNode, resolveType, typeOf } from './resolve.ts'
import { illegalByteOf, restoreText } from './restore-text.ts'
import { Mismatch, scalarReaders, tooDeepText, typeName } from './scalars.ts'

/** A value of the wrong type. `goText` is the text of kube-apiserver's decoder if it differs. */
export interface FoundMismatch {
  readonly path: string
  readonly message: string
  readonly goText?: string
  /** The text if kube-apiserver makes the object from values. */
  readonly restoreText?: string | undefined
}

/** The first level whose messages name embedded structs. */
export const embeddedNamedSince = 35

/**
 * The value of a wrong type that kube-apiserver reports, with its path; undefined if there is none. It is the first one whose type
 * parses itself, such as a time, because that ends the decoding, and else the first one.
 */
export function findMismatch(node: Node, type: string, value: unknown, namesEmbedded: boolean): FoundMismatch | undefined {
  let found: FoundMismatch | undefined
  let count = 0
  const mismatch = (path: string, message: string, { goText, restoreText, endsDecoding = false }: GoTexts = {}) => {
    count += 1
    report.isOver = endsDecoding || count === mismatchesMax
    if (found === undefined || endsDecoding) found = { path, message, ...(goText === undefined ? {} : { goText }), restoreText }
  }
  const report: Report = { mismatch, depth: 0, namesEmbedded }
  walk(node, value, { path: '', struct: typeOf(type), fields: '' }, report)
  return found
}

/** Number of wrong types after which none is expected that ends the decoding. */
const mismatchesMax = 1_000

/** Maximum number of reported unknown fields, as in kube-apiserver. */
const unknownFieldsMax = 100

/** Paths of the first unknown fields in the order of the input: `spec.containers[0].foo`. */
export function findUnknownFields(node: Node, value: unknown): string[] {
  const found: string[] = []
  const unknown = (parent: string, name: string) => {
    if (found.length < unknownFieldsMax) found.push(memberPath(parent, name))
  }
  walk(node, value, nowhere, { mismatch: () => {}, unknown, depth: 0, namesEmbedded: false })
  return found
}

/** All errors of a value of a type; a decoder stops at the first wrong type. */
export interface Inspection {
  readonly mismatches: readonly FoundMismatch[]
  /** Paths of unknown fields. */
  readonly unknown: readonly string[]
}

/** Checks a value against a type. */
export function inspectAs(type: string, value: unknown): Inspection {
  const node = resolveType(type)
  const mismatches: FoundMismatch[] = []
  const mismatch = (path: string, message: string) => mismatches.push({ path, message })
  walk(node, value, nowhere, { mismatch, depth: 0, namesEmbedded: false })
  return { mismatches, unknown: findUnknownFields(node, value) }
}

/** The position of a walk. */
interface Place {
  readonly path: string
  /** The type of the innermost struct. */
  readonly struct: string
  /** The fields of the path, without indexes and keys. */
  readonly fields: string
}

const nowhere: Place = { path: '', struct: '', fields: '' }

/** kube-apiserver's messages about a value. */
interface GoTexts {
  readonly goText?: string | undefined
  readonly restoreText?: string | undefined
  readonly endsDecoding?: boolean
}

interface Report {
  readonly mismatch: (path: string, message: string, texts?: GoTexts) => void
  /** Absent if only wrong types are searched. */
  readonly unknown?: (parent: string, name: string) => void
  /** Number of open structs. */
  depth: number
  /** True if the rest of the value does not matter. */
  isOver?: boolean
  /** True to name embedded structs in paths. */
  readonly namesEmbedded: boolean
}

/** The slow counterpart of the decoder. It tracks paths, and runs only if something is wrong. */
function walk(node: Node, value: unknown, place: Place, report: Report): void {
  if (value === null || value === undefined || report.isOver) return
  const target = resolveNode(node)
  if (isScalar(target)) {
    checkScalar({ kind: target.kind, node }, value, place, report)
    return
  }
  switch (target.kind) {
    case 'ref':
      walk(target, value, place, report)
      return
    case 'list':
      walkList(target, value, place, report)
      return
    case 'map':
      walkMap(target, value, place, report)
      return
    case 'struct':
      walkStruct({ struct: target, node }, value, place, report)
      return
    case 'variant':
      walkVariant(target, value, place, report)
      return
    case 'string':
      checkScalar({ kind: target.kind, node }, value, place, report)
      return
  }
}

/** A kind of scalar, and the node that refers to it. */
interface NamedScalar {
  readonly kind: ScalarNode['kind'] | 'string'
  readonly node: Node
}

function checkScalar({ kind, node }: NamedScalar, value: unknown, place: Place, report: Report): void {
  try {
    scalarReaders[kind].read(value)
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error
    const restored = error.isOwn ? undefined : restoreText(kind, value, goType(node))
    report.mismatch(place.path, error.message, {
      goText: error.isOwn ? undefined : scalarText(kind, value, place, node),
      restoreText: restored,
      endsDecoding: error.isOwn || innerTypes[kind] !== undefined,
    })
  }
}

function walkList(node: Extract<Node, { kind: 'list' }>, value: unknown, place: Place, report: Report): void {
  if (!Array.isArray(value)) {
    report.mismatch(place.path, `expected array, got ${typeName(value)}`, textsOf('list', value, place, node))
    return
  }
  for (const [index, element] of value.entries()) walk(node.items, element, { ...place, path: `${place.path}[${index}]` }, report)
}

function walkMap(node: Extract<Node, { kind: 'map' }>, value: unknown, place: Place, report: Report): void {
  if (!isJsonObject(value)) {
    report.mismatch(place.path, `expected object, got ${typeName(value)}`, textsOf('map', value, place, node))
    return
  }
  for (const [key, element] of Object.entries(value)) walk(node.values, element, { ...place, path: memberPath(place.path, key) }, report)
}

/** A struct, and the node that refers to it. */
interface NamedStruct {
  readonly struct: StructNode
  readonly node: Node
}

function walkStruct({ struct: { fields: known }, node }: NamedStruct, value: unknown, place: Place, report: Report): void {
  const { path, fields: above } = place
  if (!isJsonObject(value)) {
    report.mismatch(path, `expected object, got ${typeName(value)}`, textsOf('struct', value, place, node))
    return
  }
  if (report.depth === structDepthMax) {
    report.mismatch(path, tooDeepText)
    return
  }
  report.depth += 1
  const struct = node.kind === 'ref' ? typeOf(node.name) : place.struct
  const fields = new Map(known.map((field) => [field.name, field]))
  for (const name in value) {
    const element = value[name]
    const field = fields.get(name)
    if (field === undefined) report.unknown?.(path, name)
    else
      walk(
        field.node,
        element,
        { path: memberPath(path, name), struct, fields: memberPath(above, report.namesEmbedded ? goPathOf(field) : name) },
        report,
      )
  }
  report.depth -= 1
}

/** The name of a field after the structs from which it is inlined, as in Go's decoder. */
function goPathOf({ name, inlined }: Field): string {
  const names = [name]
  for (let at = inlined; at !== undefined; at = at.inner) names.splice(-1, 0, typeOf(at.type))
  return names.join('.')
}

/** A variant parses itself in kube-apiserver, which reports no unknown fields in it. */
function walkVariant(node: VariantNode, value: unknown, place: Place, report: Report): void {
  if (report.unknown !== undefined || (node.boolean !== undefined && typeof value === 'boolean')) return
  if (node.boolean !== undefined && !isJsonObject(value)) {
    const text = 'boolean or JSON schema expected'
    report.mismatch(place.path, text, { goText: text, restoreText: text, endsDecoding: true })
    return
  }
  const form = node.array !== undefined && Array.isArray(value) ? node.array : node.object
  walk(form.node, value, place, report)
}

function textsOf(kind: 'list' | 'map' | 'struct', value: unknown, place: Place, node: Node): GoTexts {
  return { goText: typeText(value, place, goType(node)), restoreText: restoreText(kind, value, undefined) }
}

function typeText(value: unknown, { struct, fields }: Place, type: string | undefined): string | undefined {
  if (type === undefined || fields === '') return undefined
  const found = typeof value === 'boolean' ? 'bool' : typeName(value)
  const isWrongNumber = found === 'number' && /^u?int|^float/.test(type)
  return `json: cannot unmarshal ${found}${isWrongNumber ? ` ${value}` : ''} into Go struct field ${struct}.${fields} of type ${type}`
}

function scalarText(kind: ScalarNode['kind'] | 'string', value: unknown, place: Place, node: Node): string | undefined {
  if (kind === 'bytes' && typeof value === 'string') return `illegal base64 data at input byte ${illegalByteOf(value)}`
  return typeText(value, place, innerTypes[kind] ?? goType(node))
}

/** Types that parse themselves from a value of another type, whose name is in the message. */
const innerTypes: Readonly<Partial<Record<ScalarNode['kind'] | 'string', string>>> = {
  intOrString: 'int32',
  time: 'string',
  microTime: 'string',
}

const goScalars: Readonly<Partial<Record<Node['kind'], string>>> = {
  string: 'string',
  boolean: 'bool',
  int32: 'int32',
  int64: 'int64',
  double: 'float64',
  bytes: '[]uint8',
}

/** The Go type of a node; undefined for types that parse themselves and have their own messages. */
function goType(node: Node): string | undefined {
  switch (node.kind) {
    case 'ref':
      return `${packageOf(node.name).split('/').at(-1)}.${typeOf(node.name)}`
    case 'list':
      return prefixed('[]', node.items)
    case 'map':
      return node.values.kind === 'quantity' ? 'v1.ResourceList' : prefixed('map[string]', node.values)
    default:
      return goScalars[node.kind]
  }
}

function prefixed(prefix: string, node: Node): string | undefined {
  const type = goType(node)
  return type === undefined ? undefined : prefix + type
}
