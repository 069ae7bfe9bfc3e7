import { getOrMake } from '@orch/cel/memo'
import { plainNameOf } from '../description/levels.ts'
import { type Field, isScalar, type Node, type ScalarNode, type StructNode, structDepthMax, type VariantNode } from '../description/node.ts'
import { freezeDeeply, hasMembers, haveSameText, isJsonObject, setMember } from '../json/index.ts'
import type { BuiltIn, TypeName } from './built-in.ts'
import { embeddedNamedSince, findMismatch, findUnknownFields } from './inspect.ts'
import { settleNumerals } from './numerals.ts'
import { resolveNode, resolveType, typeNameAt } from './resolve.ts'
import { Mismatch, scalarReaders, tooDeepText, typeName } from './scalars.ts'

/** The error texts for a value of the wrong type. */
export interface MismatchTexts {
  readonly text: string
  /** The error without the field's path. Types that parse themselves, such as quantities, do not know the path in kube-apiserver. */
  readonly textWithoutPath: string
  /** The error if kube-apiserver makes the object from values, as for a strategic merge patch. */
  readonly restoreText?: string | undefined
}

/** The result of decoding a body. */
type Decoded<T = Record<string, unknown>> =
  | { readonly kind: 'decoded'; readonly object: T; readonly unknownFields: readonly string[] }
  /** `message` begins with the field's path. */
  | ({ readonly kind: 'mismatch'; readonly path: string; readonly message: string } & MismatchTexts)

interface DecodeOptions {
  /** True to collect the names of unknown fields, which are dropped in any case. */
  readonly trackUnknown: boolean
  /**
   * An earlier result of this decoder. Parts of it that are still in place are reused without reading, and
   * equal new parts are replaced by its parts.
   */
  readonly known?: object | undefined
  /** True if structs and lists that equal their decoded form may be reused, because the caller no longer changes the value. */
  readonly sharesAll?: boolean
  /** For custom kinds: true to keep a null that validation refuses; other nulls are dropped. */
  readonly keepsNulls?: boolean
  /** For custom kinds: the object that the value replaces. If it is read without defaults since they are too many, so is the value. */
  readonly old?: unknown
  /** True if the value contains numbers whose spelling some fields refuse. */
  readonly hasNumerals?: boolean | undefined
}

/**
 * Decodes parsed JSON as a type: checks types, drops unknown fields, orders fields as in the type, and brings values to
 * canonical form. The type decides if empty values are printed. Parts that need no change are shared with the input.
 */
export type Decode<T = Record<string, unknown>> = (value: unknown, options: DecodeOptions) => Decoded<T>

const decoders = new Map<string, Decode>()

/** The decoder of a type, created at first use, with the messages of a level. */
export function decoderOf<Name extends TypeName>(type: Name, level?: number): Decode<BuiltIn<Name>>
export function decoderOf(type: string, level?: number): Decode
export function decoderOf(type: string, level = embeddedNamedSince): Decode {
  const namesEmbedded = level >= embeddedNamedSince
  return getOrMake(decoders, namesEmbedded ? type : `${type} older`, () => createDecoder(resolveType(type), type, namesEmbedded))
}

/** The decoder of a type at a level. */
export function decoderAt<Name extends TypeName>(type: Name, level: number): Decode<BuiltIn<Name>>
export function decoderAt(type: string, level: number): Decode
export function decoderAt(type: string, level: number): Decode {
  return decoderOf(typeNameAt(type, level), level)
}

/** Parts that are reused without reading once they are frozen, with the node of their type: those of `sharedPart`, and decoded Pod specs. */
const sharedParts = new WeakMap<object, Node>()

/**
 * Decodes a part that many objects share, and freezes it deeply; later it is not decoded again.
 * Callers that change an object in place must not change such a part. Throws if the value does not have the type.
 */
