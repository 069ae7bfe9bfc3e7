import { type CelError, ListView, MapView, type Source } from './values.ts'

/**
 * The cost of an expression is that of cel-go, which for some operations does not grow with their work: a comparison of lists of lists,
 * `format`, a pattern that is made at evaluation. Their work is counted here as well, in comparisons of two items, of which a hundred
 * millions fit into a second, and an evaluation ends if it is more than any limit of cost would pay for.
 */
export const workMax = 12_000_000

/** Ends an evaluation that has done too much. */
export class WorkExceeded extends Error {}

/** Work outside an evaluation is unlimited. */
const unlimited = Number.NEGATIVE_INFINITY
let done = unlimited

/** Begins an evaluation. Returns the work so far of the one that contains it, for `endWork`; its work is counted there too. */
export function beginWork(): number {
  const outer = done
  if (outer === unlimited) done = 0
  return outer
}

/** Ends an evaluation that began with `outer`. */
export function endWork(outer: number): void {
  if (outer !== unlimited) return
  done = unlimited
  forgetComparisons()
}

/** Counts work. */
export function addWork(steps: number): void {
  done += steps
  if (done > workMax) throw new WorkExceeded('operation cancelled: actual cost limit exceeded')
}

/** Characters that are copied in the time of a step. */
const charactersPerStep = 4

/** Counts the making of a text. */
export function addTextWork(characters: number): void {
  addWork(characters / charactersPerStep)
}

/** The work of the evaluation so far. */
export function workDone(): number {
  return done
}

/** Comparisons of more items than that are remembered. */
export const rememberedSizeMin = 64
const rememberedMax = 1_000

interface Comparison {
  readonly left: Source
  readonly right: Source
  readonly result: boolean | CelError
}

/** By the JSON on the left. */
const comparisons = new Map<object, Comparison[]>()
let rememberedCount = 0

/** The result of comparing two values, which an evaluation that compares them in a loop makes once: values do not change in it. */
export function remembered(left: object, right: object, compare: () => boolean | CelError): boolean | CelError {
  const ours = sourceOf(left)
  const theirs = sourceOf(right)
  if (ours === undefined || theirs === undefined) return compare()
  const known = comparisons.get(ours.json)
  const same = known?.find((one) => isSame(one.left, ours) && isSame(one.right, theirs))
  if (same !== undefined) return same.result
  const result = compare()
  if (rememberedCount >= rememberedMax) forgetComparisons()
  const kept = comparisons.get(ours.json)
  const comparison = { left: ours, right: theirs, result }
  if (kept === undefined) comparisons.set(ours.json, [comparison])
  else kept.push(comparison)
  rememberedCount++
  return result
}

function forgetComparisons(): void {
  // An empty map is not cleared: that makes a new table.
  if (comparisons.size > 0) comparisons.clear()
  rememberedCount = 0
}

const asItIs = {}

function sourceOf(value: object): Source | undefined {
  if (value instanceof ListView || value instanceof MapView) return value.source
  return { json: value, rule: asItIs }
}

function isSame(one: Source, other: Source): boolean {
  return one.json === other.json && one.rule === other.rule
}
