import { type Field, isScalar, type Node, type ScalarNode, type StructNode, structDepthMax, type VariantNode } from '../description/node.ts'
import { haveSameText } from '../json/equal.ts'
import { freezeDeeply } from '../json/freeze.ts'
import { hasMembers, isJsonObject } from '../json/member.ts'
import type { BuiltIn, TypeName } from './built-in.ts'
import { findMismatch, findUnknownFields } from './inspect.ts'
import { settleNumerals } from './numerals.ts'
import { resolveNode, resolveType, typeNameAt } from './resolve.ts'
import { Mismatch, scalarReaders, tooDeepText, typeName } from './scalars.ts'

/** The error texts for a field with a value of the wrong type. */
export interface MismatchTexts {
  readonly text: string
  /** Without the field's path, which values that read themselves, such as amounts, do not know in kube-apiserver. */
  readonly textWithoutPath: string
  /** The text where kube-apiserver makes the object from values, as for a strategic merge patch. */
  readonly restoreText?: string | undefined
}

/** The result of decoding a body. */
type Decoded<T = Record<string, unknown>> =
  | { readonly kind: 'decoded'; readonly object: T; readonly unknownFields: readonly string[] }
  /** `message` begins with the field's path. */
  | ({ readonly kind: 'mismatch'; readonly path: string; readonly message: string } & MismatchTexts)

interface DecodeOptions {
  /** Name the fields that the type does not have; they are dropped either way. */
  readonly trackUnknown: boolean
  /**
   * The earlier result of this decoder: parts that are still in their places are taken unchanged, and
   * parts that are read as equal to those there are shared with it.
   */
  readonly known?: object | undefined
  /** Structs and lists that equal their reading are taken themselves: the value is not changed within any more. */
  readonly sharesAll?: boolean
  /** In an object of a custom kind null stays where validation refuses it; else it is dropped. */
  readonly keepsNulls?: boolean
  /** The value has numbers that are spelled in ways that not every field takes. */
  readonly hasNumerals?: boolean | undefined
}

/**
 * Reads parsed JSON as a value of a type: types checked, unknown fields dropped, fields in the type's order, values in
 * canonical form, empty values printed or left out as the type says. Parts that need no change are shared with the input.
 */
export type Decode<T = Record<string, unknown>> = (value: unknown, options: DecodeOptions) => Decoded<T>

const decoders = new Map<string, Decode>()

/** The decoder of a type, built at the first question. */
export function decoderOf<Name extends TypeName>(type: Name): Decode<BuiltIn<Name>>
export function decoderOf(type: string): Decode
export function decoderOf(type: string): Decode {
  const known = decoders.get(type)
  if (known !== undefined) return known
  const decode = createDecoder(resolveType(type), type)
  decoders.set(type, decode)
  return decode
}

/** The decoder of a type as a level has it. */
export function decoderAt<Name extends TypeName>(type: Name, level: number): Decode<BuiltIn<Name>>
export function decoderAt(type: string, level: number): Decode
export function decoderAt(type: string, level: number): Decode {
  return decoderOf(typeNameAt(type, level))
}

/** Parts that are taken themselves, by the node that they were read as. */
const sharedParts = new WeakMap<object, Node>()

/**
 * A part that is the same in many objects, read as its type, frozen with all that is in it, and from then on not read again.
 * A caller that changes an object in place must not reach into such a part. Throws where the value is not of the type.
 */
export function sharedPart<Name extends TypeName>(type: Name, value: object): BuiltIn<Name> {
  const read = decoderOf(type)(value, { trackUnknown: true })
  if (read.kind === 'mismatch') throw new Error(`${type}: ${read.message}`)
  if (read.unknownFields.length > 0) throw new Error(`${type}: ${read.unknownFields.map(unknownFieldText).join(', ')}`)
  const { object: part } = read
  if (!isJsonObject(part)) throw new Error(`${type}: expected an object`)
  freezeDeeply(part)
  sharedParts.set(part, resolveType(type))
  return part
}

/** True if a value was made by `sharedPart`: it is unchanged. */
export function isSharedPart(value: object): boolean {
  return sharedParts.has(value)
}

function createDecoder(node: Node, type: string): Decode {
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
      const { path, message, goText, restoreText } = findMismatch(node, type, value) ?? { path: '', message: error.message }
      const named = path === '' ? message : `${path}: ${message}`
      return { kind: 'mismatch', path, message: named, text: goText ?? named, textWithoutPath: goText ?? message, restoreText }
    }
  }
}

/** The text of the 400 that answers a body of the wrong types. */
export function decodeFailureText(kind: string, version: string, { textWithoutPath }: Pick<MismatchTexts, 'textWithoutPath'>): string {
  return `${kind} in version "${version}" cannot be handled as a ${kind}: ${textWithoutPath}`
}

/** The text of the 400 of strict validation. */
export function strictFailureText(kind: string, version: string, problems: readonly string[]): string {
  return `${kind} in version "${version}" cannot be handled as a ${kind}: strict decoding error: ${problems.join(', ')}`
}