export function sharedPart<Name extends TypeName>(type: Name, value: object): BuiltIn<Name>
export function sharedPart(type: string, value: object): object
export function sharedPart(type: string, value: object): object {
  const read = decoderOf(type)(value, { trackUnknown: true })
  if (read.kind === 'mismatch') throw new Error(`${type}: ${read.message}`)
  if (read.unknownFields.length > 0) throw new Error(`${type}: ${read.unknownFields.map(unknownFieldText).join(', ')}`)
  const { object: part } = read
  if (!isJsonObject(part)) throw new Error(`${type}: expected an object`)
  freezeDeeply(part)
  sharedParts.set(part, resolveType(type))
  return part
}

/** True for a part that many objects may share: a frozen one that was made by `sharedPart`, or a decoded Pod spec. */
export function isSharedPart(value: object): boolean {
  return Object.isFrozen(value) && sharedParts.has(value)
}

function createDecoder(node: Node, type: string, namesEmbedded: boolean): Decode {
  const reader = readerOf(node)
  return (given, { trackUnknown, known, sharesAll = false, hasNumerals = false }) => {
    const seen: Seen = { unknown: false, depth: 0, isMapEmpty: false, sharesAll }
    let value = given
    try {
      if (hasNumerals) value = settleNumerals(node, given)
      const object = reader.read(value, seen, known) as Record<string, unknown>
      return { kind: 'decoded', object, unknownFields: trackUnknown && seen.unknown ? findUnknownFields(node, value) : [] }
    } catch (error) {
      if (!(error instanceof Mismatch)) throw error
      const { path, message, goText, restoreText } = findMismatch(node, type, value, namesEmbedded) ?? { path: '', message: error.message }
      const named = path === '' ? message : `${path}: ${message}`
      return { kind: 'mismatch', path, message: named, text: goText ?? named, textWithoutPath: goText ?? message, restoreText }
    }
  }
}

/** The message of the 400 for a body with a wrong type. */
export function decodeFailureText(kind: string, version: string, { textWithoutPath }: Pick<MismatchTexts, 'textWithoutPath'>): string {
  return `${kind} in version "${version}" cannot be handled as a ${kind}: ${textWithoutPath}`
}

/** The message of the 400 for strict validation. */
export function strictFailureText(kind: string, version: string, problems: readonly string[]): string {
  return `${kind} in version "${version}" cannot be handled as a ${kind}: strict decoding error: ${problems.join(', ')}`
}

/** The message about an unknown field, for warnings and strict errors. */
export function unknownFieldText(path: string): string {
  return `unknown field "${path}"`
}

interface Seen {
  /** True if a field was dropped. A second, slower walk finds the paths, which almost no request needs. */
  unknown: boolean
  /** Number of open structs. */
  depth: number
  /** True if the last map has no members, so that its keys need not be enumerated again. */
  isMapEmpty: boolean
  /** True if unchanged structs and lists are shared with the input. */
  readonly sharesAll: boolean
}

interface Reader {
  /** `known` was read earlier at the same place. */
  read(value: unknown, seen: Seen, known: unknown): unknown
  /** The printed value of a non-pointer field without a value; undefined if it is omitted. */
  readonly zero: () => unknown
  /** True if the value just read is empty. */
  readonly isEmpty: (value: unknown, seen: Seen) => boolean
  /** True if `omitempty` has no effect because the Go type is a struct. */
  readonly isAlwaysPrinted: boolean
}

const readers = new WeakMap<Node, Reader>()

function readerOf(node: Node): Reader {
  const target = resolveNode(node)
  const known = readers.get(target)
  if (known !== undefined) return known
  const reader = lateReader()
  readers.set(target, reader)
  Object.assign(reader, createReader(target))
  return reader
}

/** A placeholder for a reader that is being created, so that a type may contain itself. */
function lateReader(): Reader {
  return { read: () => undefined, zero: () => undefined, isEmpty: () => false, isAlwaysPrinted: false }
}

