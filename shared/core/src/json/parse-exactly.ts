import { runAtOnce, type Steps } from '../steps.ts'
import { lacksDigit, misspeltWord, unexpected, wrongInString } from './go-errors.ts'
import { setMember } from './member.ts'
import { Numeral } from './numeral.ts'
import { isEscaped } from './text.ts'

/** The result of the exact parser. Paths have the form `spec.ports[0].name`. */
export type ExactJson =
  | { kind: 'parsed'; value: unknown; duplicates: string[]; hasBigIntegers: boolean; hasNumerals: boolean }
  | { kind: 'malformed'; problem: string; isNumberTooLarge: boolean }

/** Maximum number of reported duplicates. */
const duplicatesMax = 100

const int64Max = 2n ** 63n - 1n
const int64Min = -(2n ** 63n)
const int64LengthMax = 20

class Malformed extends Error {}

class NumberTooLarge extends Malformed {}

/** Options of the parser. */
export interface ExactOptions {
  /** True to return a `Numeral` for numbers whose spelling matters. */
  readonly keepsNumerals?: boolean | undefined
}

/** An open container. `key` is the member whose value is read next, `index` the index of the next item. */
type Frame = { kind: 'object'; value: Record<string, unknown>; key: string; keys: Set<string> } | { kind: 'array'; value: unknown[] }

/**
 * Parses JSON exactly rather than fast: it reports duplicate members, keeps int64 exact, and explains
 * syntax errors. It uses its own stack, so depth only costs heap memory.
 */
export function parseExactly(text: string, options?: ExactOptions): ExactJson {
  return runAtOnce(parseExactlyInSteps(text, options))
}

/** Number of values per step, which takes some milliseconds. */
const valuesPerStep = 8_192

/** Like `parseExactly`, in steps. */
export function* parseExactlyInSteps(text: string, { keepsNumerals = false }: ExactOptions = {}): Steps<ExactJson> {
  const reader = new Reader(text, { keepsNumerals })
  try {
    const value = yield* reader.document()
    const { duplicates, hasBigIntegers, hasNumerals } = reader
    return { kind: 'parsed', value, duplicates: [...duplicates], hasBigIntegers, hasNumerals }
  } catch (error) {
    if (error instanceof Malformed) return { kind: 'malformed', problem: error.message, isNumberTooLarge: error instanceof NumberTooLarge }
    throw error
  }
}

/** The positions of all members with these paths in a valid JSON text, in order. */
export function placesOfMembers(text: string, paths: ReadonlySet<string>): Map<string, number[]> {
  const reader = new Reader(text, { sought: paths })
  runAtOnce(reader.document())
  return reader.places
}

const space = /[ \t\n\r]*/y
const numberLiteral = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?/y
const wordLiteral = /true|false|null/y

class Reader {
  readonly duplicates = new Set<string>()
  hasBigIntegers = false
  hasNumerals = false
  readonly places = new Map<string, number[]>()
  readonly #text: string
  #at = 0
  readonly #open: Frame[] = []
  readonly #keepsNumerals: boolean
  readonly #sought: ReadonlySet<string>
  /** Last names of the sought paths: most members are skipped without building a path. */
  readonly #soughtNames: ReadonlySet<string>

  constructor(text: string, { keepsNumerals = false, sought = nothing }: ExactOptions & { readonly sought?: ReadonlySet<string> }) {
    this.#text = text
    this.#keepsNumerals = keepsNumerals
    this.#sought = sought
    this.#soughtNames = new Set([...sought].map(lastWord))
  }

