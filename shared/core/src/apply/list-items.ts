import { at } from '@orch/cel/at'
import { isJsonObject, memberOf } from '../json/member.ts'
import { type ElementText, keyElement, valueElement } from './path-element.ts'
import type { ListShape } from './shape.ts'

/** The path element of an item in a list of type set or map. Undefined if it has none; `itemProblem` then gives the reason. */
export function itemElement(shape: ListShape, item: unknown): ElementText | undefined {
  if (shape.listType === 'set') return typeof item === 'object' || item === undefined ? undefined : valueElement(item)
  if (!isJsonObject(item)) return undefined
  const values: unknown[] = []
  for (let index = 0; index < shape.keys.length; index++) {
    const value = memberOf(item, at(shape.keys, index)) ?? shape.keyDefaults[index]
    if (value === undefined || value === null) return undefined
    values.push(value)
  }
  return keyElement(shape.keys, values)
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
  const missing = shape.keys.find((key, index) => (memberOf(item, key) ?? shape.keyDefaults[index] ?? undefined) === undefined)
  return `associative list with keys has an element that omits key field ${JSON.stringify(missing)} (and doesn't have default value)`
}

/** List items cannot be owned separately because they have no distinct path elements. */
export class Unownable extends Error {}

/** The items of a list of type set or map by path element, in list order. Throws `Unownable`. */
export function itemsByElement(shape: ListShape, items: readonly unknown[]): Map<ElementText, unknown> {
  const found = new Map<ElementText, unknown>()
  for (const item of items) {
    const element = itemElement(shape, item)
    if (element === undefined) throw new Unownable(itemProblem(shape, item))
    found.set(element, item)
  }
  if (found.size !== items.length) throw new Unownable('duplicate entries')
  return found
}
