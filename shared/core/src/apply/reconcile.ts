import { type FieldSet, leafSet, nodeOf } from './field-set.ts'
import type { ElementText } from './path-element.ts'
import type { FieldShape, ObjectShape, Shape } from './shape.ts'

/**
 * Adapts a stored set to the current schema. If a value has become atomic, the owner of a part becomes the owner of the whole. If an
 * atomic value has become granular, its parts have no owner.
 */
export function reconcileWithShape(set: FieldSet, shape: Shape): FieldSet {
  if (set.children === undefined) return set
  if (isAtomic(shape)) return leafSet
  let children: Map<ElementText, FieldSet> | undefined
  for (const [element, child] of set.children) {
    const inner = shapeBelow(shape, element)
    const kept = inner === undefined ? child : reconcileWithShape(child, inner)
    if (kept === child) continue
    children ??= new Map(set.children)
    children.set(element, kept)
  }
  return children === undefined ? set : { isMember: set.isMember, children }
}

function isAtomic(shape: Shape): boolean {
  return shape.kind === 'list' ? shape.listType === 'atomic' : shape.kind !== 'scalar' && shape.isAtomic
}

function shapeBelow(shape: Shape, element: ElementText): Shape | undefined {
  if (shape.kind === 'list') return shape.items
  return shape.kind === 'object' ? (fieldOf(shape, element)?.shape ?? shape.values) : undefined
}

function fieldOf(shape: ObjectShape, element: ElementText): FieldShape | undefined {
  return element.startsWith('f:') ? shape.fields.get(element.slice(2)) : undefined
}

/**
 * Adds every declared field on the path to a member as a member: an applied struct is removed when all its applied fields
 * are removed. Keys of maps are already members.
 */
export function withNamedFields(set: FieldSet, shape: Shape | undefined): FieldSet {
  if (set.children === undefined) return set
  const children = new Map<ElementText, FieldSet>()
  for (const [element, child] of set.children) {
    const field = shape?.kind === 'object' ? fieldOf(shape, element) : undefined
    const inner = field?.shape ?? (shape === undefined ? undefined : shapeBelow(shape, element))
    const below = withNamedFields(child, inner)
    const node = nodeOf(below.isMember || field !== undefined, below.children)
    if (node !== undefined) children.set(element, node)
  }
  return { isMember: set.isMember, children }
}
