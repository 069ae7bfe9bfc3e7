import { memo } from '../memo.ts'
import { isList, isMap, itemsOf, listAt, listSize, mapGet, mapSize } from './collections.ts'
import { equal } from './equal.ts'
import { escapeProperty } from './escape.ts'
import type { Meter, Source } from './meter.ts'
import { parseDate, parseDuration, parseTimestamp } from './time.ts'
import { CelError, isInt, ListView, MapView, noSuchOverload, toDouble, type Value } from './values.ts'

/**
 * A schema node's view of plain JSON as a value. A `plain` node means JSON that reads the same without a schema; it is read in place, with
 * everything below it.
 */
export type ViewNode =
  | { readonly kind: 'plain' }
  /** A list whose items are read in place. */
  | { readonly kind: 'plainList'; readonly allowsNull: boolean }
  /** A node that refuses null. */
  | { readonly kind: 'nonNull'; readonly node: ViewNode }
  | { readonly kind: 'double' | 'bytes' | 'timestamp' | 'date' | 'duration' | 'intOrString' }
  | { readonly kind: 'object'; readonly typeName: string; readonly fields: ReadonlyMap<string, FieldNode> }
  | { readonly kind: 'map'; readonly values: ViewNode }
  | { readonly kind: 'list'; readonly items: ViewNode; readonly rule: ListRule }

/** A field of an object under its escaped name in expressions. A null is treated as absent. */
export interface FieldNode {
  /** The property of the JSON object. */
  readonly property: string
  readonly node: ViewNode
}

/** The rule for comparing lists and for `+`: in order, without order, or by keys, which are properties of the items. */
export type ListRule = { readonly kind: 'atomic' } | { readonly kind: 'set' } | { readonly kind: 'map'; readonly keys: readonly string[] }

/** A node that needs no view. */
export const plainNode: ViewNode = { kind: 'plain' }

/** A JSON value as seen through its node; an error if the value does not fit the node. */
export function viewOf(meter: Meter, node: ViewNode, json: unknown): Value {
  switch (node.kind) {
    case 'plain':
      return json
    case 'double':
      return typeof json === 'number' ? toDouble(json) : typeof json === 'bigint' ? toDouble(Number(json)) : json
    case 'object':
      return isJsonObject(json) ? new ObjectView(node, json) : json === null ? null : wrongObject
    case 'map':
      return isJsonObject(json) ? new JsonMapView(node, json) : json === null ? null : wrongObject
    case 'list':
      return Array.isArray(json) ? new JsonListView(node, json) : json === null ? null : wrongList
    case 'plainList':
      return plainListOf(node, json)
    case 'nonNull':
      return json === null ? wrongNull : viewOf(meter, node.node, json)
    case 'intOrString':
      return typeof json === 'string' || isInt(json) || json === null ? json : wrongIntOrString
    default:
      return typeof json === 'string' ? parsed(meter, node.kind, json) : json
  }
}

const wrongObject = new CelError('invalid data, expected a map for the provided schema with type=object')
const wrongList = new CelError('invalid data, expected an array for the provided schema with type=array')
const wrongNull = new CelError('invalid data, got null for schema with nullable=false')
const wrongIntOrString = new CelError('invalid data, expected XIntOrString value to be either a string or integer')

function plainListOf({ allowsNull }: Extract<ViewNode, { kind: 'plainList' }>, json: unknown): Value {
  if (!Array.isArray(json)) return json === null ? null : wrongList
  return allowsNull || !hasNull(json) ? json : new JsonListView(nonNullList, json)
}

const nonNullList: ListNode = { kind: 'list', items: { kind: 'nonNull', node: plainNode }, rule: { kind: 'atomic' } }

/** True if an array contains null. The result is cached, since rules read an array repeatedly. */
const hasNull = memo((array: readonly unknown[]): boolean => array.includes(null))

const parsers = {
  timestamp: [parseTimestamp, 'date-time'],
  date: [parseDate, 'date'],
  duration: [parseDuration, 'duration'],
  bytes: [decodeBase64, 'base64'],
} as const

function parsed(meter: Meter, kind: keyof typeof parsers, text: string): Value {
  const [parse, form] = parsers[kind]
  return parse(meter, text) ?? new CelError(`invalid ${form} ${JSON.stringify(text)}`)
}

/** The work of decoding a character, in steps. */
const characterSteps = 2

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

function decodeBase64(meter: Meter, text: string): Uint8Array | undefined {
  meter.addWork(text.length * characterSteps)
  if (!base64.test(text)) return undefined
  return Uint8Array.from(atob(text), (unit) => unit.charCodeAt(0))
}

type JsonObject = Readonly<Record<string, unknown>>

function isJsonObject(json: unknown): json is JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json)
}

/** The work of comparing a property, finding an item by its keys, and finding an item of a set, in steps. */
const propertySteps = 32
const keySteps = 128
const itemSteps = 12

