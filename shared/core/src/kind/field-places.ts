import type { Field, Node, StructNode } from '../description/node.ts'
import { hasMembers } from '../json/member.ts'
import { resolveNode, resolveStruct } from '../schema/resolve.ts'

/** The places of the wanted fields in values of a type. The places of a type that contains itself contain themselves. */
export type Place<F extends Field = Field> =
  | { readonly kind: 'each'; readonly of: Place<F> }
  | { readonly kind: 'either'; readonly object: Place<F> | undefined; readonly array: Place<F> | undefined }
  | StructPlace<F>

interface StructPlace<F extends Field> {
  readonly kind: 'struct'
  readonly fields: readonly F[]
  readonly inner: Map<string, Place<F>>
}

/** A value as the decoder leaves it. */
export type Struct = Readonly<Record<string, unknown>>

/** Finds the places of certain fields in a type. Objects within objects, such as a template of a claim, are passed over. */
export function placeFinder<F extends Field>(isWanted: (field: Field) => field is F): (type: string) => Place<F> | undefined {
  const known = new Map<StructNode, StructPlace<F>>()
  const find = (declared: Node): Place<F> | undefined => {
    const node = resolveNode(declared)
    if (node.kind === 'list') return eachOf(find(node.items))
    if (node.kind === 'map') return eachOf(find(node.values))
    if (node.kind === 'variant') return eitherOf(find(node.object.node), node.array && find(node.array.node))
    return node.kind === 'struct' && !node.hasTypeMeta ? findInStruct(node) : undefined
  }
  const findInStruct = (node: StructNode): StructPlace<F> => {
    const found = known.get(node)
    if (found !== undefined) return found
    const place: StructPlace<F> = { kind: 'struct', fields: node.fields.filter(isWanted), inner: new Map() }
    known.set(node, place)
    for (const { name, node: declared } of node.fields) {
      const inner = find(declared)
      if (inner !== undefined) place.inner.set(name, inner)
    }
    return place
  }
  return (type) => onlyUseful(findInStruct(resolveStruct(type)))
}

function eachOf<F extends Field>(of: Place<F> | undefined): Place<F> | undefined {
  return of === undefined ? undefined : { kind: 'each', of }
}

function eitherOf<F extends Field>(object: Place<F> | undefined, array: Place<F> | undefined): Place<F> | undefined {
  return object === undefined && array === undefined ? undefined : { kind: 'either', object, array }
}

/** Removes parts that lead to no field from all places that a place leads to. */
function onlyUseful<F extends Field>(root: StructPlace<F>): Place<F> | undefined {
  const structs = new Set([root])
  for (const { inner } of structs) for (const place of inner.values()) for (const struct of structsOf(place)) structs.add(struct)
  const useful = new Set([...structs].filter(({ fields }) => fields.length > 0))
  const isUseful = (place: Place<F>): boolean => structsOf(place).some((struct) => useful.has(struct))
  for (let count = -1; count < useful.size; ) {
    count = useful.size
    for (const struct of structs) if ([...struct.inner.values()].some(isUseful)) useful.add(struct)
  }
  for (const { inner } of structs) for (const [name, place] of inner) if (!isUseful(place)) inner.delete(name)
  return useful.has(root) ? root : undefined
}

function structsOf<F extends Field>(place: Place<F> | undefined): StructPlace<F>[] {
  if (place === undefined) return []
  if (place.kind === 'struct') return [place]
  return place.kind === 'each' ? structsOf(place.of) : [...structsOf(place.object), ...structsOf(place.array)]
}

/** Calls back for every struct that may have such fields; `path` is only made when it is asked for. */
export function visitPlaces<F extends Field>(
  place: Place<F>,
  value: unknown,
  visit: (struct: Struct, fields: readonly F[], path: () => string) => void,
  path: () => string = () => '',
): void {
  if (!hasMembers(value)) return
  if (place.kind === 'each') {
    const at = (key: string) => () => `${path()}[${key}]`
    for (const [key, item] of Object.entries(value)) visitPlaces(place.of, item, visit, at(key))
    return
  }
  if (place.kind === 'either') {
    const chosen = chooseAlternative(place, value)
    if (chosen !== undefined) visitPlaces(chosen, value, visit, path)
    return
  }
  if (place.fields.length > 0) visit(value, place.fields, path)
  // Of large objects most parts are small: it is cheaper to see that they lead nowhere than to look for each that might be there.
  if (!Object.keys(value).some((name) => place.inner.has(name))) return
  for (const [name, inner] of place.inner) {
    const member = value[name]
    if (member !== undefined) visitPlaces(inner, member, visit, () => memberPath(path(), name))
  }
}

/** The places within a value that may be an object or a list. */
export function chooseAlternative<F extends Field>(
  { object, array }: Extract<Place<F>, { kind: 'either' }>,
  value: object,
): Place<F> | undefined {
  return Array.isArray(value) ? array : object
}

/** The path of a member of the value at a path. */
export function memberPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}
