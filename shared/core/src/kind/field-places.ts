import { plainNameOf } from '../description/levels.ts'
import { hasMembers, memberPath } from '../json/member.ts'
import { type Field, type Node, resolveNode, resolveStruct, type StructNode } from '../schema/index.ts'

/** The places of selected fields in values of a type. The places of a recursive type are recursive. */
export type Place<F extends Field = Field> =
  | { readonly kind: 'each'; readonly of: Place<F> }
  | { readonly kind: 'either'; readonly object: Place<F> | undefined; readonly array: Place<F> | undefined }
  | StructPlace<F>

/** The places in a struct. Those of a member are computed when a value has it, since most values lack most members. */
interface StructPlace<F extends Field = Field> {
  readonly kind: 'struct'
  readonly fields: readonly F[]
  /** The places in a member; undefined if there are none. */
  readonly inner: (name: string) => Place<F> | undefined
}

/** A decoded value. */
export type Struct = Readonly<Record<string, unknown>>

/**
 * Finds the places of certain fields in a type. It skips objects within objects, such as a claim template, and metadata, which
 * has the same fields in every release.
 */
export function placeFinder<F extends Field>(isWanted: (field: Field) => field is F): (type: string) => Place<F> | undefined {
  const known = new Map<StructNode, StructPlace<F> | undefined>()
  const find = (declared: Node): Place<F> | undefined => {
    if (isPlain(declared)) return undefined
    const node = resolveNode(declared)
    if (node.kind === 'list') return eachOf(find(node.items))
    if (node.kind === 'map') return eachOf(find(node.values))
    if (node.kind === 'variant') return eitherOf(find(node.object.node), node.array && find(node.array.node))
    return node.kind === 'struct' && !node.hasTypeMeta ? findInStruct(node) : undefined
  }
  const findInStruct = (node: StructNode): StructPlace<F> | undefined => {
    if (!known.has(node)) known.set(node, placeInStruct(node))
    return known.get(node)
  }
  const placeInStruct = ({ fields: declared }: StructNode): StructPlace<F> | undefined => {
    const fields = declared.filter(isWanted)
    if (fields.length === 0 && declared.every(({ node }) => isPlain(node))) return undefined
    const found = new Map<string, Place<F> | undefined>()
    const inner = (name: string) => {
      const place = found.get(name)
      if (place !== undefined || found.has(name)) return place
      const field = declared.find((one) => one.name === name)
      if (field !== undefined) found.set(name, find(field.node))
      return found.get(name)
    }
    return { kind: 'struct', fields, inner }
  }
  return (type) => findInStruct(resolveStruct(type))
}

/** True if a node, without resolving other types, contains no structs to search. */
function isPlain(node: Node): boolean {
  if (node.kind === 'list') return isPlain(node.items)
  if (node.kind === 'map') return isPlain(node.values)
  if (node.kind === 'ref') return plainNameOf(node.name) === 'meta/v1.ObjectMeta'
  return node.kind !== 'struct' && node.kind !== 'variant'
}

function eachOf<F extends Field>(of: Place<F> | undefined): Place<F> | undefined {
  return of === undefined ? undefined : { kind: 'each', of }
}

function eitherOf<F extends Field>(object: Place<F> | undefined, array: Place<F> | undefined): Place<F> | undefined {
  return object === undefined && array === undefined ? undefined : { kind: 'either', object, array }
}

/**
 * Calls back for every struct that may have such fields; `path` builds its path on demand. Parts shared with the live
 * object, if given, are skipped.
 */
export function visitPlaces<F extends Field>(
  place: Place<F>,
  value: unknown,
  visit: (struct: Struct, fields: readonly F[], path: () => string) => void,
  live?: unknown,
): void {
  const names: string[] = []
  const path = () => names.reduce((parent, name) => (name.startsWith('[') ? parent + name : memberPath(parent, name)), '')
  walk(place, value, live)

  function walk(at: Place<F>, part: unknown, before: unknown): void {
    if (!hasMembers(part) || part === before) return
    const former = hasMembers(before) ? before : undefined
    switch (at.kind) {
      case 'each':
        for (const key in part) walkMember(at.of, `[${key}]`, part[key], former?.[key])
        return
      case 'either': {
        const chosen = chooseAlternative(at, part)
        if (chosen !== undefined) walk(chosen, part, before)
        return
      }
      case 'struct':
        if (at.fields.length > 0) visit(part, at.fields, path)
        for (const name in part) {
          const member = part[name]
          if (!hasMembers(member) || member === former?.[name]) continue
          const inner = at.inner(name)
          if (inner !== undefined) walkMember(inner, name, member, former?.[name])
        }
    }
  }

  function walkMember(at: Place<F>, name: string, member: unknown, before: unknown): void {
    names.push(name)
    walk(at, member, before)
    names.pop()
  }
}

/** The places within a value that may be an object or a list. */
export function chooseAlternative<F extends Field>(
  { object, array }: Extract<Place<F>, { kind: 'either' }>,
  value: object,
): Place<F> | undefined {
  return Array.isArray(value) ? array : object
}