/** A reader that describes a referenced type when a value first has it, since most values lack most fields. */
function deferredReader(node: Node): Reader {
  if (node.kind !== 'ref') return readerOf(node)
  const reader: Reader = {
    read: (value, seen, known) => described().read(value, seen, known),
    zero: () => described().zero(),
    isEmpty: (value, seen) => described().isEmpty(value, seen),
    isAlwaysPrinted: false,
  }
  const described = (): Reader => Object.assign(reader, readerOf(node))
  return reader
}

function createReader(node: Node): Reader {
  if (isScalar(node)) return scalarReader(node.kind)
  switch (node.kind) {
    case 'ref':
      return readerOf(node)
    case 'list':
      return listReader(node.items)
    case 'map':
      return mapReader(node.values)
    case 'struct':
      return structReader(node)
    case 'variant':
      return variantReader(node)
    case 'string':
      return scalarReader(node.kind)
  }
}

function scalarReader(kind: ScalarNode['kind'] | 'string'): Reader {
  const { zero, isAlwaysPrinted } = scalarReaders[kind]
  const read = kind === 'fieldsV1' ? readShared : scalarReaders[kind].read
  const isEmpty = kind === 'bytes' ? (value: unknown) => value === '' : (value: unknown) => value === zero
  return { read, zero: () => zero, isEmpty, isAlwaysPrinted }
}

/** Reads a value that is always reused; checking if it is known is cheaper than reading it again. */
function readShared(value: unknown, _seen: Seen, known: unknown): unknown {
  return hasMembers(known) && haveSameText(value, known) ? known : value
}

const nothing: readonly never[] = []

function listReader(items: Node): Reader {
  const item = deferredReader(items)
  const read = (value: unknown, seen: Seen, known: unknown): unknown => {
    if (!Array.isArray(value)) throw new Mismatch(`expected array, got ${typeName(value)}`)
    const before: readonly unknown[] = Array.isArray(known) ? known : nothing
    // `known` or the value itself, as long as every item equals the corresponding item in it.
    let isKnown = before === known && before.length === value.length
    let isSame = seen.sharesAll
    let result = isKnown || isSame ? undefined : new Array<unknown>(value.length)
    for (let index = 0; index < value.length; index++) {
      const element: unknown = value[index]
      const former = before[index]
      const read = element === null ? item.zero() : element === former ? element : item.read(element, seen, former)
      if (result === undefined) {
        const whole: readonly unknown[] = isKnown ? before : value
        if (isKnown && read !== former) isKnown = false
        if (isSame && read !== element) isSame = false
        if (isKnown || isSame) continue
        result = new Array<unknown>(value.length)
        for (let done = 0; done < index; done++) result[done] = whole[done]
      }
      result[index] = read
    }
    return result ?? (isKnown ? before : value)
  }
  return { read, zero: () => null, isEmpty: (value) => (value as unknown[]).length === 0, isAlwaysPrinted: false }
}

function mapReader(values: Node): Reader {
  const inner = readerOf(values)
  // Null is the empty value in a map of bytes, and only there.
  const zero = resolveNode(values).kind === 'bytes' ? () => '' : inner.zero
  const read = (value: unknown, seen: Seen, known: unknown): unknown => {
    const source = requireObject(value)
    // Enumerating the keys of a large map takes milliseconds, so it is done once.
    const names = Object.keys(source)
    // A frozen map is shared with other readers, and the caller may change the result.
    let result = areSorted(names) && (seen.sharesAll || !Object.isFrozen(source)) ? source : {}
    if (result !== source) names.sort()
    for (let index = 0; index < names.length; index++) {
      const name = names[index]!
      const element = source[name]
      const kept = element === null ? zero() : inner.read(element, seen, undefined)
      if (result === source) {
        if (kept === element) continue
        result = {}
        for (let done = 0; done < index; done++) setMember(result, names[done]!, source[names[done]!])
      }
      setMember(result, name, kept)
    }
    seen.isMapEmpty = names.length === 0
    return hasMembers(known) && haveSameMembers(result, known) ? known : result
  }
  return { read, zero: () => null, isEmpty: (_, { isMapEmpty }) => isMapEmpty, isAlwaysPrinted: false }
}