/** The names of an object's fields, by property. */
const namesByProperty = memo((node: ObjectNode): ReadonlyMap<string, string> => {
  const made = new Map<string, string>()
  for (const [name, { property }] of node.fields) made.set(property, name)
  return made
})

type ObjectNode = Extract<ViewNode, { kind: 'object' }>
type ListNode = Extract<ViewNode, { kind: 'list' }>

/** An object with the fields of a schema. Properties that the schema does not name are absent. */
class ObjectView extends MapView {
  readonly #node: ObjectNode
  readonly #json: JsonObject

  constructor(node: ObjectNode, json: JsonObject) {
    super()
    this.#node = node
    this.#json = json
  }

  override get typeName(): string {
    return this.#node.typeName
  }

  override get source(): Source {
    return { json: this.#json, rule: this.#node }
  }

  /** The number of properties, including properties that the schema does not name. */
  override size(meter: Meter): number {
    return meter.propertiesOf(this.#json).length
  }

  override get(meter: Meter, key: Value): Value | undefined {
    const field = typeof key === 'string' ? this.#node.fields.get(key) : undefined
    if (field === undefined || !Object.hasOwn(this.#json, field.property)) return undefined
    const json = this.#json[field.property]
    if (json === null) return undefined
    return field.node.kind === 'plain' ? json : viewOf(meter, field.node, json)
  }

  /** The value of a property, even if no expression can select it. */
  property(name: string): unknown {
    return Object.hasOwn(this.#json, name) ? this.#json[name] : undefined
  }

  /** Fields compare as values. Properties that the schema does not name compare as JSON if both objects have them. */
  override isEqual(meter: Meter, other: Value): Value | undefined {
    if (!isMap(other)) return false
    if (this.size(meter) !== mapSize(meter, other)) return false
    const names = namesByProperty(this.#node)
    const unnamed: string[] = []
    for (const property in this.#json) {
      meter.addWork(propertySteps)
      const name = names.get(property)
      if (name === undefined) {
        unnamed.push(property)
        continue
      }
      const ours = this.get(meter, name)
      const theirs = mapGet(meter, other, name)
      if (ours === undefined) {
        if (theirs !== undefined) return false
        continue
      }
      if (theirs === undefined) return false
      const same = equal(meter, ours, theirs)
      if (same !== true) return same
    }
    return unnamed.every((property) => this.#sharesUnnamed(meter, property, other))
  }

  #sharesUnnamed(meter: Meter, property: string, other: Value): boolean {
    if (!(other instanceof ObjectView)) return false
    const theirs = other.property(property)
    return theirs === undefined || equal(meter, this.#json[property], theirs) === true
  }

  override *keys(): Iterable<Value> {
    for (const [name, field] of this.#node.fields) {
      if (Object.hasOwn(this.#json, field.property) && this.#json[field.property] !== null) yield name
    }
  }
}

/** A JSON object as a map of texts. */
class JsonMapView extends MapView {
  readonly #node: Extract<ViewNode, { kind: 'map' }>
  readonly #json: JsonObject

  constructor(node: Extract<ViewNode, { kind: 'map' }>, json: JsonObject) {
    super()
    this.#node = node
    this.#json = json
  }

  override get source(): Source {
    return { json: this.#json, rule: this.#node }
  }

  override size(meter: Meter): number {
    return meter.propertiesOf(this.#json).length
  }

  override get(meter: Meter, key: Value): Value | undefined {
    if (typeof key !== 'string' || !Object.hasOwn(this.#json, key)) return undefined
    return viewOf(meter, this.#node.values, this.#json[key])
  }

  override keys(meter: Meter): Iterable<Value> {
    return meter.propertiesOf(this.#json)
  }
}

const scalarsOnly = new CelError('listSet operations are only supported on lists of scalar values')

/** A list with a rule for `+` and for equality. */
abstract class RuledList extends ListView {
  readonly #rule: ListRule

  constructor(rule: ListRule) {
    super()
    this.#rule = rule
  }

  override plus(meter: Meter, right: Value): Value | undefined {
    return plusByRule(meter, this.#rule, this, right)
  }

  override isEqual(meter: Meter, other: Value): Value | undefined {
    return equalByRule(meter, this.#rule, this, other)
  }
}

/** A JSON array whose items have a schema. */
class JsonListView extends RuledList {
  readonly #node: ListNode
  readonly #json: readonly unknown[]

  constructor(node: ListNode, json: readonly unknown[]) {
    super(node.rule)
    this.#node = node
    this.#json = json
  }

  override get source(): Source {
    return { json: this.#json, rule: this.#node }
  }

  override get size(): number {
    return this.#json.length
  }

  override at(meter: Meter, index: number): Value {
    return viewOf(meter, this.#node.items, this.#json[index])
  }
}

/** The result of `+` on a list with a rule. It has the same rule. */
class JoinedList extends RuledList {
  readonly #items: readonly Value[]

  constructor(rule: ListRule, items: readonly Value[]) {
    super(rule)
    this.#items = items
  }

  override get size(): number {
    return this.#items.length
  }

  override at(_meter: Meter, index: number): Value {
    return this.#items[index]
  }
}

function plusByRule(meter: Meter, rule: ListRule, left: ListView, right: Value): Value | undefined {
  if (!isList(right)) return noSuchOverload()
  switch (rule.kind) {
    case 'atomic':
      return undefined
    case 'set':
      return union(meter, rule, left, right)
    case 'map':
      return merge(meter, rule, left, right)
  }
}

/** The items of both lists, each once. */
function union(meter: Meter, rule: ListRule, left: Value, right: Value): Value {
  const items: Value[] = []
  const seen = new Set<Value>()
  for (const item of [...itemsOf(meter, left), ...itemsOf(meter, right)]) {
    const identity = identityOf(meter, item)
    if (identity === undefined) return scalarsOnly
    if (seen.has(identity) && items.length >= listSize(left)) continue
    seen.add(identity)
    items.push(item)
  }
  return new JoinedList(rule, items)
}

/** The items of the left list, replaced by right items with the same keys, followed by the new right items. */
function merge(meter: Meter, rule: Extract<ListRule, { kind: 'map' }>, left: Value, right: Value): Value {
  const items = [...itemsOf(meter, left)]
  const places = new Map<string, number>()
  for (const [place, item] of items.entries()) {
    const key = keyOf(meter, rule, item)
    if (key !== undefined) places.set(key, place)
  }
  for (const item of itemsOf(meter, right)) {
    const key = keyOf(meter, rule, item)
    const place = key === undefined ? undefined : places.get(key)
    if (place !== undefined) {
      items[place] = item
      continue
    }
    if (key !== undefined) places.set(key, items.length)
    items.push(item)
  }
  return new JoinedList(rule, items)
}

function equalByRule(meter: Meter, rule: ListRule, left: Value, right: Value): Value | undefined {
  if (rule.kind === 'atomic') return undefined
  if (!isList(right)) return false
  if (rule.kind === 'set') return equalSets(meter, left, right)
  if (listSize(left) !== listSize(right)) return false
  const found = new Map<string, Value>()
  for (const item of itemsOf(meter, left)) {
    const key = keyOf(meter, rule, item)
    if (key === undefined) return undefined
    found.set(key, item)
  }
  const seen = new Set<string>()
  for (const item of itemsOf(meter, right)) {
    const key = keyOf(meter, rule, item)
    if (key === undefined || seen.has(key)) return false
    seen.add(key)
    const other = found.get(key)
    const same = found.has(key) ? equal(meter, other, item) : false
    if (same !== true) return same
  }
  return true
}

function equalSets(meter: Meter, left: Value, right: Value): Value {
  const ours = identitiesOf(meter, left)
  const theirs = identitiesOf(meter, right)
  if (ours === undefined || theirs === undefined) return scalarsOnly
  if (listSize(left) !== listSize(right) || ours.size !== theirs.size) return false
  for (const identity of theirs) if (!ours.has(identity)) return false
  return true
}

function identitiesOf(meter: Meter, list: Value): Set<Value> | undefined {
  const found = new Set<Value>()
  const size = listSize(list)
  for (let index = 0; index < size; index++) {
    const identity = identityOf(meter, listAt(meter, list, index))
    if (identity === undefined) return undefined
    found.add(identity)
  }
  return found
}

/** The key of an item of a set; undefined for an item that is no scalar. */
function identityOf(meter: Meter, item: Value): Value | undefined {
  meter.addWork(itemSteps)
  if (item === null || typeof item === 'string' || typeof item === 'boolean' || typeof item === 'bigint') return item
  if (typeof item === 'number') return item
  if (isList(item) || isMap(item) || typeof item !== 'object') return undefined
  if ('ns' in item) return `${item.constructor.name} ${String(item.ns)}`
  if ('value' in item) return Number(item.value)
  return item instanceof Uint8Array ? `bytes ${item.join(',')}` : undefined
}

/** The key of an item of a list with keys; undefined for an item without keys. */
function keyOf(meter: Meter, rule: Extract<ListRule, { kind: 'map' }>, item: Value): string | undefined {
  if (!isMap(item)) return undefined
  meter.addWork(keySteps)
  const parts: unknown[] = []
  for (const key of rule.keys) {
    const value = item instanceof ObjectView ? item.property(key) : mapGet(meter, item, escapeProperty(key) ?? key)
    const identity = value === undefined ? undefined : identityOf(meter, value)
    parts.push(identity === undefined ? null : typeof identity === 'bigint' ? [String(identity)] : identity)
  }
  return JSON.stringify(parts)
}
