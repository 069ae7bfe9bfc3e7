import { memo } from '@orch/cel/memo'
import { oldestLevel } from '../description/levels.ts'
import { checkLabelValue, checkQualifiedName, joinTexts, type LevelText, textAt } from '../meta/index.ts'

import type { LabelRequirement } from './selection.ts'

/** A parsed selector, or an error text. */
export type LabelSelectorReading = { kind: 'selector'; requirements: LabelRequirement[] } | { kind: 'malformed'; message: string }

/** A selector inside an object. */
export interface LabelSelector {
  matchLabels?: Readonly<Record<string, string>>
  matchExpressions?: readonly { key: string; operator: string; values?: readonly string[] }[]
}

type Token = { kind: 'end' | 'word' | 'symbol'; text: string }
type Operator = '=' | '!=' | 'in' | 'notin' | 'gt' | 'lt'

class Malformed extends Error {
  readonly text: LevelText

  constructor(text: LevelText) {
    super('the selector is malformed')
    this.text = text
  }
}

const requirementPrefix = 'unable to parse requirement: '

/**
 * Parses a label selector into terms sorted by key, or returns an error in the words of a level:
 *
 *   env in (prod, test), !canary, tier != db   →   !canary · env In [prod, test] · tier NotIn [db]
 */
export function parseLabelSelector(text: string, level = oldestLevel): LabelSelectorReading {
  try {
    return { kind: 'selector', requirements: new Parser(text).selector().sort(byKey) }
  } catch (error) {
    if (error instanceof Malformed) return { kind: 'malformed', message: textAt(error.text, level) }
    throw error
  }
}

function byKey(left: LabelRequirement, right: LabelRequirement): number {
  return left.key < right.key ? -1 : left.key > right.key ? 1 : 0
}

class Parser {
  readonly #tokens: Token[]
  #at = 0

  constructor(text: string) {
    this.#tokens = tokenize(text)
  }

  selector(): LabelRequirement[] {
    const requirements: LabelRequirement[] = []
    if (this.#peek().kind === 'end') return requirements
    for (;;) {
      const first = this.#peek()
      if (first.kind !== 'word' && first.text !== '!')
        throw new Malformed(`found '${first.text}', expected: !, identifier, or 'end of string'`)
      requirements.push(this.#requirement())
      const separator = this.#next()
      if (separator.kind === 'end') return requirements
      if (separator.text !== ',') throw new Malformed(`found '${separator.text}', expected: ',' or 'end of string'`)
      const following = this.#peek()
      if (following.kind !== 'word' && following.text !== '!')
        throw new Malformed(`found '${following.text}', expected: identifier after ','`)
    }
  }

  #requirement(): LabelRequirement {
    const isAbsent = this.#peek().text === '!'
    if (isAbsent) this.#next()
    const word = this.#next()
    if (word.kind !== 'word') throw new Malformed(`${requirementPrefix}found '${word.text}', expected: identifier`)
    const key = checkedKey(word.text, '<nil>')
    if (isAbsent) return { key, operator: 'DoesNotExist', values: [] }
    const after = this.#peek()
    if (after.kind === 'end' || after.text === ',') return { key, operator: 'Exists', values: [] }
    const operator = this.#operator()
    const values = operator === 'in' || operator === 'notin' ? this.#values() : [this.#value()]
    return toRequirement(key, operator, values)
  }

  #operator(): Operator {
    const { kind, text } = this.#next()
    const operator = kind === 'symbol' ? symbolOperators[text] : wordOperators[text]
    if (operator === undefined) throw new Malformed(`${requirementPrefix}found '${text}', expected: in, notin, =, ==, !=, gt, lt`)
    return operator
  }

  #value(): string {
    const { kind, text } = this.#peek()
    if (kind === 'end' || text === ',') return ''
    this.#next()
    if (kind !== 'word') throw new Malformed(`${requirementPrefix}found '${text}', expected: identifier`)
    return text
  }

  #values(): string[] {
    const open = this.#next()
    if (open.text !== '(') throw new Malformed(`${requirementPrefix}found '${open.text}' expected: '('`)
    const values = new Set<string>()
    let isValueDue = true
    for (;;) {
      const { kind, text } = this.#next()
      if (kind === 'word') {
        if (!isValueDue) throw new Malformed(`${requirementPrefix}found '${text}', expected: ',' or ')'`)
        values.add(text)
        isValueDue = false
      } else if (text === ',' || text === ')') {
        // A comma or parenthesis in place of a value means an empty value.
        if (isValueDue) values.add('')
        isValueDue = true
        if (text === ')') return [...values].sort()
      } else {
        throw new Malformed(`${requirementPrefix}found '${text}', expected: ${isValueDue ? "',', ')' or identifier" : "',' or ')'"}`)
      }
    }
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? end
  }

  #next(): Token {
    const token = this.#peek()
    this.#at += 1
    return token
  }
}

const end: Token = { kind: 'end', text: '' }

const symbolOperators: Readonly<Record<string, Operator | undefined>> = { '=': '=', '==': '=', '!=': '!=', '>': 'gt', '<': 'lt' }
const wordOperators: Readonly<Record<string, Operator | undefined>> = Object.assign(Object.create(null), { in: 'in', notin: 'notin' })

const tokenPattern = /[ \t\r\n]*(?:(==|!=|[=!<>(),])|([^ \t\r\n=!<>(),]+))/y

function tokenize(text: string): Token[] {
  const tokens: Token[] = []
  tokenPattern.lastIndex = 0
  for (;;) {
    const match = tokenPattern.exec(text)
    if (match === null) return tokens
    const [, symbol, word] = match
    tokens.push(symbol === undefined ? { kind: 'word', text: word ?? '' } : { kind: 'symbol', text: symbol })
  }
}

