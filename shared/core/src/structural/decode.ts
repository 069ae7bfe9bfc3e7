import { memo } from '@orch/cel/memo'
import { copyValue, hasMembers, isJsonObject, printBare, printJson } from '../json/index.ts'
import { joinedPath } from './field-path.ts'
import { ObjectDraft, OutOfBounds, objectDepthMax, sortedValue } from './json-value.ts'
import { objectMembers, readObjectMeta } from './object-meta.ts'
import type { StructuralSchema } from './schema.ts'

type Json = Readonly<Record<string, unknown>>

/** The options of a walk, which always sorts members by name. */
export interface WalkOptions {
  /** True to drop unknown fields, and nulls that are not allowed and have no default. */
  readonly prunes: boolean
  /** True to keep nulls that validation will refuse. */
  readonly keepsNulls?: boolean | undefined
  /** True to fill in defaults. */
  readonly fillsDefaults: boolean
  /** The handling of metadata in embedded objects: fields of a wrong type are dropped or refused. */
  readonly embedded: 'dropMalformed' | 'refuseMalformed' | 'keep'
  /** True if the value is an object whose `apiVersion`, `kind` and `metadata` are kept unchanged. */
  readonly isRoot: boolean
}

/** The result of a walk. */
export interface Walked<Value = unknown> {
  readonly value: Value
  /** True if an unknown field was dropped. A separate walk finds the paths. */
  readonly hasUnknown: boolean
}

/** An embedded object has an invalid type of its own. */
export class MalformedEmbedded extends Error {}

/**
 * Prunes, defaults and sorts a parsed value, and reads the metadata of embedded objects, in one walk. Unchanged parts
 * are shared with the input, and with `known`, an earlier result of such a walk.
 * Throws `MalformedEmbedded` and `OutOfBounds`.
 */
export function walkValue(schema: StructuralSchema, value: unknown, options: WalkOptions, known?: unknown): Walked {
  if (options.isRoot && isJsonObject(value)) return walkObject(schema, value, options, known)
  const walk: Walk = { ...options, hasUnknown: false, depth: 0, names: [], filled: { values: 0 } }
  return { value: readerOf(schema).read(value, walk, known), hasUnknown: walk.hasUnknown }
}

/** Like `walkValue`, for an object with `apiVersion`, `kind` and `metadata`. */
export function walkObject(schema: StructuralSchema, object: Json, options: Omit<WalkOptions, 'isRoot'>, known?: unknown): Walked<Json> {
  const walk: Walk = { ...options, isRoot: true, hasUnknown: false, depth: 0, names: [], filled: { values: 0 } }
  return { value: readObject(readerOf(schema), object, walk, known), hasUnknown: walk.hasUnknown }
}

interface Walk extends WalkOptions {
  hasUnknown: boolean
  depth: number
  /** The names and indexes of the path, kept for messages about refused metadata. */
  readonly names: (string | number)[]
  /** The number of values that defaults have added. */
  readonly filled: { values: number }
}

/** Maximum number of values that defaults add to one object. The store would refuse a larger object. */
const filledValuesMax = 100_000
/** Number of characters that count as one value. */
const charactersPerValue = 32

/** The number of values in a default. */
const valuesOfDefault = memo(({ default: given }: StructuralSchema): number => {
  let values = 1
  const copy = copyValue(given?.value, (count) => {
    values += count
  })
  return Math.max(values, printJson(copy).length / charactersPerValue)
})

/** A schema, with everything that can be decided without a value. Readers of subschemas are created at first use. */
interface Reader {
  readonly schema: StructuralSchema
  readonly property: (name: string) => Reader | undefined
  readonly items: () => Reader | undefined
  /** The reader of undeclared members: `nothing` if they are allowed without a schema, undefined if they are not allowed. */
  readonly values: () => Reader | undefined
  /** Properties with a default. */
  readonly defaulted: () => readonly [string, Reader][]
  read(value: unknown, walk: Walk, known: unknown): unknown
}

/** The reader of a schema's values. */
const readerOf: (schema: StructuralSchema) => Reader = memo(createReader)

