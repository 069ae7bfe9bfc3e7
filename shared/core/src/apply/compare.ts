import { jsonEqual } from '../json/equal.ts'
import { isJsonObject, memberOf } from '../json/member.ts'
import { emptySet, type FieldSet, isEmptySet, recursiveDifference } from './field-set.ts'
import { itemsByElement } from './list-items.ts'
import { type ElementText, fieldElement } from './path-element.ts'
import { deducedObject, granularObject, type ListShape, type ObjectShape, type Shape } from './shape.ts'

/** Which paths differ between two states of an object. A part that comes or goes counts with everything in it. */
export interface Comparison {
  readonly added: FieldSet
  readonly modified: FieldSet
  readonly removed: FieldSet
}

/** Compares two states of an object of one shape. Throws `Unownable` when the items of a list cannot be told apart. */
export function compare(shape: Shape, before: unknown, after: unknown): Comparison {
  const difference = compareValues(shape, before, after)
  return {
    added: difference === undefined ? emptySet : setOf(difference, 'added'),
    modified: difference === undefined ? emptySet : setOf(difference, 'modified'),
    removed: difference === undefined ? emptySet : setOf(difference, 'removed'),
  }
}

/** Whether nothing differs. */
export function isSame({ added, modified, removed }: Comparison): boolean {
  return isEmptySet(added) && isEmptySet(modified) && isEmptySet(removed)
}

/** The comparison without some paths and what is below them. */
export function withoutPaths(comparison: Comparison, excluded: FieldSet): Comparison {
  return {
    added: recursiveDifference(comparison.added, excluded),
    modified: recursiveDifference(comparison.modified, excluded),
    removed: recursiveDifference(comparison.removed, excluded),
  }
}

type Way = 'added' | 'modified' | 'removed'

/** One value's part in a comparison; a value without difference has none, and costs none. */
interface Difference {
  readonly self: Way | undefined
  readonly children: Map<ElementText, Difference> | undefined
}

const leaves: Readonly<Record<Way, Difference>> = {
  added: { self: 'added', children: undefined },
  modified: { self: 'modified', children: undefined },
  removed: { self: 'removed', children: undefined },
}

function setOf(difference: Difference, way: Way): FieldSet {
  return pick(difference, way) ?? emptySet
}

function pick({ self, children }: Difference, way: Way): FieldSet | undefined {
  let picked: Map<ElementText, FieldSet> | undefined
  for (const [element, child] of children ?? []) {
    const below = pick(child, way)
    if (below === undefined) continue
    picked ??= new Map()
    picked.set(element, below)
  }
  return self === way || picked !== undefined ? { isMember: self === way, children: picked } : undefined
}

/** `undefined` is absence; null is a value. */
function compareValues(shape: Shape, before: unknown, after: unknown): Difference | undefined {
  if (before === after) return undefined
  const earlier = granularObject(shape, before)
  const later = granularObject(shape, after)
  if (shape.kind === 'untyped' && earlier !== later) return compareMixed(before, after)
  if (earlier !== undefined) return compareObjects(earlier, before, after)
  if (shape.kind === 'list' && shape.listType !== 'atomic') return compareLists(shape, before, after)
  return compareLeaves(before, after)
}

function compareLeaves(before: unknown, after: unknown): Difference | undefined {
  if (before === undefined) return leaves.added
  if (after === undefined) return leaves.removed
  return jsonEqual(before, after) ? undefined : leaves.modified
}

/** An object without schema on one side only: in place of nothing, of null, or of a value of another kind. */
function compareMixed(before: unknown, after: unknown): Difference | undefined {
  const other = isJsonObject(before) ? after : before
  if (other === undefined || other === null) return compareObjects(deducedObject, before, after)
  const parts = isJsonObject(before) ? compareObjects(deducedObject, before, undefined) : compareObjects(deducedObject, undefined, after)
  return { self: 'modified', children: parts?.children }
}

function compareObjects(shape: ObjectShape, before: unknown, after: unknown): Difference | undefined {
  const earlier = isJsonObject(before) ? before : undefined
  const later = isJsonObject(after) ? after : undefined
  let children: Map<ElementText, Difference> | undefined
  let isEmpty = true
  for (const key in earlier) {
    isEmpty = false
    const was = earlier[key]
    const is = later === undefined ? undefined : memberOf(later, key)
    if (was === is) continue
    children = note(children, shape, key, was, is)
  }
  for (const key in later) {
    isEmpty = false
    if (earlier === undefined || !Object.hasOwn(earlier, key)) children = note(children, shape, key, undefined, later[key])
  }
  return isEmpty ? compareLeaves(before, after) : differenceOf(before, after, children)
}

function note(
  children: Map<ElementText, Difference> | undefined,
  shape: ObjectShape,
  key: string,
  before: unknown,
  after: unknown,
): Map<ElementText, Difference> | undefined {
  const field = shape.fields.get(key)
  const inner = field?.shape ?? shape.values
  const difference = inner === undefined ? undefined : compareValues(inner, before, after)
  if (difference === undefined) return children
  const noted = children ?? new Map<ElementText, Difference>()
  return noted.set(field?.element ?? fieldElement(key), difference)
}

function compareLists(shape: ListShape, before: unknown, after: unknown): Difference | undefined {
  const earlier = Array.isArray(before) ? before : []
  const later = Array.isArray(after) ? after : []
  if (earlier.length === 0 && later.length === 0) return compareLeaves(before, after)
  const from = itemsByElement(shape, earlier)
  const to = itemsByElement(shape, later)
  const children = new Map<ElementText, Difference>()
  for (const [element, item] of from) {
    const difference = compareValues(shape.items, item, to.get(element))
    if (difference !== undefined) children.set(element, difference)
  }
  for (const [element, item] of to) {
    if (from.has(element)) continue
    const difference = compareValues(shape.items, undefined, item)
    if (difference !== undefined) children.set(element, difference)
  }
  return differenceOf(before, after, children.size === 0 ? undefined : children)
}

/** A container that comes or goes is a path of its own. */
function differenceOf(before: unknown, after: unknown, children: Map<ElementText, Difference> | undefined): Difference | undefined {
  const self = before === undefined ? 'added' : after === undefined ? 'removed' : undefined
  return self === undefined && children === undefined ? undefined : { self, children }
}
