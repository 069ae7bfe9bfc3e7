import { isJsonObject } from '../json/member.ts'
import type { ComparisonTimer } from '../kind/kind-readers.ts'
import { canonicalText } from './canonical.ts'
import type { StructuralSchema } from './schema.ts'

/**
 * A value with the old value that it replaces. Members of objects correlate by name, items of lists of type `map`
 * by their keys, and items of other lists do not correlate.
 */
export class Correlation {
  readonly schema: StructuralSchema
  readonly value: unknown
  readonly old: unknown
  #isEqual: boolean | undefined
  #oldItems: ReadonlyMap<string, unknown> | undefined

  readonly #timer: ComparisonTimer | undefined

  constructor(schema: StructuralSchema, value: unknown, old: unknown, timer?: ComparisonTimer) {
    this.#timer = timer
    this.schema = schema
    this.value = value
    this.old = old
  }

  /** The pair at a member; undefined if either value or the schema lacks it. */
  key(name: string): Correlation | undefined {
    if (!isJsonObject(this.value) || !isJsonObject(this.old)) return undefined
    if (!Object.hasOwn(this.value, name) || !Object.hasOwn(this.old, name)) return undefined
    const schema = memberSchema(this.schema, name)
    return schema === undefined ? undefined : new Correlation(schema, this.value[name], this.old[name], this.#timer)
  }

  /** The pair at an item. */
  index(index: number): Correlation | undefined {
    const { value, old, schema } = this
    if (!Array.isArray(value) || !Array.isArray(old) || schema.listType !== 'map' || schema.items === undefined) return undefined
    const item: unknown = value[index]
    const key = keyOfItem(schema.listMapKeys ?? [], item)
    if (key === undefined) return undefined
    this.#oldItems ??= itemsByKey(schema.listMapKeys ?? [], old)
    return this.#oldItems.has(key) ? new Correlation(schema.items, item, this.#oldItems.get(key), this.#timer) : undefined
  }

  /**
   * True if both values are equal, ignoring the order of items in lists of type `map`. An object with a member that its schema does not
   * describe equals nothing, as in kube-apiserver.
   */
  isEqual(): boolean {
    const compare = (): boolean => this.#compare()
    this.#isEqual ??= this.#timer === undefined ? compare() : this.#timer.time(compare)
    return this.#isEqual
  }

  #compare(): boolean {
    const { value, old, schema } = this
    if (Array.isArray(value) && Array.isArray(old) && schema.listType === 'map') {
      return value.length === old.length && value.every((_, index) => this.index(index)?.isEqual() === true)
    }
    if (!isJsonObject(value) || !isJsonObject(old)) return value === old || canonicalText(value) === canonicalText(old)
    const names = Object.keys(value)
    return names.length === Object.keys(old).length && names.every((name) => this.key(name)?.isEqual() === true)
  }
}

function memberSchema(schema: StructuralSchema, name: string): StructuralSchema | undefined {
  const { additionalProperties } = schema
  return schema.properties?.get(name) ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined)
}

/** The key of an item in a list of type `map`; undefined if the item is not an object. */
export function keyOfItem(keys: readonly string[], item: unknown): string | undefined {
  if (!isJsonObject(item)) return undefined
  return canonicalText(Object.fromEntries(keys.flatMap((key) => (Object.hasOwn(item, key) ? [[key, item[key]]] : []))))
}

/** The items of a list of type map by their keys. */
export function itemsByKey(keys: readonly string[], items: readonly unknown[]): ReadonlyMap<string, unknown> {
  const byKey = new Map<string, unknown>()
  for (const item of items) {
    const key = keyOfItem(keys, item)
    if (key !== undefined && !byKey.has(key)) byKey.set(key, item)
  }
  return byKey
}
