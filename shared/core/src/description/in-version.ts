import type { FieldDefinition, InlineDefinition } from './fields.ts'
import type { Lifetime } from './levels.ts'
import type { Node } from './node.ts'
import type { StructDefinition, TypeThunk } from './structs.ts'
import { ref } from './values.ts'

/** Two versions of a group, as packages of types: `batch/v1` and `batch/v1beta1`. */
interface VersionChange {
  readonly from: string
  readonly to: string
  /** The levels of a type in the other version. Default: those of the type itself. */
  readonly lifetimeOf?: (type: string) => Lifetime | undefined
}

type Types = Readonly<Record<string, TypeThunk>>

/** Copies types to another version: they refer to each other there, and to the same other types. */
export function inVersion<T extends Types>(types: T, change: VersionChange): T
export function inVersion(types: Types, change: VersionChange): Types {
  const names = new Map(Object.keys(types).map((name) => [`${change.from}.${name}`, `${change.to}.${name}`]))
  const lifetimeOf = change.lifetimeOf ?? (() => undefined)
  return Object.fromEntries(Object.entries(types).map(([name, thunk]) => [name, () => lasting(renamed(thunk(), names), lifetimeOf(name))]))
}

function lasting(type: Node | StructDefinition, lifetime: Lifetime | undefined): Node | StructDefinition {
  if (lifetime === undefined || type.kind !== 'structDefinition') return type
  const { since: _since, until: _until, ...facets } = type.facets
  return { ...type, facets: { ...facets, ...lifetime } }
}

function renamed(type: Node | StructDefinition, names: ReadonlyMap<string, string>): Node | StructDefinition {
  if (type.kind !== 'structDefinition') return renamedNode(type, names)
  const members = Object.entries(type.members).map(([name, member]) => [name, renamedMember(member, names)])
  return { ...type, members: Object.fromEntries(members) }
}

function renamedMember(member: FieldDefinition | InlineDefinition, names: ReadonlyMap<string, string>): FieldDefinition | InlineDefinition {
  if (member.kind === 'inline') return { ...member, type: names.get(member.type) ?? member.type }
  return { ...member, node: renamedNode(member.node, names) }
}

function renamedNode(node: Node, names: ReadonlyMap<string, string>): Node {
  if (node.kind === 'ref') return ref(names.get(node.name) ?? node.name)
  if (node.kind === 'list') return node.isWrapped ? node : { ...node, items: renamedNode(node.items, names) }
  return node.kind === 'map' ? { ...node, values: renamedNode(node.values, names) } : node
}
