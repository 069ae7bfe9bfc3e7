import type { Meter } from './meter.ts'
import { CelError, Double, kindOf, ListView, MapView, Uint, type Value } from './values.ts'

/** The key of a map's entry: keys that are equal over numeric kinds are the same. */
export type MapKey = string | number | bigint | boolean

/** A map made by an expression: keys of any kind that CEL allows, in the order of their insertion. */
export class CelMap extends MapView {
  readonly #entries = new Map<MapKey, { key: Value; value: Value }>()
  readonly #typeName: string

  constructor(typeName = 'map') {
    super()
    this.#typeName = typeName
  }

  override get typeName(): string {
    return this.#typeName
  }

  override size(): number {
    return this.#entries.size
  }

  override get(_meter: Meter, key: Value): Value | undefined {
    const found = mapKeyOf(key)
    return found === undefined ? undefined : this.#entries.get(found)?.value
  }

  override *keys(): Iterable<Value> {
    for (const entry of this.#entries.values()) yield entry.key
  }

  /** Adds an entry; gives an error for a key that is invalid or already present. */
  add(key: Value, value: Value): CelError | undefined {
    const at = typeof key === 'string' ? key : literalKeyOf(key)
    if (at === undefined) return new CelError('unsupported key type')
    if (this.#entries.has(at)) return new CelError(`Failed with repeated key: ${String(at)}`)
    this.#entries.set(at, { key, value })
    return undefined
  }
}

function literalKeyOf(key: Value): MapKey | undefined {
  const kind = kindOf(key)
  return kind === 'double' ? undefined : mapKeyOf(key)
}

/** The key under which a map stores an entry; undefined for an invalid key. A whole double gives the key of the equal int. */
export function mapKeyOf(key: Value): MapKey | undefined {
  switch (typeof key) {
    case 'string':
    case 'boolean':
    case 'bigint':
      return key
    case 'number':
      return Number.isInteger(key) ? asKey(BigInt(key)) : undefined
    default:
      if (key instanceof Uint) return asKey(key.value)
      return key instanceof Double ? asKey(BigInt(key.value)) : undefined
  }
}

function asKey(value: bigint): MapKey {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number + 0 : value
}

/** Maximum size of a list that `+` copies; longer lists are joined without a copy. */
const copiedMax = 64

/** The items of one list followed by the items of another. */
class ConcatList extends ListView {
  readonly #left: Value
  readonly #right: Value
  readonly #leftSize: number
  override readonly size: number

  constructor(left: Value, right: Value) {
    super()
    this.#left = left
    this.#right = right
    this.#leftSize = listSize(left)
    this.size = this.#leftSize + listSize(right)
  }

  override at(meter: Meter, index: number): Value {
    return index < this.#leftSize ? listAt(meter, this.#left, index) : listAt(meter, this.#right, index - this.#leftSize)
  }
}

/** `left + right` of lists. Neither its cost nor its time depends on the sizes. */
export function concatLists(meter: Meter, left: Value, right: Value): Value {
  const byRule = left instanceof ListView ? left.plus(meter, right) : undefined
  if (byRule !== undefined) return byRule
  return listSize(left) + listSize(right) > copiedMax ? new ConcatList(left, right) : [...itemsOf(meter, left), ...itemsOf(meter, right)]
}

/** Number of items of a list. */
export function listSize(list: Value): number {
  return Array.isArray(list) ? list.length : list instanceof ListView ? list.size : 0
}

/** The item of a list at an index that exists. */
export function listAt(meter: Meter, list: Value, index: number): Value {
  return Array.isArray(list) ? list[index] : list instanceof ListView ? list.at(meter, index) : undefined
}

/** A list as an array or with a view of its own. */
export type ListValue = ListView | readonly unknown[]

/** True for a list. */
export function isList(value: Value): value is ListValue {
  return Array.isArray(value) || value instanceof ListView
}

/** The items of a list as an array, without a copy if the list is an array. */
export function itemsOf(meter: Meter, list: Value): readonly Value[] {
  if (Array.isArray(list)) return list
  const items: Value[] = []
  const size = listSize(list)
  for (let index = 0; index < size; index++) items.push(listAt(meter, list, index))
  return items
}

/** True for a map, or for an object that is read as a map. */
export function isMap(value: Value): value is MapView | Readonly<Record<string, unknown>> {
  return kindOf(value) === 'map'
}

/** Number of entries of a map. */
export function mapSize(meter: Meter, map: Value): number {
  return map instanceof MapView ? map.size(meter) : meter.propertiesOf(asObject(map)).length
}

/** The value of a map at a key; undefined if the key is absent. */
export function mapGet(meter: Meter, map: Value, key: Value): Value | undefined {
  if (map instanceof MapView) return map.get(meter, key)
  if (typeof key !== 'string') return undefined
  const object = asObject(map)
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** The keys of a map. */
export function mapKeys(meter: Meter, map: Value): Iterable<Value> {
  return map instanceof MapView ? map.keys(meter) : meter.propertiesOf(asObject(map))
}

function asObject(value: Value): Readonly<Record<string, unknown>> {
  return value as Readonly<Record<string, unknown>>
}
