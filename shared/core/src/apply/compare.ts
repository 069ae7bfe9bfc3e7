import { isJsonObject, jsonEqual, memberOf } from '../json/index.ts'
import { ownedDepthMax } from './check.ts'
import { emptySet, type FieldSet, isEmptySet, leafSet, recursiveDifference } from './field-set.ts'
import { itemsByElement, type ListItems, Unownable } from './list-items.ts'
import { type ElementText, fieldElement } from './path-element.ts'
import { deducedObject, granularObject, type ListShape, type ObjectShape, type Shape, type UntypedShape } from './shape.ts'

/** The paths that differ between two states of an object. An added or removed value includes everything below it. */
export interface Comparison {
  readonly added: FieldSet
  readonly modified: FieldSet
  readonly removed: FieldSet
}

/** Compares two states of an object of one shape. Throws `Unownable` if list items are indistinguishable or a value is too deep. */
export function compare(shape: Shape, before: unknown, after: unknown): Comparison {
  const difference = compareValues(shape, before, after, 0)
  return {
    added: difference?.added ?? emptySet,
    modified: difference?.modified ?? emptySet,
    removed: difference?.removed ?? emptySet,
  }
}

/** True if nothing differs. */
export function isSame({ added, modified, removed }: Comparison): boolean {
  return isEmptySet(added) && isEmptySet(modified) && isEmptySet(removed)
}

/** The comparison without some paths and the paths below them. */
export function withoutPaths(comparison: Comparison, excluded: FieldSet): Comparison {
  return {
    added: recursiveDifference(comparison.added, excluded),
    modified: recursiveDifference(comparison.modified, excluded),
    removed: recursiveDifference(comparison.removed, excluded),
  }
}

/** Each level of a value uses the call stack. */
function checkDepth(depth: number): void {
  if (depth > ownedDepthMax) throw new Unownable(`nested deeper than ${ownedDepthMax} levels`)
}

/** The differences of one value, as parts of the three sets. An unchanged value has none, and needs no memory. */
interface Difference {
  readonly added: FieldSet | undefined
  readonly modified: FieldSet | undefined
  readonly removed: FieldSet | undefined
}

const leaves: Readonly<Record<keyof Comparison, Difference>> = {
  added: allAdded(leafSet),
  modified: { added: undefined, modified: leafSet, removed: undefined },
  removed: allRemoved(leafSet),
}

function allAdded(added: FieldSet): Difference {
  return { added, modified: undefined, removed: undefined }
}

function allRemoved(removed: FieldSet): Difference {
  return { added: undefined, modified: undefined, removed }
}

/** `undefined` means absent; null is a value. */
function compareValues(shape: Shape, before: unknown, after: unknown, depth: number): Difference | undefined {
  if (before === after) return undefined
  checkDepth(depth)
  switch (shape.kind) {
    case 'scalar':
      return compareLeaves(before, after)
    case 'list':
      return shape.listType === 'atomic' ? compareLeaves(before, after) : compareLists(shape, before, after, depth)
    case 'object':
      return shape.isAtomic ? compareLeaves(before, after) : compareObjects(shape, before, after, depth)
    case 'untyped':
      return compareUntyped(shape, before, after, depth)
  }
}

function compareUntyped(shape: UntypedShape, before: unknown, after: unknown, depth: number): Difference | undefined {
  const earlier = granularObject(shape, before)
  const later = granularObject(shape, after)
  if (earlier !== later) return compareMixed(before, after, depth)
  return earlier === undefined ? compareLeaves(before, after) : compareObjects(earlier, before, after, depth)
}

function compareLeaves(before: unknown, after: unknown): Difference | undefined {
  if (before === undefined) return leaves.added
  if (after === undefined) return leaves.removed
  return jsonEqual(before, after) ? undefined : leaves.modified
}

/** Compares values without a schema of which only one is an object. The other is absent, null, or of another type. */
function compareMixed(before: unknown, after: unknown, depth: number): Difference | undefined {
  const other = isJsonObject(before) ? after : before
  if (other === undefined || other === null) return compareObjects(deducedObject, before, after, depth)
  const { children } = whole(deducedObject, isJsonObject(before) ? before : after, depth)
  if (children === undefined) return leaves.modified
  const parts: FieldSet = { isMember: false, children }
  return { ...(isJsonObject(before) ? allRemoved(parts) : allAdded(parts)), modified: leafSet }
}

function compareObjects(shape: ObjectShape, before: unknown, after: unknown, depth: number): Difference | undefined {
  if (before === undefined) return allAdded(whole(shape, after, depth))
  if (after === undefined) return allRemoved(whole(shape, before, depth))
  const earlier = isJsonObject(before) ? before : undefined
  const later = isJsonObject(after) ? after : undefined
  const parts = new Parts(depth + 1)
  let isEmpty = true
  for (const key in earlier) {
    isEmpty = false
    const was = earlier[key]
    const is = later === undefined ? undefined : memberOf(later, key)
    if (was !== is) parts.compareMember(shape, key, was, is)
  }
  for (const key in later) {
    isEmpty = false
    if (earlier === undefined || !Object.hasOwn(earlier, key)) parts.compareMember(shape, key, undefined, later[key])
  }
  return isEmpty ? compareLeaves(before, after) : parts.difference()
}

