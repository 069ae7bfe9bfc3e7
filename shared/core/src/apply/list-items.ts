import { at } from '@orch/cel/at'
import { isJsonObject, memberOf } from '../json/member.ts'
import { type ElementText, keyElement, valueElement } from './path-element.ts'
import type { ListShape } from './shape.ts'

/** The path element of an item in a list of type set or map. Undefined if it has none; `itemProblem` then gives the reason. */
export function itemElement(shape: ListShape, item: unknown): ElementText | undefined {
  if (shape.listType === 'set') return typeof item === 'object' || item === undefined ? undefined : valueElement(item)
  if (!isJsonObject(item)) return undefined
  let names: string[] | undefined
  const values: unknown[] = []
  for (let index = 0; index < shape.keys.length; index++) {
    const name = at(shape.keys, index)
    const value = memberOf(item, name) ?? shape.keyDefaults[index]
    if (value === undefined || value === null) {
      names ??= shape.keys.slice(0, index)
      continue
    }
    names?.push(name)
    values.push(value)
  }
  return values.length === 0 ? undefined : keyElement(names ?? shape.keys, values)
}

/** The reason why an item has no path element. */
export function itemProblem(shape: ListShape, item: unknown): string {
  if (shape.listType === 'set') {
    if (item === null) return "associative list without keys has an element that's an explicit null"
    return Array.isArray(item)
      ? 'not supported: associative list with lists as elements'
      : "associative list without keys has an element that's a map type"
  }
  if (item === null) return 'associative list with keys may not have a null element'
  if (!isJsonObject(item)) return 'associative list with keys may not have non-map elements'
  const keys = shape.keys.map((key) => JSON.stringify(key)).join(' ')
  return `associative list with keys has an element that omits all key fields [${keys}] (and doesn't have default values for any key fields)`
}

/** List items cannot be owned separately because one has no path element. */
export class Unownable extends Error {}

/** The items of a list of type set or map. */
export interface ListItems {
  /** In list order; the first of several with the same path element. */
  readonly byElement: ReadonlyMap<ElementText, unknown>
  /** All items of each path element that several have; undefined: none is repeated. */
  readonly repeated: ReadonlyMap<ElementText, readonly unknown[]> | undefined
}

/** The items of a list of type set or map by path element. Throws `Unownable`. */
export function itemsByElement(shape: ListShape, items: readonly unknown[]): ListItems {
  const byElement = new Map<ElementText, unknown>()
  let repeated: Map<ElementText, unknown[]> | undefined
  for (const item of items) {
    const element = itemElement(shape, item)
    if (element === undefined) throw new Unownable(itemProblem(shape, item))
    if (!byElement.has(element)) {
      byElement.set(element, item)
      continue
    }
    repeated ??= new Map()
    const same = repeated.get(element)
    if (same === undefined) repeated.set(element, [byElement.get(element), item])
    else same.push(item)
  }
  return { byElement, repeated }
}
