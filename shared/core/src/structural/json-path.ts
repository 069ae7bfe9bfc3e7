import { isJsonObject } from '../json/member.ts'

/** Returns the values at a path, in order. */
export type JsonPath = (root: unknown) => readonly unknown[]

/** An invalid path. */
export class MalformedPath extends Error {}

/** A step that maps values to values. `root` is the value of `$`. */
type Step = (values: readonly unknown[], root: unknown) => readonly unknown[]

/**
 * The path of a printer column or a selectable field, as kubectl knows it: `.spec.replicas`, `.a['b']`, `.a['b\.c']`, `[0]`, `[-1]`, `[1:3]`,
 * `[*]`, `..name`, `[?(@.type=="Ready")]` and `['a','b']`. A missing member yields no value. Throws `MalformedPath`.
 */
export function parseJsonPath(text: string): JsonPath {
  const steps = new Reader(text).steps()
  return (root) => steps.reduce<readonly unknown[]>((values, step) => step(values, root), [root])
}

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  steps(): Step[] {
    const steps: Step[] = []
    if (this.#text[this.#at] === '$' || this.#text[this.#at] === '@') this.#at += 1
    while (this.#at < this.#text.length) steps.push(this.#step())
    return steps
  }

  #step(): Step {
    if (this.#text.startsWith('..', this.#at)) {
      this.#at += 2
      return descend(this.#text[this.#at] === '[' ? this.#bracket() : this.#name())
    }
    if (this.#text[this.#at] === '[') return this.#bracket()
    if (this.#text[this.#at] === '.') this.#at += 1
    if (this.#at === this.#text.length) return (values) => values
    return this.#text[this.#at] === '[' ? this.#bracket() : this.#name()
  }

  #name(): Step {
    let name = ''
    for (; this.#at < this.#text.length; this.#at++) {
      const character = this.#text.charAt(this.#at)
      if (character === '.' || character === '[') break
      if (character === '\\') this.#at += 1
      name += this.#text.charAt(this.#at)
    }
    if (name === '') throw new MalformedPath(`expected a name at ${this.#at} in ${this.#text}`)
    return name === '*' ? wildcard : member(name)
  }

  #bracket(): Step {
    const inside = this.#inside()
    if (inside === '*') return wildcard
    if (inside.startsWith('?(') && inside.endsWith(')')) return filter(inside.slice(2, -1))
    const parts = splitOutsideQuotes(inside, ',').map((part) => part.trim())
    const steps = parts.map(selector)
    const [only] = steps
    return steps.length === 1 && only !== undefined ? only : (values, root) => steps.flatMap((step) => step(values, root))
  }

  /** The text up to the closing bracket. */
  #inside(): string {
    const start = this.#at + 1
    let depth = 0
    let quote = ''
    for (let at = this.#at; at < this.#text.length; at++) {
      const character = this.#text.charAt(at)
      if (quote !== '') {
        if (character === '\\') at += 1
        else if (character === quote) quote = ''
      } else if (character === "'" || character === '"') quote = character
      else if (character === '[') depth += 1
      else if (character === ']' && --depth === 0) {
        this.#at = at + 1
        return this.#text.slice(start, at).trim()
      }
    }
    throw new MalformedPath(`unterminated array in ${this.#text}`)
  }
}

function selector(text: string): Step {
  const path = /^'([^']+)'$/.exec(text)?.[1]
  if (path !== undefined) return inner(path)
  const quoted = quotedText(text)
  if (quoted !== undefined) return member(quoted)
  if (/^-?\d+$/.test(text)) return index(Number(text))
  const slice = /^(-?\d*):(-?\d*)(?::(\d*))?$/.exec(text)
  if (slice !== null) return range(slice[1] ?? '', slice[2] ?? '', slice[3] ?? '')
  if (text === '' || /[\s()'"]/.test(text)) throw new MalformedPath(`invalid array index ${text}`)
  return member(text)
}

/** As in kubectl, the text in single quotes is itself a path, so a dot within a name must be escaped. */
function inner(path: string): Step {
  const steps = new Reader(`.${path}`).steps()
  return (values, root) => steps.reduce((found, step) => step(found, root), values)
}

/** The text between quotes; undefined if it is not quoted. */
function quotedText(text: string): string | undefined {
  const quote = text.charAt(0)
  if (text.length < 2 || (quote !== "'" && quote !== '"') || !text.endsWith(quote)) return undefined
  return text.slice(1, -1).replace(/\\(.)/g, '$1')
}

function splitOutsideQuotes(text: string, separator: string): string[] {
  const parts: string[] = []
  let from = 0
  let quote = ''
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    if (quote !== '') {
      if (character === '\\') at += 1
      else if (character === quote) quote = ''
    } else if (character === "'" || character === '"') quote = character
    else if (text.startsWith(separator, at)) {
      parts.push(text.slice(from, at))
      at += separator.length - 1
      from = at + 1
    }
  }
  return [...parts, text.slice(from)]
}

