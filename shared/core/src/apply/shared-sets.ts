import { equalSets, type FieldSet } from './field-set.ts'
import type { Shape } from './shape.ts'

/** Number of cached sets: controllers own the same few sets of fields of all objects of a kind. */
const keptPerShape = 16

/** Larger sets are seldom equal, and would be kept for long. */
const nodesMax = 200

/** Sets that writes of objects of a shape have made lately, newest first. */
const lately = new WeakMap<Shape, readonly FieldSet[]>()

/** An equal set that was made lately, which has been printed and compared with its shape already; else the set itself. */
export function sharedSet(shape: Shape, set: FieldSet): FieldSet {
  const kept = lately.get(shape) ?? []
  const known = kept.find((one) => equalSets(one, set))
  if (known !== undefined) return known
  if (nodesLeft(set, nodesMax) > 0) lately.set(shape, [set, ...kept.slice(0, keptPerShape - 1)])
  return set
}

/** A budget of nodes, less those of a set. */
function nodesLeft({ children }: FieldSet, nodes: number): number {
  let left = nodes - 1
  for (const child of children?.values() ?? []) if (left > 0) left = nodesLeft(child, left)
  return left
}
