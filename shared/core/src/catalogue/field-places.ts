import type { Field, Node, StructNode } from '../schema/node.ts'
import { resolveNode, resolveStruct } from '../schema/resolve.ts'

/** Where in values of a type the fields are that somebody looks for. */
export type Place<F extends Field = Field> =
  | { readonly kind: 'each'; readonly of: Place<F> }
  | { readonly kind: 'struct'; readonly fields: readonly F[]; readonly inner: ReadonlyMap<string, Place<F>> }

/** A value as the decoder leaves it. */
export type Struct = Readonly<Record<string, unknown>>

/** Finds the places of certain fields, once per type. Objects within objects, such as a template of a claim, are passed over. */
export function placeFinder<F extends Field>(isWanted: (field: Field) => field is F): (type: string) => Place<F> | undefined {
  const known = new WeakMap<StructNode, { place: Place<F> | undefined }>()
  const find = (declared: Node): Place<F> | undefined => {
    const node = resolveNode(declared)
    if (node.kind === 'list') return eachOf(find(node.items))
    if (node.kind === 'map') return eachOf(find(node.values))
    return node.kind === 'struct' && !node.hasTypeMeta ? findInStruct(node) : undefined
  }
  const findInStruct = (node: StructNode): Place<F> | undefined => {
    const found = known.get(node)
    if (found !== undefined) return found.place
    // A type that contains itself is looked at once.
    const made: { place: Place<F> | undefined } = { place: undefined }
    known.set(node, made)
    const fields = node.fields.filter(isWanted)
    const inner = new Map<string, Place<F>>()
    for (const { name, node: declared } of node.fields) {
      const place = find(declared)
      if (place !== undefined) inner.set(name, place)
    }
    if (fields.length > 0 || inner.size > 0) made.place = { kind: 'struct', fields, inner }
    return made.place
  }
  return (type) => findInStruct(resolveStruct(type))
}

function eachOf<F extends Field>(of: Place<F> | undefined): Place<F> | undefined {
  return of === undefined ? undefined : { kind: 'each', of }
}

/** Calls back for every struct that may have such fields; `path` is only made when it is asked for. */
export function visitPlaces<F extends Field>(
  place: Place<F>,
  value: unknown,
  visit: (struct: Struct, fields: readonly F[], path: () => string) => void,
  path: () => string = () => '',
): void {
  if (typeof value !== 'object' || value === null) return
  if (place.kind === 'each') {
    const at = (key: string) => () => `${path()}[${key}]`
    for (const [key, item] of Object.entries(value)) visitPlaces(place.of, item, visit, at(key))
    return
  }
  const struct = value as Struct
  if (place.fields.length > 0) visit(struct, place.fields, path)
  for (const [name, inner] of place.inner) visitPlaces(inner, struct[name], visit, () => memberPath(path(), name))
}

/** The path of a member of what is at a path. */
export function memberPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}
