import { equalSets, type FieldSet } from './field-set.ts'
import type { Shape } from './shape.ts'

/** Number of cached sets: controllers own the same few sets of fields in all objects of a kind. */
const keptPerShape = 16

/** Maximum nodes of a cached set: larger sets are rarely equal, and take more memory. */
const nodesMax = 200

/** Recent sets of writes to objects of a shape, newest first. */
const lately = new WeakMap<Shape, readonly FieldSet[]>()

/** A cached equal set, which was already printed and compared with its shape; otherwise the set itself. */
export function sharedSet(shape: Shape, set: FieldSet): FieldSet {
  const kept = lately.get(shape) ?? []
  const known = kept.find((one) => equalSets(one, set))
  if (known !== undefined) return known
  if (nodesLeft(set, nodesMax) > 0) lately.set(shape, [set, ...kept.slice(0, keptPerShape - 1)])
  return set
}

/** The remaining budget after counting the nodes of a set. */
function nodesLeft({ children }: FieldSet, nodes: number): number {
  let left = nodes - 1
  for (const child of children?.values() ?? []) if (left > 0) left = nodesLeft(child, left)
  return left
}
