import type { Field, Node, StringNode, StructNode } from './node.ts'

/** The oldest described level, by minor version. A field without `since` exists at every level. */
export const oldestLevel = 25

/** A set of levels as a bit mask. */
export type LevelSet = number

/** The name without a level. Type names may contain a level, as in `core/v1.PodSpec@30`; a plain name means the oldest level. */
export function plainNameOf(name: string): string {
  const at = name.indexOf('@')
  return at < 0 ? name : name.slice(0, at)
}

/** The level in a name: 30 for `core/v1.PodSpec@30`. */
export function levelOfName(name: string): number {
  const at = name.indexOf('@')
  return at < 0 ? oldestLevel : Number(name.slice(at + 1))
}

/** A name with a level, or the plain name for the oldest level. */
export function nameAtLevel(name: string, level: number): string {
  return level <= oldestLevel ? name : `${name}@${level}`
}

/** The levels of a set up to a maximum. */
export function latestOf(levels: LevelSet, level: number): number {
  for (let one = level; one > oldestLevel; one--) if ((levels & bitOf(one)) !== 0) return one
  return oldestLevel
}

/** A range of levels, including both ends. */
export interface Lifetime {
  readonly since?: number
  readonly until?: number
}

/** True if something exists at a level. */
export function existsAt({ since = 0, until = Infinity }: Lifetime, level: number): boolean {
  return since <= level && level <= until
}

/** The levels at which a description itself changes. */
export function ownLevelsOf(node: Node): LevelSet {
  if (node.kind === 'struct') {
    let levels = 0
    for (const field of node.fields) levels |= lifetimeLevels(field) | changeLevels(field.changes)
    for (const field of node.fields) levels |= stringLevels(field.node)
    return levels | changeLevels(node.changes)
  }
  return stringLevels(node)
}

/** Calls back for each type that a description refers to, with the levels at which it refers to it. */
export function visitReferences(node: Node, visit: (name: string, levels: LevelSet) => void, levels: LevelSet = ~0): void {
  switch (node.kind) {
    case 'ref':
      visit(node.name, levels)
      return
    case 'list':
      visitReferences(node.items, visit, levels)
      return
    case 'map':
      visitReferences(node.values, visit, levels)
      return
    case 'variant':
      for (const form of [node.object, node.array, node.boolean]) if (form !== undefined) visitReferences(form.node, visit, levels)
      return
    case 'struct':
      for (const field of node.fields) {
        const during = levels & lifetimeOf(field)
        visitReferences(field.node, visit, during)
        for (const change of Object.values(field.changes ?? {})) if (change.node !== undefined) visitReferences(change.node, visit, during)
      }
      return
    default:
      return
  }
}

/** A description at a level. `nameAt` gives the names of referenced types at that level. Unchanged parts are shared. */
export function nodeAtLevel(node: Node, level: number, nameAt: (name: string) => string): Node {
  switch (node.kind) {
    case 'ref': {
      const name = nameAt(node.name)
      return name === node.name ? node : { ...node, name }
    }
    case 'list': {
      const items = nodeAtLevel(node.items, level, nameAt)
      return items === node.items ? node : { ...node, items }
    }
    case 'map': {
      const values = nodeAtLevel(node.values, level, nameAt)
      return values === node.values ? node : { ...node, values }
    }
    case 'variant': {
      const at = <F extends { readonly node: Node }>(form: F): F => ({ ...form, node: nodeAtLevel(form.node, level, nameAt) })
      const { array } = node
      return { ...node, object: at(node.object), ...(array === undefined ? {} : { array: at(array) }) }
    }
    case 'string':
      return stringAtLevel(node, level)
    case 'struct':
      return structAtLevel(node, level, nameAt)
    default:
      return node
  }
}

function structAtLevel(node: StructNode, level: number, nameAt: (name: string) => string): StructNode {
  const fields = node.fields.flatMap((field) => (existsAt(field, level) ? [fieldAtLevel(field, level, nameAt)] : []))
  const isSame =
    node.changes === undefined && fields.length === node.fields.length && fields.every((one, index) => one === node.fields[index])
  return isSame ? node : withChanges({ ...node, fields }, node.changes, level)
}

function fieldAtLevel(field: Field, level: number, nameAt: (name: string) => string): Field {
  const changed = withChanges(field, field.changes, level)
  const node = nodeAtLevel(changed.node, level, nameAt)
  return node === changed.node ? changed : { ...changed, node }
}

/** A description with its changes up to a level, in order. A change to undefined removes the member. */
export function withChanges<T extends object>(description: T, changes: Readonly<Record<number, object>> | undefined, level: number): T {
  const reached = Object.entries(changes ?? {}).filter(([since]) => Number(since) <= level)
  if (reached.length === 0) return description
  const changed = Object.assign({ ...description }, ...reached.map(([, change]) => change))
  for (const [facet, value] of Object.entries(changed)) if (value === undefined) delete changed[facet]
  return changed
}

function stringAtLevel(node: StringNode, level: number): StringNode {
  const { valuesSince = {}, valuesUntil = {}, values = [] } = node
  const there = values.filter((value) => (valuesSince[value] ?? 0) <= level && level <= (valuesUntil[value] ?? Infinity))
  return there.length === values.length ? node : { ...node, values: there }
}

function stringLevels(node: Node): LevelSet {
  if (node.kind === 'list') return stringLevels(node.items)
  if (node.kind === 'map') return stringLevels(node.values)
  if (node.kind !== 'string') return 0
  let levels = 0
  for (const since of Object.values(node.valuesSince ?? {})) levels |= bitOf(since)
  for (const until of Object.values(node.valuesUntil ?? {})) levels |= bitOf(until + 1)
  return levels
}

function lifetimeLevels({ since, until }: Lifetime): LevelSet {
  return (since === undefined ? 0 : bitOf(since)) | (until === undefined ? 0 : bitOf(until + 1))
}

/** The levels at which something exists. Bits above the newest release have no meaning. */
function lifetimeOf({ since, until }: Lifetime): LevelSet {
  const begun = since === undefined || since <= oldestLevel ? ~0 : ~0 << (since - oldestLevel)
  return until === undefined ? begun : begun & (bitOf(until + 1) - 1)
}

function changeLevels(changes: Readonly<Record<number, object>> | undefined): LevelSet {
  if (changes === undefined) return 0
  return Object.keys(changes).reduce((levels, level) => levels | bitOf(Number(level)), 0)
}

function bitOf(level: number): LevelSet {
  return 1 << (level - oldestLevel)
}
