import { getOrMake } from '../memo.ts'
import { countCodePoints } from './text.ts'

/**
 * The cost of an expression is that of cel-go. For some operations it does not grow with their work: comparing lists of lists, `format`,
 * compiling a pattern at evaluation. So a meter also counts work, in comparisons of two items, about a hundred million per second.
 * An evaluation ends when its work exceeds what any cost limit would pay for.
 */
export const workMax = 12_000_000

/** Ends an evaluation whose work exceeds the limit. */
export class WorkExceeded extends Error {}

/** Number of characters that are copied in the time of one step. */
const charactersPerStep = 4
/** Maximum number of cached comparisons; a full cache is cleared. */
const comparisonsMax = 1_000
/** Maximum number of patterns whose compilation is counted once; a full cache is cleared. */
export const patternsMax = 256
/** Code point counts of texts with at least this many UTF-16 units are cached. */
const longText = 256
/** Property names of larger objects are cached: such objects are few, and listing their properties takes long. */
const unlistedMax = 64

/** JSON, and the rule by which a view reads it. */
export interface Source {
  readonly json: object
  readonly rule: object
}

/**
 * The work of one evaluation, and cached results, which stay valid because values do not change during an evaluation. A nested evaluation,
 * such as that of a variable, uses the same meter.
 */
export class Meter {
  /** The work so far, in steps. */
  work = 0
  readonly #workMax: number
  /** Cached comparisons, by the JSON on the left. */
  #comparisons: Map<object, { readonly rule: object; readonly right: Source; readonly result: unknown }[]> | undefined
  #comparisonCount = 0
  #patterns: Set<string> | undefined
  #lastObject: object | undefined
  #lastObjectKeys: readonly string[] = []
  #largeObjects: Map<object, readonly string[]> | undefined
  #counts: Map<string, number> | undefined
  #points: Map<string, readonly string[]> | undefined

  constructor(limit = workMax) {
    this.#workMax = limit
  }

  /** Counts work. Throws WorkExceeded. */
  addWork(steps: number): void {
    this.work += steps
    if (this.work > this.#workMax) throw new WorkExceeded('operation cancelled: actual cost limit exceeded')
  }

  /** Counts the work of creating a text. */
  addTextWork(characters: number): void {
    this.addWork(characters / charactersPerStep)
  }

  /** Counts the work of compiling a pattern, once per pattern. */
  addPattern(pattern: string, steps: number): void {
    this.#patterns ??= new Set()
    if (this.#patterns.has(pattern)) return
    this.addWork(steps)
    if (this.#patterns.size >= patternsMax) this.#patterns.clear()
    this.#patterns.add(pattern)
  }

  /** The cached result of comparing two values, since a loop may repeat the comparison. */
  remembered<Result>(left: Source, right: Source, compare: () => Result): Result {
    this.#comparisons ??= new Map()
    const same = this.#comparisons
      .get(left.json)
      ?.find((one) => one.rule === left.rule && one.right.json === right.json && one.right.rule === right.rule)
    if (same !== undefined) return same.result as Result
    const result = compare()
    if (this.#comparisonCount >= comparisonsMax) {
      this.#comparisons.clear()
      this.#comparisonCount = 0
    }
    getOrMake(this.#comparisons, left.json, () => []).push({ rule: left.rule, right, result })
    this.#comparisonCount++
    return result
  }

  /** Number of code points of a text. A lone surrogate counts as one. */
  codePointCount(text: string): number {
    if (text.length < longText) return countCodePoints(text)
    this.#counts ??= new Map()
    return ofLast(this.#counts, text, countCodePoints)
  }

  /** True if each code point of the text is one UTF-16 unit, so that both have the same indices. */
  isFlat(text: string): boolean {
    return this.codePointCount(text) === text.length
  }

  codePointsOf(text: string): readonly string[] {
    if (text.length < longText) return [...text]
    this.#points ??= new Map()
    return ofLast(this.#points, text, (long) => [...long])
  }

  /** The names of the properties of a JSON object. */
  propertiesOf(object: object): readonly string[] {
    if (object !== this.#lastObject) {
      this.#lastObjectKeys = this.#largeObjects?.get(object) ?? this.#listProperties(object)
      this.#lastObject = object
    }
    return this.#lastObjectKeys
  }

  #listProperties(object: object): readonly string[] {
    const properties = Object.keys(object)
    if (properties.length > unlistedMax) {
      this.#largeObjects ??= new Map()
      this.#largeObjects.set(object, properties)
    }
    return properties
  }
}

/** A meter without a limit, for work outside an evaluation. */
export function unlimitedMeter(): Meter {
  return new Meter(Number.POSITIVE_INFINITY)
}

/** A result for one of the last two texts. */
function ofLast<T>(kept: Map<string, T>, text: string, make: (text: string) => T): T {
  if (kept.size === 2 && !kept.has(text)) kept.clear()
  return getOrMake(kept, text, () => make(text))
}