function member(name: string): Step {
  return (values) => values.flatMap((value) => (isJsonObject(value) && Object.hasOwn(value, name) ? [value[name]] : []))
}

const wildcard: Step = (values) =>
  values.flatMap((value) => {
    if (Array.isArray(value)) return value
    return isJsonObject(value) ? Object.values(value) : []
  })

function index(at: number): Step {
  return (values) => values.flatMap((value) => (Array.isArray(value) && at < value.length && at >= -value.length ? [value.at(at)] : []))
}

function range(from: string, to: string, by: string): Step {
  const step = by === '' ? 1 : Number(by)
  if (step < 1) throw new MalformedPath('step must be > 0')
  return (values) =>
    values.flatMap((value) => {
      if (!Array.isArray(value)) return []
      const part = value.slice(from === '' ? 0 : Number(from), to === '' ? undefined : Number(to))
      return part.filter((_, place) => place % step === 0)
    })
}

/** Applies a step to a value and to everything below it. */
function descend(step: Step): Step {
  const visit = (value: unknown, root: unknown): readonly unknown[] => [
    ...step([value], root),
    ...wildcard([value], root).flatMap((child) => visit(child, root)),
  ]
  return (values, root) => values.flatMap((value) => visit(value, root))
}

const operators = ['==', '!=', '<=', '>=', '<', '>'] as const

/** Filters list items by a comparison. */
function filter(text: string): Step {
  const operator = operators.find((candidate) => splitOutsideQuotes(text, candidate).length > 1)
  const [left = '', ...others] = operator === undefined ? [text] : splitOutsideQuotes(text, operator)
  const readLeft = operand(left.trim())
  const readRight = operator === undefined ? undefined : operand(others.join(operator).trim())
  const isKept = (item: unknown): boolean => {
    const found = readLeft(item)
    if (operator === undefined || readRight === undefined) return found.length > 0
    const other = readRight(item)
    return found.length > 0 && other.length > 0 && comparisons[operator](found[0], other[0])
  }
  return (values) => values.flatMap((value) => (Array.isArray(value) ? value.filter(isKept) : []))
}

function operand(text: string): JsonPath {
  const quoted = quotedText(text)
  if (quoted !== undefined) return () => [quoted]
  if (text === 'true' || text === 'false') return () => [text === 'true']
  if (/^[-+]?\d+(?:\.\d+)?$/.test(text)) return () => [Number(text)]
  return parseJsonPath(text)
}

/** The comparisons in a path's filter. Values of different kinds are never equal and have no order. */
const comparisons = {
  '==': isSame,
  '!=': (left: unknown, right: unknown) => !isSame(left, right),
  '<=': (left: unknown, right: unknown) => isSame(left, right) || isLess(left, right),
  '>=': (left: unknown, right: unknown) => isSame(left, right) || isLess(right, left),
  '<': isLess,
  '>': (left: unknown, right: unknown) => isLess(right, left),
}

function isSame(left: unknown, right: unknown): boolean {
  return isNumber(left) && isNumber(right) ? Number(left) === Number(right) : left === right
}

function isLess(left: unknown, right: unknown): boolean {
  if (isNumber(left) && isNumber(right)) return left < right
  return typeof left === 'string' && typeof right === 'string' && left < right
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}