function createReader(schema: StructuralSchema): Reader {
  const properties = new Map<string, Reader>()
  let defaulted: [string, Reader][] | undefined
  const reader: Reader = {
    schema,
    property: (name) => {
      const made = properties.get(name)
      if (made !== undefined) return made
      const property = schema.properties?.get(name)
      if (property === undefined) return undefined
      const child = readerOf(property)
      properties.set(name, child)
      return child
    },
    items: () => (schema.items === undefined ? undefined : readerOf(schema.items)),
    values: () => valuesOf(schema),
    defaulted: () => {
      defaulted ??= [...(schema.properties ?? [])].flatMap(([name, property]) => (hasDefault(property) ? [[name, readerOf(property)]] : []))
      return defaulted
    },
    read: (value, walk, before) => {
      if (!hasMembers(value)) return value
      if (Array.isArray(value)) return readList(reader, value, walk, before)
      return readObject(reader, value, walk, before)
    },
  }
  return reader
}

/** An empty schema: below it, only scalars and empty containers are kept. */
const nothing: StructuralSchema = Object.freeze({})

function valuesOf({ additionalProperties }: StructuralSchema): Reader | undefined {
  if (additionalProperties === undefined) return undefined
  return readerOf(typeof additionalProperties === 'boolean' ? nothing : additionalProperties)
}

/** True if a schema has a default. Like kube-apiserver, treats null as absent. */
function hasDefault(schema: StructuralSchema): boolean {
  return schema.default !== undefined && schema.default.value !== null
}

function readList(reader: Reader, list: readonly unknown[], walk: Walk, known: unknown): readonly unknown[] {
  if (++walk.depth > objectDepthMax) throw new OutOfBounds()
  const items = reader.items()
  const before: readonly unknown[] = Array.isArray(known) ? known : []
  let result: unknown[] | undefined
  for (let index = 0; index < list.length; index++) {
    const item = list[index]
    if (typeof item !== 'object' || (item !== null && item === before[index])) continue
    walk.names.push(index)
    const read =
      item === null ? nullItem(items, walk) : items !== undefined ? items.read(item, walk, before[index]) : freeItem(reader, item, walk)
    walk.names.pop()
    if (read === item) continue
    result ??= [...list]
    result[index] = read
  }
  walk.depth -= 1
  return result ?? list
}

/** A null item stays if it has no default; validation refuses it if it is not allowed. */
function nullItem(items: Reader | undefined, walk: Walk): unknown {
  if (items === undefined || items.schema.nullable === true || !walk.fillsDefaults || !hasDefault(items.schema)) return null
  return defaultOf(items, walk)
}

/** Reads an item of a list without an item schema. */
function freeItem(reader: Reader, item: unknown, walk: Walk): unknown {
  return keepsAll(reader, walk) ? sortedValue(item, walk.depth) : readerOf(nothing).read(item, walk, undefined)
}

function keepsAll({ schema }: Reader, walk: Walk): boolean {
  return schema.preservesUnknownFields === true || !walk.prunes
}

function readObject(
  reader: Reader,
  object: Readonly<Record<string, unknown>>,
  walk: Walk,
  known: unknown,
): Readonly<Record<string, unknown>> {
  if (++walk.depth > objectDepthMax) throw new OutOfBounds()
  const isResource = reader.schema.isEmbeddedResource === true || (walk.isRoot && walk.depth === 1)
  const before = isJsonObject(known) ? known : undefined
  const draft = new ObjectDraft(object)
  const values = reader.values()
  for (const name in object) {
    const value = object[name]
    if (before !== undefined && value === before[name] && value !== null) {
      draft.keep(name, value)
      continue
    }
    if (isResource && objectMembers.has(name)) {
      readObjectMember(reader, draft, name, value, walk)
      continue
    }
    const field = reader.property(name) ?? values
    if (field !== undefined) readField(field, draft, name, value, walk, before?.[name])
    else if (keepsAll(reader, walk)) draft.keep(name, sortedValue(value, walk.depth))
    else {
      walk.hasUnknown = true
      draft.drop()
    }
  }
  if (walk.fillsDefaults) {
    for (const [name, field] of reader.defaulted()) {
      if (Object.hasOwn(object, name)) continue
      const value = defaultOf(field, walk)
      draft.add(name, isResource && name === 'metadata' && walk.embedded !== 'keep' ? soundMeta(value) : value)
    }
  }
  walk.depth -= 1
  return draft.finish()
}

