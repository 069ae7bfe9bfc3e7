import type { Node } from '../description/node.ts'
import { hasMembers } from '../json/member.ts'
import { placesOfMembers } from '../json/parse-exactly.ts'
import { unknownFieldText } from './decode.ts'
import { resolveNode, resolveType } from './resolve.ts'

/** Maximum number of reported problems. */
const problemsMax = 100

/** The problems of a body besides its values. */
export interface FieldProblems {
  /** Paths of unknown fields, in the order of the body. */
  readonly unknown: readonly string[]
  /** Paths of duplicate members, in the order of their second occurrence. */
  readonly duplicates: readonly string[]
  /** The JSON text of a body with duplicates; undefined to report duplicates first. */
  readonly source?: (() => string) | undefined
  /** True if kube-apiserver reads the body into a map before a type: all duplicates are reported, and come first. */
  readonly isMap?: boolean
}

/**
 * The problems in the order of the body, each once. An unknown field is reported only as unknown, even if it is a duplicate,
 * and its contents are ignored, unless the body is read into a map.
 */
export function fieldProblems({ unknown, duplicates, source, isMap = false }: FieldProblems): string[] {
  const strange = [...new Set(unknown)].slice(0, problemsMax)
  const repeated = isMap ? duplicates : duplicates.filter((path) => !strange.some((parent) => isWithin(path, parent)))
  const listed = (): string[] => [...repeated.map(duplicateFieldText), ...strange.map(unknownFieldText)]
  if (strange.length === 0 || repeated.length === 0 || source === undefined || isMap) return listed().slice(0, problemsMax)
  const places = placesOfMembers(source(), new Set([...strange, ...repeated]))
  const found = [
    ...strange.map((path) => ({ text: unknownFieldText(path), at: places.get(path)?.[0] ?? 0 })),
    ...repeated.map((path) => ({ text: duplicateFieldText(path), at: places.get(path)?.[1] ?? 0 })),
  ]
  const inOrder = found.sort((left, right) => left.at - right.at)
  return inOrder.slice(0, problemsMax).map(({ text }) => text)
}

/** A path, and the rest of it below a value. */
interface Rest {
  readonly path: string
  readonly rest: string
}

/** Drops the paths within parts of a value of this type that parse themselves in kube-apiserver, which reports no duplicates in them. */
export function withoutOwnJson(type: string, value: unknown, paths: readonly string[]): readonly string[] {
  if (paths.length === 0) return paths
  const dropped = new Set<string>()
  const visit = (node: Node, part: unknown, open: readonly Rest[]): void => {
    if (open.length === 0) return
    const target = resolveNode(node)
    const members = hasMembers(part) ? part : {}
    const enter = (name: string, step: string, inner: Node) => visit(inner, members[name], restsBelow(open, step))
    if (target.kind === 'struct') for (const { name, node: inner } of target.fields) enter(name, name, inner)
    else if (target.kind === 'map') for (const name in members) enter(name, name, target.values)
    else if (target.kind === 'list') for (const index in members) enter(index, `[${index}]`, target.items)
    else for (const { path, rest } of open) if (rest !== '') dropped.add(path)
  }
  visit(
    resolveType(type),
    value,
    paths.map((path) => ({ path, rest: path })),
  )
  return paths.filter((path) => !dropped.has(path))
}

function restsBelow(open: readonly Rest[], step: string): Rest[] {
  const inside = open.filter(({ rest }) => isWithin(rest, step))
  return inside.map(({ path, rest }) => ({ path, rest: rest.slice(step.length).replace(/^\./, '') }))
}

/** Paths of fields, sorted as in a text whose objects have sorted members. */
export function inMemberOrder(paths: readonly string[]): string[] {
  const split = paths.map((path) => ({ path, steps: path.split(/[.[]/) }))
  return split.sort((left, right) => compareSteps(left.steps, right.steps)).map(({ path }) => path)
}

function compareSteps(left: readonly string[], right: readonly string[]): number {
  const at = left.findIndex((step, index) => step !== right[index])
  if (at < 0) return left.length - right.length
  const [mine = '', other = ''] = [left[at], right[at]]
  const difference = Number.parseInt(mine, 10) - Number.parseInt(other, 10)
  if (mine.endsWith(']') && other.endsWith(']') && difference) return difference
  return mine < other ? -1 : Number(mine > other)
}

/** The message about a duplicate member, for warnings and strict errors. */
function duplicateFieldText(path: string): string {
  return `duplicate field ${JSON.stringify(path)}`
}

function isWithin(path: string, parent: string): boolean {
  if (!path.startsWith(parent)) return false
  const next = path.charAt(parent.length)
  return next === '' || next === '.' || next === '['
}