function variantReader(node: VariantNode): Reader {
  const object = readerOf(node.object.node)
  const array = node.array === undefined ? undefined : readerOf(node.array.node)
  const read = (value: unknown, seen: Seen, known: unknown): unknown => {
    if (node.boolean !== undefined && typeof value === 'boolean') return value
    return array !== undefined && Array.isArray(value) ? array.read(value, seen, known) : object.read(value, seen, known)
  }
  return { read, zero: () => null, isEmpty: () => false, isAlwaysPrinted: true }
}

/** A field, with everything that can be decided without a value. */
interface FieldReader {
  readonly name: string
  /** Its index in the type. */
  readonly index: number
  readonly reader: Reader
  /** True if an empty value is dropped. */
  readonly isDroppedWhenEmpty: boolean
  /** True if the field is printed without a value. */
  readonly isPrintedWhenAbsent: boolean
  readonly isPointer: boolean
}

function structReader(node: StructNode): Reader {
  let fields: Fields | undefined
  const read = (value: unknown, seen: Seen, known: unknown): unknown => {
    fields ??= fieldsOf(node)
    if (seen.depth === structDepthMax) throw new Mismatch(tooDeepText)
    const source = requireObject(value)
    if (Object.isFrozen(source) && sharedParts.get(source) === node) return source
    seen.depth += 1
    const before = hasMembers(known) ? known : undefined
    const result = readStruct(fields, source, seen, before)
    seen.depth -= 1
    return result
  }
  return {
    read,
    zero: () => read({}, { unknown: false, depth: 0, isMapEmpty: false, sharesAll: false }, undefined),
    isEmpty: () => false,
    isAlwaysPrinted: true,
  }
}

/** The fields of a struct by name, and a list of those that are always printed. */
interface Fields {
  readonly byName: ReadonlyMap<string, FieldReader>
  readonly always: readonly FieldReader[]
}

function fieldsOf({ fields }: StructNode): Fields {
  const readers = fields.map(fieldReader)
  return { byName: new Map(readers.map((reader) => [reader.name, reader])), always: readers.filter((reader) => reader.isPrintedWhenAbsent) }
}

function fieldReader({ name, node, pointer = false, required, keepEmpty, omitsZero = false }: Field, index: number): FieldReader {
  const isPodSpec = node.kind === 'ref' && plainNameOf(node.name) === 'core/v1.PodSpec'
  const reader = isPodSpec ? sharingReader(node) : pointer ? deferredReader(node) : readerOf(node)
  const omitsEmpty = !required && !keepEmpty
  const isStructLike = reader.isAlwaysPrinted && !pointer && !omitsZero
  return {
    name,
    index,
    reader,
    isPointer: pointer,
    isDroppedWhenEmpty: omitsEmpty && !pointer && !isStructLike,
    isPrintedWhenAbsent: !omitsEmpty || isStructLike,
  }
}

/** A reader whose results later objects share, once a write has frozen them. */
function sharingReader(node: Node): Reader {
  const [reader, target] = [readerOf(node), resolveNode(node)]
  const read: Reader['read'] = (value, seen, known) => {
    const result = reader.read(value, seen, known)
    if (isJsonObject(result)) sharedParts.set(result, target)
    return result
  }
  return { ...reader, read }
}