/** The text of an unknown field in warnings and strict errors. */
export function unknownFieldText(path: string): string {
  return `unknown field "${path}"`
}

interface Seen {
  /** True if a field was dropped. Paths are found by a second, slower walk, because almost no request needs them. */
  unknown: boolean
  /** Number of open structs. */
  depth: number
  /** True if the last read map has no members: finding that out later would be another look at all of its keys. */
  isMapEmpty: boolean
  /** True if structs and lists that need no change are shared. */
  readonly sharesAll: boolean
}

interface Reader {
  /** `known` has been read before, at the same place. */
  read(value: unknown, seen: Seen, known: unknown): unknown
  /** The printed value of a non-pointer field without a value; undefined for none. */
  readonly zero: () => unknown
  /** True if the value that was read last is empty. */
  readonly isEmpty: (value: unknown, seen: Seen) => boolean
  /** `omitempty` does not apply: a struct to the type's author. */
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

/** Stands in for a reader while it is being built, so that a type may contain itself. */
function lateReader(): Reader {
  return { read: () => undefined, zero: () => undefined, isEmpty: () => false, isAlwaysPrinted: false }
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

/** Any value that is taken itself: finding out that it is known costs less than reading it once more. */
function readShared(value: unknown, _seen: Seen, known: unknown): unknown {
  return hasMembers(known) && haveSameText(value, known) ? known : value
}

const nothing: readonly never[] = []

function listReader(items: Node): Reader {
  const item = readerOf(items)
  const read = (value: unknown, seen: Seen, known: unknown): unknown => {
    if (!Array.isArray(value)) throw new Mismatch(`expected array, got ${typeName(value)}`)
    const before: readonly unknown[] = Array.isArray(known) ? known : nothing
    // The list that stood here, or the value itself, as long as every item is read as the one in it.
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
  const read = (value: unknown, seen: Seen, known: unknown): unknown => {
    const source = requireObject(value)
    // Of a large map each look at all keys takes milliseconds, so there is one.
    const names = Object.keys(source)
    let result = areSorted(names) ? source : {}
    if (result !== source) names.sort()
    for (let index = 0; index < names.length; index++) {
      const name = names[index]!
      const element = source[name]
      const kept = element === null ? inner.zero() : inner.read(element, seen, undefined)
      if (result === source) {
        if (kept === element) continue
        result = {}
        for (let done = 0; done < index; done++) setOwn(result, names[done]!, source[names[done]!])
      }
      setOwn(result, name, kept)
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

/** One field, with everything decided that can be decided before a value is seen. */
interface FieldReader {
  readonly name: string
  /** Its place in the type. */
  readonly index: number
  readonly reader: Reader
  /** Dropped when empty. */
  readonly isDroppedWhenEmpty: boolean
  /** Printed without a value. */
  readonly isPrintedWhenAbsent: boolean
  readonly isPointer: boolean
}

function structReader(node: StructNode): Reader {
  let fields: Fields | undefined
  const read = (value: unknown, seen: Seen, known: unknown): unknown => {
    fields ??= fieldsOf(node)
    if (seen.depth === structDepthMax) throw new Mismatch(tooDeepText)
    const source = requireObject(value)
    if (sharedParts.get(source) === node) return source
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

/** The fields of a struct by name, and in order those that are always printed. */
interface Fields {
  readonly byName: ReadonlyMap<string, FieldReader>
  readonly always: readonly FieldReader[]
}

function fieldsOf({ fields }: StructNode): Fields {
  const readers = fields.map(fieldReader)
  return { byName: new Map(readers.map((reader) => [reader.name, reader])), always: readers.filter((reader) => reader.isPrintedWhenAbsent) }
}

function fieldReader({ name, node, pointer = false, required, keepEmpty, omitsZero = false }: Field, index: number): FieldReader {
  const reader = readerOf(node)
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

/** Most types have many fields and most objects few of them: the loop is over the object's own members, not the type's. */
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
  // The earlier value of this place, or else the source itself, as long as every member is read as the one in it.
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
    // The earlier value of this place was kept then.
    if (!isRead || !isDropped(field, read, seen)) result[field.name] = read
  }
  for (; next < always.length; next++) printAbsent(result, always[next]!)
  // Lost where a value is of a wrong type, which does no harm.
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

/** True if two objects have the same values under the same names, in any order. */
function haveSameMembers(left: Readonly<Record<string, unknown>>, right: Readonly<Record<string, unknown>>): boolean {
  let count = 0
  for (const name in left) {
    if (left[name] !== right[name] || !Object.hasOwn(right, name)) return false
    count += 1
  }
  for (const _name in right) count -= 1
  return count === 0
}

/** Unused lists, with contents of no use. A request reads some hundred structs, a few at a time. */
const freeLists: FieldReader[][] = []

/** Keeps the first `count` in the order of the type. */
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

/** Users choose keys: `__proto__` is a key like any other and must not reach the prototype. */
function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
  else target[key] = value
}
