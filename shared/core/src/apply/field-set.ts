import { getOrMake } from '@orch/cel/memo'
import { isJsonObject, setMember } from '../json/member.ts'
import { ownedDepthMax } from './check.ts'
import { canonicalElement, describeElement, type ElementText, sortElements } from './path-element.ts'

/**
 * A set of paths, stored as a tree of path elements. A node with `isMember` represents the path that leads to it.
 *
 *   {.spec.replicas, .metadata.labels, .metadata.labels.app}
 *   = {f:spec: {f:replicas: •}, f:metadata: {f:labels: • {f:app: •}}}
 *
 * Sets are immutable and share their parts. An operation without effect returns its argument, so `===` shows if a set
 * changed. Every node below the root is a member or has members below it.
 */
export interface FieldSet {
  readonly isMember: boolean
  readonly children: ReadonlyMap<ElementText, FieldSet> | undefined
}

export const emptySet: FieldSet = Object.freeze({ isMember: false, children: undefined })
/** A member without members below it. */
export const leafSet: FieldSet = Object.freeze({ isMember: true, children: undefined })

/** True for an empty set. */
export function isEmptySet(set: FieldSet): boolean {
  return !set.isMember && set.children === undefined
}

/** A node; undefined if it is no member and has no members below it. */
export function nodeOf(isMember: boolean, children: ReadonlyMap<ElementText, FieldSet> | undefined): FieldSet | undefined {
  if (children === undefined || children.size === 0) return isMember ? leafSet : undefined
  return { isMember, children }
}

/** Makes a set from paths, each a list of path elements. */
export function setOfPaths(paths: Iterable<readonly ElementText[]>): FieldSet {
  let set = emptySet
  for (const path of paths)
    set = union(
      set,
      path.reduceRight<FieldSet>((below, element) => ({ isMember: false, children: new Map([[element, below]]) }), leafSet),
    )
  return set
}

/** Parses the `fieldsV1` of a managedFields entry. Undefined if it is malformed or deeper than any ownable object. */
export function parseFieldSet(fields: unknown): FieldSet | undefined {
  if (!isJsonObject(fields)) return undefined
  const set = parseNode(fields, 0)
  return set === undefined ? undefined : { isMember: false, children: set.children }
}

function parseNode(fields: Record<string, unknown>, depth: number): FieldSet | undefined {
  if (depth > ownedDepthMax) return undefined
  let isMember = false
  let children: Map<ElementText, FieldSet> | undefined
  for (const key in fields) {
    if (key === '.') {
      isMember = true
      continue
    }
    const element = canonicalElement(key)
    const below = fields[key]
    if (element === undefined || !isJsonObject(below)) return undefined
    const child = parseNode(below, depth + 1)
    if (child === undefined) return undefined
    children ??= new Map()
    const twin = children.get(element)
    children.set(element, twin === undefined ? child : union(twin, child))
  }
  return children === undefined ? leafSet : { isMember, children }
}

/** Prints a set as `fieldsV1`, path elements in order. */
export function printFieldSet(set: FieldSet): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  if (set.children === undefined) return fields
  if (set.isMember) fields['.'] = {}
  const elements = [...set.children.keys()]
  if (elements.length > 1) sortElements(elements)
  for (const element of elements) setMember(fields, element, printFieldSet(set.children.get(element) as FieldSet))
  return fields
}

/** The union of two sets. */
export function union(left: FieldSet, right: FieldSet): FieldSet {
  if (left === right || isEmptySet(right)) return left
  if (isEmptySet(left)) return right
  const children = unionOfChildren(left.children, right.children)
  const isMember = left.isMember || right.isMember
  return isMember === left.isMember && children === left.children ? left : { isMember, children }
}