/** Reads a struct. The loop is over the object's members, since most types have many fields and most objects few. */
function readStruct(
  { byName, always }: Fields,
  source: Record<string, unknown>,
  seen: Seen,
  known: Record<string, unknown> | undefined,
): Record<string, unknown> {
  const present = freeLists.pop() ?? []
  let count = 0
  let last = -1
  let printed = 0
  let isInOrder = true
  for (const name in source) {
    const field = byName.get(name)
    const value = source[name]
    if (field === undefined) {
      isInOrder = false
      if (value !== undefined) seen.unknown = true
    } else if (value === undefined || value === null) {
      isInOrder = false
    } else {
      if (field.index > last) {
        present[count] = field
        last = field.index
      } else {
        isInOrder = false
        insert(present, count, field)
      }
      if (field.isPrintedWhenAbsent) printed += 1
      count += 1
    }
  }
  const isWhole = isInOrder && printed === always.length
  // `known` or the source itself, as long as every member equals the corresponding member in it.
  const whole = isWhole ? (known ?? (seen.sharesAll ? source : undefined)) : undefined
  let at = 0
  let other: unknown
  if (whole !== undefined) {
    for (; at < count; at++) {
      const field = present[at]!
      const value = source[field.name]
      const before = known?.[field.name]
      other = value === before ? value : field.reader.read(value, seen, before)
      if (known === undefined ? other !== value || isDropped(field, other, seen) : other !== before) break
    }
    if (at === count && (known === undefined || countMembers(known) === count)) {
      freeLists.push(present)
      return whole
    }
  }
  const result: Record<string, unknown> = {}
  for (let done = 0; done < at; done++) result[present[done]!.name] = whole![present[done]!.name]
  const readAlready = whole === undefined ? -1 : at
  let next = isWhole ? always.length : 0
  let isKnown = known !== undefined && !isWhole
  for (; at < count; at++) {
    const field = present[at]!
    for (; next < always.length && always[next]!.index <= field.index; next++) {
      if (always[next] !== field) printAbsent(result, always[next]!)
    }
    const value = source[field.name]
    const before = known?.[field.name]
    const isRead = at === readAlready || value !== before
    const read = at === readAlready ? other : isRead ? field.reader.read(value, seen, before) : value
    if (read !== before) isKnown = false
    // An earlier value was reused in this case.
    if (!isRead || !isDropped(field, read, seen)) result[field.name] = read
  }
  for (; next < always.length; next++) printAbsent(result, always[next]!)
  // If a value has a wrong type, the list is not returned to the pool, which is harmless.
  freeLists.push(present)
  return isKnown && known !== undefined && haveSameMembers(result, known) ? known : result
}

function isDropped({ isDroppedWhenEmpty, reader }: FieldReader, read: unknown, seen: Seen): boolean {
  return isDroppedWhenEmpty && reader.isEmpty(read, seen)
}

function countMembers(object: object): number {
  let count = 0
  for (const _ in object) count += 1
  return count
}

/** True if two objects have equal members, in any order. */
function haveSameMembers(left: Readonly<Record<string, unknown>>, right: Readonly<Record<string, unknown>>): boolean {
  let count = 0
  for (const name in left) {
    if (left[name] !== right[name] || !Object.hasOwn(right, name)) return false
    count += 1
  }
  for (const _name in right) count -= 1
  return count === 0
}

/** A pool of lists. A request reads several hundred structs, few of them at a time. */
const freeLists: FieldReader[][] = []

/** Inserts a field into the first `count` items, in the order of the type. */
function insert(list: FieldReader[], count: number, field: FieldReader): void {
  let at = count
  for (; at > 0 && list[at - 1]!.index > field.index; at--) list[at] = list[at - 1]!
  list[at] = field
}

function printAbsent(result: Record<string, unknown>, { name, isPointer, reader }: FieldReader): void {
  result[name] = isPointer ? null : reader.zero()
}

function requireObject(value: unknown): Record<string, unknown> {
  if (!isJsonObject(value)) throw new Mismatch(`expected object, got ${typeName(value)}`)
  return value
}

function areSorted(names: readonly string[]): boolean {
  for (let index = 1; index < names.length; index++) if (names[index]! < names[index - 1]!) return false
  return true
}