  *document(): Steps<unknown> {
    for (let count = 1; ; count++) {
      if (count % valuesPerStep === 0) yield
      let value = this.#opening()
      if (value === opened) continue
      for (;;) {
        const frame = this.#open.at(-1)
        if (frame === undefined) return this.#end(value)
        put(frame, value)
        if (!this.#isClosed(frame)) break
        this.#open.pop()
        value = frame.value
      }
    }
  }

  /** Reads a scalar or an empty container, or opens a container before its first value. */
  #opening(): unknown {
    const character = this.#character()
    if (character === '{') {
      this.#at += 1
      if (this.#take('}')) return {}
      const frame: Frame = { kind: 'object', value: {}, key: '', keys: new Set() }
      this.#open.push(frame)
      this.#key(frame)
      return opened
    }
    if (character === '[') {
      this.#at += 1
      if (this.#take(']')) return []
      this.#open.push({ kind: 'array', value: [] })
      return opened
    }
    return this.#scalar(character)
  }

  #scalar(character: string): unknown {
    if (character === '"') return this.#string()
    const word = this.#match(wordLiteral)
    if (word !== undefined) return word === 'null' ? null : word === 'true'
    const number = this.#match(numberLiteral)
    const problem = number === undefined ? misspeltWord(this.#text, this.#at) : lacksDigit(this.#text, this.#at, number)
    if (problem !== undefined) throw new Malformed(problem)
    if (number === undefined) throw this.#unexpected('looking for beginning of value')
    return this.#number(number)
  }

  #number(literal: string): number | bigint | Numeral {
    const value = Number(literal)
    const isWhole = !/[.eE]/.test(literal)
    if (isWhole && Number.isSafeInteger(value)) return value
    if (isWhole && literal.length <= int64LengthMax) {
      const exact = BigInt(literal)
      if (exact >= int64Min && exact <= int64Max) {
        this.hasBigIntegers = true
        return exact
      }
    }
    if (this.#keepsNumerals && String(value) !== literal) {
      this.hasNumerals = true
      return new Numeral(literal, value)
    }
    if (!Number.isFinite(value)) throw new NumberTooLarge(`json: cannot unmarshal number ${literal} into Go value of type float64`)
    return value
  }

  #string(): string {
    const start = this.#at
    let end = this.#text.indexOf('"', start + 1)
    while (end !== -1 && isEscaped(this.#text, end)) end = this.#text.indexOf('"', end + 1)
    if (end === -1) throw new Malformed(wrongInString(this.#text, start))
    this.#at = end + 1
    try {
      return JSON.parse(this.#text.slice(start, end + 1)) as string
    } catch {
      throw new Malformed(wrongInString(this.#text, start))
    }
  }

  #key(frame: Extract<Frame, { kind: 'object' }>): void {
    if (this.#character() !== '"') throw this.#unexpected('looking for beginning of object key string')
    frame.key = this.#string()
    if (!this.#take(':')) throw this.#unexpected('after object key')
    if (frame.keys.has(frame.key) && this.duplicates.size < duplicatesMax) this.duplicates.add(this.#path())
    frame.keys.add(frame.key)
    if (this.#soughtNames.has(lastWord(frame.key))) this.#note(this.#path())
  }

  #note(path: string): void {
    if (!this.#sought.has(path)) return
    const places = this.places.get(path)
    if (places === undefined) this.places.set(path, [this.#at])
    else if (places.length < 2) places.push(this.#at)
  }

  /** After a value: a bracket closes the container, a comma continues it. */
  #isClosed(frame: Frame): boolean {
    const bracket = frame.kind === 'object' ? '}' : ']'
    if (this.#take(bracket)) return true
    if (!this.#take(',')) throw this.#unexpected(frame.kind === 'object' ? 'after object key:value pair' : 'after array element')
    if (frame.kind === 'object') this.#key(frame)
    return false
  }

  #end(value: unknown): unknown {
    if (this.#character() !== '') throw this.#unexpected('after top-level value')
    return value
  }

  #path(): string {
    let path = ''
    for (const frame of this.#open) {
      if (frame.kind === 'array') path += `[${frame.value.length}]`
      else path += path === '' ? frame.key : `.${frame.key}`
    }
    return path
  }

  #character(): string {
    space.lastIndex = this.#at
    space.test(this.#text)
    this.#at = space.lastIndex
    return this.#text.charAt(this.#at)
  }

  #take(character: string): boolean {
    if (this.#character() !== character) return false
    this.#at += 1
    return true
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const literal = pattern.exec(this.#text)?.[0]
    if (literal !== undefined) this.#at = pattern.lastIndex
    return literal
  }

  #unexpected(where: string): Malformed {
    this.#character()
    return new Malformed(unexpected(this.#text, this.#at, where))
  }
}

const nothing: ReadonlySet<string> = new Set()

/** A name may itself contain dots. */
function lastWord(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1)
}

/** Means that a container was opened; it differs from every JSON value. */
const opened = Symbol('opened')

function put(frame: Frame, value: unknown): void {
  if (frame.kind === 'array') frame.value.push(value)
  else setMember(frame.value, frame.key, value)
}