/** The union of several sets. The cost is proportional to the number of paths, not of sets. */
export function unionOfAll(sets: readonly FieldSet[]): FieldSet {
  if (sets.length < 2) return sets[0] ?? emptySet
  const groups = new Map<ElementText, FieldSet[]>()
  for (const { children } of sets) {
    for (const [element, child] of children ?? []) {
      getOrMake(groups, element, () => []).push(child)
    }
  }
  const children = new Map<ElementText, FieldSet>()
  for (const [element, group] of groups) children.set(element, unionOfAll(group))
  return (
    nodeOf(
      sets.some(({ isMember }) => isMember),
      children,
    ) ?? emptySet
  )
}

type Children = FieldSet['children']

function unionOfChildren(left: Children, right: Children): Children {
  if (left === undefined || right === undefined) return left ?? right
  let merged: Map<ElementText, FieldSet> | undefined
  for (const [element, added] of right) {
    const known = left.get(element)
    const child = known === undefined ? added : union(known, added)
    if (child === known) continue
    merged ??= new Map(left)
    merged.set(element, child)
  }
  return merged ?? left
}

/** The paths of the left set that are not in the right one. */
export function difference(left: FieldSet, right: FieldSet): FieldSet {
  if (left === right) return emptySet
  return subtract(left, right, false) ?? emptySet
}

/** Like `difference`, but a path of the right set also removes all paths below it. Without a right set, the left one. */
export function recursiveDifference(left: FieldSet, right: FieldSet | undefined): FieldSet {
  return right === undefined ? left : (subtract(left, right, true) ?? emptySet)
}

function subtract(left: FieldSet, right: FieldSet, isRecursive: boolean): FieldSet | undefined {
  if (isRecursive && right.isMember) return undefined
  const isMember = left.isMember && !right.isMember
  const children = subtractChildren(left.children, right.children, isRecursive)
  return isMember === left.isMember && children === left.children ? left : nodeOf(isMember, children)
}

function subtractChildren(left: Children, right: Children, isRecursive: boolean): Children {
  if (left === undefined || right === undefined) return left
  let kept: Map<ElementText, FieldSet> | undefined
  for (const [element, taken] of right) {
    const known = left.get(element)
    if (known === undefined) continue
    const child = subtract(known, taken, isRecursive)
    if (child === known) continue
    kept ??= new Map(left)
    if (child === undefined) kept.delete(element)
    else kept.set(element, child)
  }
  return kept ?? left
}

/** The intersection of two sets. */
export function intersection(left: FieldSet, right: FieldSet): FieldSet {
  return intersect(left, right) ?? emptySet
}

function intersect(left: FieldSet, right: FieldSet): FieldSet | undefined {
  if (left === right) return left
  const children = new Map<ElementText, FieldSet>()
  if (left.children !== undefined && right.children !== undefined) {
    const [few, many] = left.children.size < right.children.size ? [left.children, right.children] : [right.children, left.children]
    for (const [element, child] of few) {
      const other = many.get(element)
      const both = other === undefined ? undefined : intersect(child, other)
      if (both !== undefined) children.set(element, both)
    }
  }
  return nodeOf(left.isMember && right.isMember, children)
}

/** True if two sets have the same paths. */
export function equalSets(left: FieldSet, right: FieldSet): boolean {
  if (left === right) return true
  if (left.isMember !== right.isMember || left.children?.size !== right.children?.size) return false
  if (left.children === undefined) return true
  // Iterating over entries would create an object for each; every write compares sets.
  for (const element of left.children.keys()) {
    const child = left.children.get(element)
    const other = right.children?.get(element)
    if (child === undefined || other === undefined || !equalSets(child, other)) return false
  }
  return true
}

/** The paths in the form of messages, in order: `.spec.ports[port=80].name`. A member precedes the paths below it. */
export function describePaths(set: FieldSet, prefix = ''): string[] {
  const elements = sortElements([...(set.children?.keys() ?? [])])
  const members: string[] = []
  const below: string[] = []
  for (const element of elements) {
    const child = set.children?.get(element) as FieldSet
    const path = prefix + describeElement(element)
    if (child.isMember) members.push(path)
    below.push(...describePaths(child, path))
  }
  return [...members, ...below]
}
