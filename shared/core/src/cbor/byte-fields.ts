import { memo } from '../memo.ts'
import { type Node, resolveNode, resolveType } from '../schema/index.ts'

/** The places of byte fields in a type. In JSON, their values are base64. */
export type ByteFields =
  | { readonly kind: 'bytes' }
  /** In every item of a list or every value of a map. */
  | { readonly kind: 'each'; readonly of: ByteFields }
  | { readonly kind: 'members'; readonly of: ReadonlyMap<string, ByteFields> }

/** The byte fields of a type; undefined if it has none. */
export function byteFieldsOf(type: string): ByteFields | undefined {
  return fieldsOfNode(resolveType(type))
}

/** Cached by node of a description. */
const fieldsOfNode = memo((node: Node): ByteFields | undefined => find(node, new Set()))

/** `above` are the structs around a node. A recursive type has no byte fields within its recursion. */
function find(node: Node, above: ReadonlySet<Node>): ByteFields | undefined {
  const target = resolveNode(node)
  switch (target.kind) {
    case 'bytes':
      return { kind: 'bytes' }
    case 'list':
      return each(find(target.items, above))
    case 'map':
      return each(find(target.values, above))
    case 'struct': {
      if (above.has(target)) return undefined
      const around = new Set([...above, target])
      const found = target.fields.flatMap(({ name, node: inner }) => {
        const fields = find(inner, around)
        return fields === undefined ? [] : [[name, fields] as const]
      })
      return found.length === 0 ? undefined : { kind: 'members', of: new Map(found) }
    }
    default:
      return undefined
  }
}

function each(of: ByteFields | undefined): ByteFields | undefined {
  return of === undefined ? undefined : { kind: 'each', of }
}

/** The byte fields of a member or an item. */
export function byteFieldsIn(fields: ByteFields | undefined, member: string | number): ByteFields | undefined {
  if (fields === undefined || fields.kind === 'bytes') return undefined
  return fields.kind === 'each' ? fields.of : fields.of.get(String(member))
}
