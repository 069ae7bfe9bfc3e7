import { isJsonObject, setMember } from '../json/member.ts'
import { canonicalElement, describeElement, type ElementText, sortElements } from './path-element.ts'

/**
 * A set of paths as a tree of steps. A node that is a member stands for the path that leads to it.
 *
 *   {.spec.replicas, .metadata.labels, .metadata.labels.app}
 *   = {f:spec: {f:replicas: •}, f:metadata: {f:labels: • {f:app: •}}}
 *
 * Sets never change and share their parts: an operation that finds nothing to do gives back the very set it was given,
 * so `===` tells whether anything happened. A node below the root is a member or has members below it.
 */
export interface FieldSet {
  readonly isMember: boolean
  readonly children: ReadonlyMap<ElementText, FieldSet> | undefined
}

/** The set of no path. */
export const emptySet: FieldSet = Object.freeze({ isMember: false, children: undefined })
/** The path itself and nothing below it. */
export const leafSet: FieldSet = Object.freeze({ isMember: true, children: undefined })

/** Whether a set has no path. */
export function isEmptySet(set: FieldSet): boolean {
  return !set.isMember && set.children === undefined
}

/** A node; undefined when it would stand for nothing. */
export function nodeOf(isMember: boolean, children: ReadonlyMap<ElementText, FieldSet> | undefined): FieldSet | undefined {
  if (children === undefined || children.size === 0) return isMember ? leafSet : undefined
  return { isMember, children }
}

/** A set from paths, each a list of steps. */
export function setOfPaths(paths: Iterable<readonly ElementText[]>): FieldSet {
  let set = emptySet
  for (const path of paths)
    set = union(
      set,
      path.reduceRight<FieldSet>((below, element) => ({ isMember: false, children: new Map([[element, below]]) }), leafSet),
    )
  return set
}

/** Reads the form that `managedFields` keeps. Undefined: it is no such form. */
export function parseFieldSet(fields: unknown): FieldSet | undefined {
  if (!isJsonObject(fields)) return undefined
  const set = parseNode(fields)
  return set === undefined ? undefined : { isMember: false, children: set.children }
}

function parseNode(fields: Record<string, unknown>): FieldSet | undefined {
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
    const child = parseNode(below)
    if (child === undefined) return undefined
    children ??= new Map()
    const twin = children.get(element)
    children.set(element, twin === undefined ? child : union(twin, child))
  }
  return children === undefined ? leafSet : { isMember, children }
}

/** Prints the form that `managedFields` keeps, steps in order. */
export function printFieldSet(set: FieldSet): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  if (set.children === undefined) return fields
  if (set.isMember) fields['.'] = {}
  const elements = [...set.children.keys()]
  if (elements.length > 1) sortElements(elements)
  for (const element of elements) setMember(fields, element, printFieldSet(set.children.get(element) as FieldSet))
  return fields
}

/** Paths of the left or of the right set. */
export function union(left: FieldSet, right: FieldSet): FieldSet {
  if (left === right || isEmptySet(right)) return left
  if (isEmptySet(left)) return right
  const children = unionOfChildren(left.children, right.children)
  const isMember = left.isMember || right.isMember
  return isMember === left.isMember && children === left.children ? left : { isMember, children }
}

/** Paths that are in any of the sets. Costs as much as there are paths, however many sets there are. */
export function unionOfAll(sets: readonly FieldSet[]): FieldSet {
  if (sets.length < 2) return sets[0] ?? emptySet
  const groups = new Map<ElementText, FieldSet[]>()
  for (const { children } of sets) {
    for (const [element, child] of children ?? []) {
      const group = groups.get(element)
      if (group === undefined) groups.set(element, [child])
      else group.push(child)
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

/** Paths of the left set that the right one does not have. */
export function difference(left: FieldSet, right: FieldSet): FieldSet {
  return subtract(left, right, false) ?? emptySet
}

/** As `difference`, and a path of the right set takes away everything below it too. */
export function recursiveDifference(left: FieldSet, right: FieldSet): FieldSet {
  return subtract(left, right, true) ?? emptySet
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

/** Paths that both sets have. */
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

/** Whether both sets have the same paths. */
export function equalSets(left: FieldSet, right: FieldSet): boolean {
  if (left === right) return true
  if (left.isMember !== right.isMember || left.children?.size !== right.children?.size) return false
  for (const [element, child] of left.children ?? []) {
    const other = right.children?.get(element)
    if (other === undefined || !equalSets(child, other)) return false
  }
  return true
}

/** The paths as messages show them, in order: `.spec.ports[port=80].name`. A node's own members come before what is below them. */
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
