import { packages } from '../api/packages.ts'
import { completeStruct } from '../description/define.ts'
import type { Node, StructNode } from '../description/node.ts'
import { printApiVersion } from '../meta/api-version.ts'
import { domainGroup, type Names } from '../names.ts'

const resolved = new Map<string, Node>()

/**
 * The type of a name such as `core/v1.Pod`, made at the first question and kept.
 * A type that only names another one gives that other one.
 */
export function resolveType(name: string): Node {
  const known = resolved.get(name)
  if (known !== undefined) return known
  const thunk = packages[packageOf(name)]?.types[typeOf(name)]
  if (thunk === undefined) throw new Error(`no type is called ${name}`)
  const made = thunk()
  const node = made.kind === 'structDefinition' ? completeStruct(made, resolveStruct) : resolveNode(made)
  resolved.set(name, node)
  return node
}

/** As `resolveType`, for a name that is known to be a struct's. */
export function resolveStruct(name: string): StructNode {
  const node = resolveType(name)
  if (node.kind !== 'struct') throw new Error(`${name} is not a struct`)
  return node
}

/** The node itself, or what a reference stands for. */
export function resolveNode(node: Node): Node {
  return node.kind === 'ref' ? resolveType(node.name) : node
}

/** Whether a type of this name exists. */
export function hasType(name: string): boolean {
  return packages[packageOf(name)]?.types[typeOf(name)] !== undefined
}

/** Names of all types, grouped as they are kept. */
export function allTypeNames(): string[] {
  return Object.entries(packages).flatMap(([name, { types }]) => Object.keys(types).map((type) => `${name}.${type}`))
}

/** `core/v1` of `core/v1.Pod`. */
export function packageOf(name: string): string {
  return name.slice(0, name.lastIndexOf('.'))
}

/** `Pod` of `core/v1.Pod`. */
export function typeOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1)
}

/** Group and version in which a package's kinds are written. */
export function groupVersionOf(names: Names, packageName: string): { group: string; version: string } {
  const found = packages[packageName]
  if (found === undefined) throw new Error(`no package is called ${packageName}`)
  return { group: found.domain === undefined ? (found.group ?? '') : domainGroup(names, found.domain), version: found.version }
}

/** The type of a kind as it is written in a group and version; kinds such as DeleteOptions are written in every one. */
export function typeOfKind(names: Names, apiVersion: string, kind: string): string | undefined {
  const isWritten = (packageName: string): boolean => {
    const { group, version } = groupVersionOf(names, packageName)
    return apiVersion === printApiVersion(group, version)
  }
  return [...Object.keys(packages).filter(isWritten), 'meta/v1'].map((name) => `${name}.${kind}`).find(hasType)
}

/** Name of a type in OpenAPI: `io.orch.api.core.v1.Pod`. */
export function openApiName(names: Names, typeName: string): string {
  const packageName = packageOf(typeName)
  const path = packages[packageName]?.path ?? `api.${packageName.replace('/', '.')}`
  return `${names.openApiRoot}.${path}.${typeOf(typeName)}`
}