function toRequirement(key: string, operator: Operator, values: readonly string[]): LabelRequirement {
  if (operator === 'gt' || operator === 'lt') {
    const value = values[0] ?? ''
    if (!isTextOfInteger(value)) {
      throw new Malformed(
        `${requirementPrefix}values[0]: Invalid value: ${JSON.stringify(value)}: for 'Gt', 'Lt' operators, the value must be an integer`,
      )
    }
    checkValues(key, values)
    return { key, operator: operator === 'gt' ? 'Gt' : 'Lt', values }
  }
  checkValues(key, values)
  return { key, operator: operator === '=' || operator === 'in' ? 'In' : 'NotIn', values }
}

/** A valid key. In a query, the error has an empty path. */
function checkedKey(key: string, path = 'key'): string {
  const problems = checkQualifiedName(key)
  if (problems.length > 0) throw new Malformed(joinTexts([requirementPrefix, invalidText(path, key, problems)]))
  return key
}

/** Checks values; several errors are listed in brackets. */
function checkValues(key: string, values: readonly string[]): void {
  const found = values.flatMap((value, index) => {
    const problems = checkLabelValue(value)
    return problems.length === 0 ? [] : [invalidText(`values[${index}][${key}]`, value, problems)]
  })
  if (found.length === 1) throw new Malformed(joinTexts([requirementPrefix, ...found]))
  if (found.length > 1) throw new Malformed(joinTexts([`${requirementPrefix}[`, joinTexts(found, ', '), ']']))
}

function invalidText(path: string, value: string, problems: readonly LevelText[]): LevelText {
  return joinTexts([`${path}: Invalid value: ${JSON.stringify(value)}: `, joinTexts(problems, '; ')])
}

/** The terms of a selector in an object. The caller must handle an absent selector, which selects nothing. */
export function toLabelRequirements(selector: LabelSelector): LabelSelectorReading {
  const requirements: LabelRequirement[] = []
  try {
    for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
      requirements.push(toRequirement(checkedKey(key), '=', [value]))
    }
    for (const { key, operator, values = [] } of selector.matchExpressions ?? [])
      requirements.push(fromExpression(checkedKey(key), operator, values))
  } catch (error) {
    if (error instanceof Malformed) return { kind: 'malformed', message: textAt(error.text, oldestLevel).slice(requirementPrefix.length) }
    throw error
  }
  return { kind: 'selector', requirements: requirements.sort(byKey) }
}

function fromExpression(key: string, operator: string, values: readonly string[]): LabelRequirement {
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0)
        throw new Malformed(`${requirementPrefix}values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty`)
      return toRequirement(key, operator === 'In' ? 'in' : 'notin', [...new Set(values)].sort())
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0) {
        throw new Malformed(
          `${requirementPrefix}values: Invalid value: ${JSON.stringify(values)}: values set must be empty for exists and does not exist`,
        )
      }
      return { key, operator, values: [] }
    default:
      throw new Malformed(`${requirementPrefix}${JSON.stringify(operator)} is not a valid label selector operator`)
  }
}

/** Prints the canonical text: terms by key, sorted values, and `=` for a single value. */
export function printLabelSelector(requirements: readonly LabelRequirement[]): string {
  return [...requirements].sort(byKey).map(printRequirement).join(',')
}

function printRequirement({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case 'Exists':
      return key
    case 'DoesNotExist':
      return `!${key}`
    case 'Gt':
      return `${key}>${values[0]}`
    case 'Lt':
      return `${key}<${values[0]}`
    case 'In':
      return values.length === 1 ? `${key}=${values[0]}` : `${key} in (${[...values].sort().join(',')})`
    case 'NotIn':
      return values.length === 1 ? `${key}!=${values[0]}` : `${key} notin (${[...values].sort().join(',')})`
  }
}

/** True if an object's labels match all terms. */
export function matchesLabels(requirements: readonly LabelRequirement[], labels: Readonly<Record<string, string>> | undefined): boolean {
  for (const requirement of requirements) if (!holds(requirement, labels)) return false
  return true
}

function holds({ key, operator, values }: LabelRequirement, labels: Readonly<Record<string, string>> | undefined): boolean {
  const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined
  switch (operator) {
    case 'In':
      return value !== undefined && includes(values, value)
    case 'NotIn':
      return value === undefined || !includes(values, value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'Gt':
      return value !== undefined && isTextOfInteger(value) && toInteger(value) > toInteger(values[0] ?? '0')
    case 'Lt':
      return value !== undefined && isTextOfInteger(value) && toInteger(value) < toInteger(values[0] ?? '0')
  }
}

/** Number of values up to which a list is searched faster than a set is made. */
const searchedMax = 32
/** The values of a requirement as a set. */
const setOf = memo((values: readonly string[]): ReadonlySet<string> => new Set(values))

function includes(values: readonly string[], value: string): boolean {
  return values.length > searchedMax ? setOf(values).has(value) : values.includes(value)
}

const int64Min = -(2n ** 63n)

const int64Max = 2n ** 63n - 1n

/** True for a decimal int64, with or without a sign. */
export function isTextOfInteger(text: string): boolean {
  if (!/^[-+]?\d{1,32}$/.test(text)) return false
  const value = toInteger(text)
  return value >= int64Min && value <= int64Max
}

/** Parses such a text. */
export function toInteger(text: string): bigint {
  return text.startsWith('+') ? BigInt(text.slice(1)) : BigInt(text)
}
