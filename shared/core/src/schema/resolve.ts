import { packages, type TypePackage } from '../api/packages.ts'
import {
  existsAt,
  type LevelSet,
  latestOf,
  levelOfName,
  nameAtLevel,
  nodeAtLevel,
  oldestLevel,
  ownLevelsOf,
  plainNameOf,
  visitReferences,
} from '../description/levels.ts'
import type { Node, StructNode } from '../description/node.ts'
import { completeStruct } from '../description/structs.ts'
import { printApiVersion } from '../meta/api-version.ts'
import { domainGroup, type Names } from '../names.ts'
import { presetLevels } from './preset-levels.ts'

const described = new Map<string, Node>()
const resolved = new Map<string, Node>()

/**
 * The type for a name such as `core/v1.Pod` or `core/v1.Pod@30`, created at first use and cached.
 * A type that is only a reference resolves to its target.
 */
export function resolveType(name: string): Node {
  const known = resolved.get(name)
  if (known !== undefined) return known
  const level = levelOfName(name)
  const node = nodeAtLevel(describedType(plainNameOf(name)), level, (other) => typeNameAt(other, level))
  const made = node.kind === 'ref' ? resolveType(node.name) : node
  resolved.set(name, made)
  return made
}

/** A type with the members of all levels. */
function describedType(name: string): Node {
  const known = described.get(name)
  if (known !== undefined) return known
  const thunk = packages[packageOf(name)]?.types[typeOf(name)]
  if (thunk === undefined) throw new Error(`no type is called ${name}`)
  const made = thunk()
  const node = made.kind === 'structDefinition' ? completeStruct(made, describedStruct) : made
  described.set(name, node)
  return node
}

function describedStruct(name: string): StructNode {
  const node = describedType(name)
  if (node.kind !== 'struct') throw new Error(`${name} is not a struct`)
  return node
}

/** The levels at which a type changes, itself or through a referenced type. */
const levelsOfTypes = new Map<string, LevelSet>()

/**
 * The name of a type at a level. Levels with an equal type share a name, and so everything derived from it:
 * `core/v1.PodSpec@30` may mean 1.30 and 1.31.
 */
export function typeNameAt(name: string, level: number): string {
  const plain = plainNameOf(name)
  return level <= oldestLevel ? plain : nameAtLevel(plain, latestOf(levelsOfType(plain), level))
}

function levelsOfType(name: string): LevelSet {
  return levelsOfTypes.get(name) ?? (presetLevels === undefined ? findLevelsOfType(name) : (presetLevels[name] ?? 0))
}

/** The types that change at some level, with these levels. */
export function levelsOfAllTypes(): Record<string, LevelSet> {
  const levels = allTypeNames().map((name) => [name, findLevelsOfType(name)] as const)
  return Object.fromEntries(levels.filter(([, set]) => set !== 0))
}

function findLevelsOfType(name: string): LevelSet {
  const references = new Map<string, (readonly [name: string, during: LevelSet])[]>([[name, []]])
  // Types contain each other: levels are propagated until nothing changes.
  for (const [type, found] of references) {
    if (levelsOfTypes.has(type)) continue
    visitReferences(describedType(type), (other, during) => {
      found.push([other, during])
      if (!references.has(other)) references.set(other, [])
    })
  }
  const levels = new Map([...references.keys()].map((type) => [type, levelsOfTypes.get(type) ?? ownLevelsOf(describedType(type))]))
  for (let isSettled = false; !isSettled; ) {
    isSettled = true
    for (const [type, found] of references) {
      const before = levels.get(type)!
      const after = found.reduce((sum, [other, during]) => sum | (levels.get(other)! & during), before)
      if (after !== before) isSettled = false
      levels.set(type, after)
    }
  }
  for (const [type, set] of levels) levelsOfTypes.set(type, set)
  return levels.get(name)!
}

/** True if a level has a type. */
export function hasTypeAt(name: string, level: number): boolean {
  const named = packages[packageOf(name)]
  if (named === undefined || !existsAt(named, level) || !hasType(name)) return false
  const node = describedType(plainNameOf(name))
  return node.kind !== 'struct' || existsAt(node, level)
}

/** Like `resolveType`, for a struct. */
export function resolveStruct(name: string): StructNode {
  const node = resolveType(name)
  if (node.kind !== 'struct') throw new Error(`${name} is not a struct`)
  return node
}

/** The node, or the target of a reference. */
export function resolveNode(node: Node): Node {
  return node.kind === 'ref' ? resolveType(node.name) : node
}

/** True if a type of this name exists. */
export function hasType(name: string): boolean {
  return packages[packageOf(name)]?.types[typeOf(name)] !== undefined
}

/** The names of all types, grouped by package. */
export function allTypeNames(): string[] {
  return namesIn(Object.entries(packages))
}

/** Names of the types in the packages of a level, without the level. */
export function typeNamesAt(level: number): string[] {
  return namesIn(Object.entries(packages).filter(([, one]) => existsAt(one, level)))
}

function namesIn(entries: readonly [name: string, TypePackage][]): string[] {
  return entries.flatMap(([name, { types }]) => Object.keys(types).map((type) => `${name}.${type}`))
}

/** The package in a name: `core/v1` for `core/v1.Pod`. */
export function packageOf(name: string): string {
  return name.slice(0, name.lastIndexOf('.'))
}

/** The type in a name: `Pod` for `core/v1.Pod` and `core/v1.Pod@30`. */
export function typeOf(name: string): string {
  return plainNameOf(name).slice(name.lastIndexOf('.') + 1)
}

/** The group and version of a package's kinds. */
export function groupVersionOf(names: Names, packageName: string): { group: string; version: string } {
  const found = packages[packageName]
  if (found === undefined) throw new Error(`no package is called ${packageName}`)
  return { group: found.domain === undefined ? (found.group ?? '') : domainGroup(names, found.domain), version: found.version }
}

/** The type of a kind in a group and version. Kinds such as DeleteOptions exist in all. */
export function typeOfKind(names: Names, apiVersion: string, kind: string): string | undefined {
  const isWritten = (packageName: string): boolean => {
    const { group, version } = groupVersionOf(names, packageName)
    return apiVersion === printApiVersion(group, version)
  }
  return [...Object.keys(packages).filter(isWritten), 'meta/v1'].map((name) => `${name}.${kind}`).find(hasType)
}

/** The name of a type in OpenAPI: `io.orch.api.core.v1.Pod`. */
export function openApiName(names: Names, typeName: string): string {
  const packageName = packageOf(typeName)
  const path = packages[packageName]?.path ?? `api.${packageName.replace('/', '.')}`
  return `${names.openApiRoot}.${path}.${typeOf(typeName)}`
}
