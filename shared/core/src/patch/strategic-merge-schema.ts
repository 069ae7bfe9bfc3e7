import { memo } from '@orch/cel/memo'
import { plainNameOf } from '../description/levels.ts'
import type { Field, Node, StructNode } from '../description/node.ts'
import { resolveNode } from '../schema/resolve.ts'
import { BadPatch } from './strategic-merge-directives.ts'

/** The merge strategy of a member, and the schema inside it. */
export interface FieldStrategy {
  /** `merge` merges lists by item. By default, objects are merged and lists are replaced. */
  readonly kind: 'merge' | 'replace' | 'default'
  readonly mergeKey: string | undefined
  /** The type of the member, or of its list items; undefined if unknown. */
  readonly schema: Node | undefined
}

const unknownField: FieldStrategy = { kind: 'default', mergeKey: undefined, schema: undefined }
/** The strategy of a member of an object. */
export function strategyOf(schema: Node | undefined, name: string): FieldStrategy {
  const node = schema === undefined ? undefined : resolveNode(schema)
  if (node?.kind === 'map') return { ...unknownField, schema: insideOf(node.values) }
  return node?.kind === 'struct' ? (fieldsOf(node).get(name) ?? unknownField) : unknownField
}

/** The list that an order is for must be a field of the type. */
export function requireField(schema: Node | undefined, name: string): void {
  const node = schema === undefined ? undefined : resolveNode(schema)
  if (node?.kind !== 'struct' || fieldsOf(node).has(name)) return
  const type = schema?.kind === 'ref' ? plainNameOf(schema.name) : ''
  const struct = type.slice(type.lastIndexOf('.') + 1)
  throw new BadPatch(`unable to find api field in struct ${struct} for the json field ${JSON.stringify(name)}`)
}

/** The strategies of the fields of a type, by name. */
const fieldsOf = memo(
  (node: StructNode): ReadonlyMap<string, FieldStrategy> => new Map(node.fields.map((field) => [field.name, strategyOfField(field)])),
)

/** The patch itself states which keys are retained, so the server ignores that part of the strategy. */
function strategyOfField({ node, patchStrategy, patchMergeKey }: Field): FieldStrategy {
  const kind = patchStrategy === 'replace' ? 'replace' : patchStrategy?.startsWith('merge') ? 'merge' : 'default'
  return { kind, mergeKey: patchMergeKey, schema: insideOf(node) }
}

function insideOf(node: Node): Node {
  const target = resolveNode(node)
  return target.kind === 'list' ? target.items : node
}