function readField(field: Reader, draft: ObjectDraft, name: string, value: unknown, walk: Walk, known: unknown): void {
  if (value === null && field.schema !== nothing && field.schema.nullable !== true) {
    if (!hasDefault(field.schema)) {
      if (walk.prunes && !(walk.keepsNulls === true && refusesNull(field.schema))) draft.drop()
      else draft.keep(name, null)
    } else draft.keep(name, walk.fillsDefaults ? defaultOf(field, walk) : null)
    return
  }
  if (typeof value !== 'object') {
    draft.keep(name, value)
    return
  }
  walk.names.push(name)
  draft.keep(name, field.read(value, walk, known))
  walk.names.pop()
}

/** True if null has the wrong type here; a schema without a type allows null. */
function refusesNull({ type, isIntOrString }: StructuralSchema): boolean {
  return type !== undefined || isIntOrString === true
}

/**
 * A default may itself be incomplete. It is not pruned, because the definition would have been refused, except for
 * the metadata of embedded objects, which may contain fields that ObjectMeta lacks.
 */
function defaultOf({ schema, read }: Reader, walk: Walk): unknown {
  const embedded = walk.embedded === 'keep' ? 'keep' : 'dropMalformed'
  walk.filled.values += valuesOfDefault(schema)
  if (walk.filled.values > filledValuesMax) throw new OutOfBounds(`defaults add more than ${filledValuesMax.toLocaleString('en')} values`)
  return read(copyValue(schema.default?.value), { ...walk, prunes: false, embedded, hasUnknown: false }, undefined)
}

function readObjectMember(reader: Reader, draft: ObjectDraft, name: string, value: unknown, walk: Walk): void {
  const isOuter = walk.names.length === 0 && walk.isRoot
  if (isOuter || walk.embedded === 'keep') draft.keep(name, withDefaults(reader, name, value, walk))
  else if (name === 'metadata') draft.keep(name, completeMeta(reader, embeddedMeta(value, walk), walk))
  else if (typeof value === 'string') draft.keep(name, value)
  else if (walk.embedded === 'dropMalformed') draft.drop()
  else throw new MalformedEmbedded(`${joinedPath([...walk.names, name])}: Invalid value: ${printBare(value)}: must be a string`)
}

function embeddedMeta(value: unknown, walk: Walk): unknown {
  const read = readObjectMeta(value, { dropsMalformed: walk.embedded === 'dropMalformed', trackUnknown: !walk.hasUnknown })
  if (read.kind === 'read') {
    if (read.unknownFields.length > 0) walk.hasUnknown = true
    return read.meta
  }
  if (walk.embedded === 'dropMalformed') return value
  throw new MalformedEmbedded(`${joinedPath([...walk.names, 'metadata'])}: Invalid value: ${printBare(value)}: ${read.text}`)
}

/** The metadata of an embedded object, completed with the defaults of its schema. */
function completeMeta(reader: Reader, meta: unknown, walk: Walk): unknown {
  const complete = withDefaults(reader, 'metadata', meta, walk)
  return complete === meta ? meta : soundMeta(complete)
}

/** Metadata without members that ObjectMeta lacks. */
function soundMeta(meta: unknown): unknown {
  const read = readObjectMeta(meta, { dropsMalformed: true, trackUnknown: false })
  return read.kind === 'read' ? read.meta : meta
}

/** Fills in the defaults of an embedded object's metadata. */
function withDefaults(reader: Reader, name: string, value: unknown, walk: Walk): unknown {
  const field = walk.fillsDefaults ? reader.property(name) : undefined
  return field === undefined ? value : field.read(value, { ...walk, prunes: false, embedded: 'keep', isRoot: false }, undefined)
}
