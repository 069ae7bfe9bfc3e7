import { expect, test } from 'vitest'
import type { Field, Node } from '../description/node.ts'
import { allTypeNames, resolveNode, resolveType } from '../schema/resolve.ts'

/** Every field of every type, with its path. */
const fields = allTypeNames().flatMap((name) => {
  const node = resolveType(name)
  return node.kind === 'struct' ? node.fields.map((field) => ({ path: `${name}.${field.name}`, field })) : []
})

const scalars: ReadonlySet<Node['kind']> = new Set(['string', 'boolean', 'int32', 'int64', 'intOrString'])

/** The keys of a list that are not scalar fields of its items. */
function badKeys(field: Field): readonly string[] {
  const list = resolveNode(field.node)
  const item = list.kind === 'list' ? resolveNode(list.items) : undefined
  const members = new Map(item?.kind === 'struct' ? item.fields.map((member) => [member.name, resolveNode(member.node).kind]) : [])
  return (field.listMapKeys ?? []).filter((key) => !scalars.has(members.get(key) ?? 'struct'))
}

test('SSA-39: keys of list items exist only with listType map, and are scalar fields of the items', () => {
  // The items of a List are objects whose `name` is in their metadata, so the marker `name` does not fit. A List is never applied.
  const keyed = fields.filter(({ path, field }) => field.listMapKeys !== undefined && !path.endsWith('List.items'))
  expect(keyed.length).toBeGreaterThan(15)
  expect(keyed.filter(({ field }) => field.listType !== 'map').map(({ path }) => path)).toEqual([])
  expect(keyed.filter(({ field }) => badKeys(field).length > 0).map(({ path }) => path)).toEqual([])
})

test('SSA-35: a list type is atomic, set or map, on lists, or on bytes as a whole', () => {
  const typed = fields.filter(({ field }) => field.listType !== undefined)
  expect(new Set(typed.map(({ field }) => field.listType))).toEqual(new Set(['atomic', 'map', 'set']))
  const isAtomicBytes = ({ listType, node }: Field) => listType === 'atomic' && resolveNode(node).kind === 'bytes'
  const others = typed.filter(({ field }) => resolveNode(field.node).kind !== 'list' && !isAtomicBytes(field))
  expect(others.map(({ path }) => path)).toEqual([])
})