function compareLists(shape: ListShape, before: unknown, after: unknown, depth: number): Difference | undefined {
  if (before === undefined) return allAdded(whole(shape, after, depth))
  if (after === undefined) return allRemoved(whole(shape, before, depth))
  const earlier = Array.isArray(before) ? before : []
  const later = Array.isArray(after) ? after : []
  if (earlier.length === 0 && later.length === 0) return compareLeaves(before, after)
  const sides = { from: itemsByElement(shape, earlier), to: itemsByElement(shape, later) }
  const [from, to] = [sides.from.byElement, sides.to.byElement]
  const parts = new Parts(depth + 1)
  const isPlain = sides.from.repeated === undefined && sides.to.repeated === undefined
  const note = (element: ElementText, before: unknown, after: unknown): void => {
    const differs = isPlain ? compareValues(shape.items, before, after, depth + 1) : compareItems(shape.items, element, sides, depth + 1)
    parts.note(element, differs)
  }
  for (const [element, item] of from) note(element, item, to.get(element))
  for (const [element, item] of to) if (!from.has(element)) note(element, undefined, item)
  return parts.difference()
}

/** The items of one path element on both sides. Where several have it, they are one leaf. */
function compareItems(
  shape: Shape,
  element: ElementText,
  { from, to }: Record<'from' | 'to', ListItems>,
  depth: number,
): Difference | undefined {
  const [before, after] = [from.byElement.get(element), to.byElement.get(element)]
  const [all, allLater] = [from.repeated?.get(element), to.repeated?.get(element)]
  if (all === undefined && allLater === undefined) return compareValues(shape, before, after, depth)
  if (all !== undefined && allLater !== undefined) return compareLeaves(all, allLater)
  if (all === undefined)
    return { added: leafSet, modified: undefined, removed: before === undefined ? undefined : whole(shape, before, depth) }
  return { added: after === undefined ? undefined : whole(shape, after, depth), modified: undefined, removed: leafSet }
}

/** All paths of an added or removed value, including the value itself. */
function whole(shape: Shape, value: unknown, depth: number): FieldSet {
  checkDepth(depth)
  switch (shape.kind) {
    case 'scalar':
      return leafSet
    case 'list':
      return wholeList(shape, value, depth)
    case 'object':
      return wholeObject(shape, value, depth)
    case 'untyped':
      return wholeObject(granularObject(shape, value), value, depth)
  }
}

function wholeList(shape: ListShape, value: unknown, depth: number): FieldSet {
  if (shape.listType === 'atomic' || !Array.isArray(value)) return leafSet
  const children = new Map<ElementText, FieldSet>()
  const { byElement, repeated } = itemsByElement(shape, value)
  for (const [element, item] of byElement) children.set(element, repeated?.has(element) ? leafSet : whole(shape.items, item, depth + 1))
  return children.size === 0 ? leafSet : { isMember: true, children }
}

function wholeObject(shape: ObjectShape | undefined, value: unknown, depth: number): FieldSet {
  if (shape === undefined || shape.isAtomic || !isJsonObject(value)) return leafSet
  const children = new Map<ElementText, FieldSet>()
  for (const key in value) {
    const field = shape.fields.get(key)
    const inner = field?.shape ?? shape.values
    const member = value[key]
    if (inner !== undefined && member !== undefined) children.set(field?.element ?? fieldElement(key), whole(inner, member, depth + 1))
  }
  return children.size === 0 ? leafSet : { isMember: true, children }
}

/** Compares the members or items of a container that exists in both states. */
class Parts {
  /** The depth of the parts. */
  readonly #depth: number
  #added: Map<ElementText, FieldSet> | undefined
  #modified: Map<ElementText, FieldSet> | undefined
  #removed: Map<ElementText, FieldSet> | undefined

  constructor(depth: number) {
    this.#depth = depth
  }

  compareMember({ fields, values }: ObjectShape, key: string, before: unknown, after: unknown): void {
    const field = fields.get(key)
    const inner = field?.shape ?? values
    if (inner !== undefined) this.note(field?.element ?? fieldElement(key), compareValues(inner, before, after, this.#depth))
  }

  note(element: ElementText, difference: Difference | undefined): void {
    if (difference === undefined) return
    const { added, modified, removed } = difference
    if (added !== undefined) this.#added = withMember(this.#added, element, added)
    if (modified !== undefined) this.#modified = withMember(this.#modified, element, modified)
    if (removed !== undefined) this.#removed = withMember(this.#removed, element, removed)
  }

  difference(): Difference | undefined {
    if (this.#added === undefined && this.#modified === undefined && this.#removed === undefined) return undefined
    return { added: above(this.#added), modified: above(this.#modified), removed: above(this.#removed) }
  }
}

function withMember(members: Map<ElementText, FieldSet> | undefined, element: ElementText, set: FieldSet): Map<ElementText, FieldSet> {
  return (members ?? new Map<ElementText, FieldSet>()).set(element, set)
}

function above(children: Map<ElementText, FieldSet> | undefined): FieldSet | undefined {
  return children === undefined ? undefined : { isMember: false, children }
}
