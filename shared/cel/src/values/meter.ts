import { countCodePoints } from './text.ts'

/**
 * The cost of an expression is that of cel-go, which for some operations does not grow with their work: a comparison of lists of lists,
 * `format`, a pattern that is made at evaluation. A meter counts their work as well, in comparisons of two items, of which a hundred
 * millions fit into a second, and an evaluation ends if it is more than any limit of cost would pay for.
 */
export const workMax = 12_000_000

/** Ends an evaluation that has done too much. */
export class WorkExceeded extends Error {}

/** Characters that are copied in the time of a step. */
const charactersPerStep = 4
/** Comparisons that a meter keeps; the next one replaces all. */
const comparisonsMax = 1_000
/** Patterns whose work is counted once; the next one replaces all. */
export const patternsMax = 256
/** Texts of this many units are counted once while they are asked for again. */
const longText = 256
/** The numbers of properties of objects with more are kept: there are few of them, and counting takes long. */
const uncountedMax = 64

/** JSON, and the rule by which a view reads it. */
export interface Source {
  readonly json: object
  readonly rule: object
}

interface Comparison {
  readonly left: Source
  readonly right: Source
  readonly result: unknown
}

/** The last two texts that were counted, and the last one that was split. */
class LongTexts {
  #last = ''
  #lastCount = 0
  #before = ''
  #beforeCount = 0
  #lastSplit = ''
  #lastPoints: readonly string[] = []

  count(text: string): number {
    if (text === this.#last) return this.#lastCount
    if (text === this.#before) return this.#beforeCount
    this.#before = this.#last
    this.#beforeCount = this.#lastCount
    this.#lastCount = countCodePoints(text)
    this.#last = text
    return this.#lastCount
  }

  split(text: string): readonly string[] {
    if (text !== this.#lastSplit) {
      this.#lastPoints = [...text]
      this.#lastSplit = text
    }
    return this.#lastPoints
  }
}

/**
 * The work of one evaluation, and results that it makes once, since values do not change in it. An evaluation that another one needs, as
 * that of a variable, has the same meter.
 */
export class Meter {
  /** The work so far, in steps. */
  work = 0
  readonly #workMax: number
  /** By the JSON on the left. */
  #comparisons: Map<object, Comparison[]> | undefined
  #comparisonCount = 0
  #patterns: Set<string> | undefined
  #lastObject: object | undefined
  #lastObjectSize = 0
  #largeObjects: Map<object, number> | undefined
  #texts: LongTexts | undefined

  constructor(limit = workMax) {
    this.#workMax = limit
  }

  /** Counts work. Throws WorkExceeded. */
  addWork(steps: number): void {
    this.work += steps
    if (this.work > this.#workMax) throw new WorkExceeded('operation cancelled: actual cost limit exceeded')
  }

  /** Counts the making of a text. */
  addTextWork(characters: number): void {
    this.addWork(characters / charactersPerStep)
  }

  /** Counts the work of compiling a pattern, once for each pattern. */
  addPattern(pattern: string, steps: number): void {
    this.#patterns ??= new Set()
    if (this.#patterns.has(pattern)) return
    this.addWork(steps)
    if (this.#patterns.size >= patternsMax) this.#patterns.clear()
    this.#patterns.add(pattern)
  }

  /** The result of comparing two values, which an evaluation that compares them in a loop makes once. */
  remembered<Result>(left: Source, right: Source, compare: () => Result): Result {
    this.#comparisons ??= new Map()
    const same = this.#comparisons.get(left.json)?.find((one) => isSame(one.left, left) && isSame(one.right, right))
    if (same !== undefined) return same.result as Result
    const result = compare()
    if (this.#comparisonCount >= comparisonsMax) {
      this.#comparisons.clear()
      this.#comparisonCount = 0
    }
    const kept = this.#comparisons.get(left.json)
    const comparison = { left, right, result }
    if (kept === undefined) this.#comparisons.set(left.json, [comparison])
    else kept.push(comparison)
    this.#comparisonCount++
    return result
  }

  /** Number of code points of a text. A lone surrogate counts as one. */
  codePointCount(text: string): number {
    return text.length < longText ? countCodePoints(text) : this.#longTexts().count(text)
  }

  /** True if each code point of the text is one unit, so that indices agree. */
  isFlat(text: string): boolean {
    return this.codePointCount(text) === text.length
  }

  /** The code points of a text. */
  codePointsOf(text: string): readonly string[] {
    return text.length < longText ? [...text] : this.#longTexts().split(text)
  }

  #longTexts(): LongTexts {
    this.#texts ??= new LongTexts()
    return this.#texts
  }

  /** Number of properties of a JSON object. */
  propertyCount(object: object): number {
    if (object !== this.#lastObject) {
      this.#lastObjectSize = this.#largeObjects?.get(object) ?? this.#countProperties(object)
      this.#lastObject = object
    }
    return this.#lastObjectSize
  }

  #countProperties(object: object): number {
    const size = Object.keys(object).length
    if (size > uncountedMax) {
      this.#largeObjects ??= new Map()
      this.#largeObjects.set(object, size)
    }
    return size
  }
}

/** A meter for work outside of an evaluation, which is not limited. */
export function unlimitedMeter(): Meter {
  return new Meter(Number.POSITIVE_INFINITY)
}

function isSame(one: Source, other: Source): boolean {
  return one.json === other.json && one.rule === other.rule
}
