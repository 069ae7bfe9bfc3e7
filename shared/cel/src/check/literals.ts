import { type CallExpr, type Expr, subexpressions } from '../ast.ts'
import { at } from '../at.ts'
import type { CheckedAst } from '../checked.ts'
import { canPrint, FormatRefused, visitClauses, wrongArgument } from '../libraries/format-clauses.ts'
import type { Issue } from '../parse/source.ts'
import type { CelType } from '../types.ts'
import { convertToDuration, convertToTimestamp } from '../values/convert.ts'
import { type Meter, unlimitedMeter } from '../values/meter.ts'
import { keptRegex } from '../values/regex.ts'
import { CelError, type Value } from '../values/values.ts'

/** The rule for a literal argument of an overload. */
interface LiteralRule {
  /** The index of the argument, the receiver first. */
  readonly index: number
  readonly read: (meter: Meter, literal: string | number | bigint) => Value
}

const rules: ReadonlyMap<string, LiteralRule> = new Map([
  ['string_to_duration', { index: 0, read: convertToDuration }],
  ['string_to_timestamp', { index: 0, read: convertToTimestamp }],
  ['int64_to_timestamp', { index: 0, read: convertToTimestamp }],
  ['matches', { index: 1, read: readPattern }],
  ['matches_string', { index: 1, read: readPattern }],
])

/** The errors of literal durations, timestamps, regular expressions and formats. */
export function checkLiterals({ expr, references, types }: CheckedAst, checksFormats = true): readonly Issue[] {
  const issues: Issue[] = []
  walk(expr, (part) => {
    const reference = part.kind === 'call' ? references.get(part.id) : undefined
    if (part.kind !== 'call' || reference?.kind !== 'function') return
    const args = part.target === undefined || reference.isQualified ? part.args : [part.target, ...part.args]
    for (const { id } of reference.overloads) {
      const offset = offsetOfBadLiteral(rules.get(id), args)
      if (offset !== undefined) issues.push({ offset, message: `invalid ${part.name} argument` })
      const wrongFormat = id === 'string_format' && checksFormats ? checkFormat(part, types) : undefined
      if (wrongFormat !== undefined) issues.push(wrongFormat)
    }
  })
  return issues
}

function offsetOfBadLiteral(rule: LiteralRule | undefined, args: readonly Expr[]): number | undefined {
  const argument = rule && args[rule.index]
  if (argument?.kind !== 'constant') return undefined
  const { constant, offset } = argument
  if (constant.type !== 'string' && constant.type !== 'int') return undefined
  return rule?.read(unlimitedMeter(), constant.value) instanceof CelError ? offset : undefined
}

function readPattern(_meter: Meter, literal: string | number | bigint): Value {
  return keptRegex(String(literal))
}

/** Visits an expression and all its parts, each before its own parts. */
function walk(expr: Expr, visit: (part: Expr) => void): void {
  const waiting = [expr]
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    visit(part)
    const inner = subexpressions(part)
    for (let index = inner.length - 1; index >= 0; index -= 1) waiting.push(at(inner, index))
  }
}

/** The error of a call of `format` whose text and list are literals. Types that only the evaluation knows are not checked. */
function checkFormat({ target, args: [list], offset }: CallExpr, types: CheckedAst['types']): Issue | undefined {
  if (target?.kind !== 'constant' || target.constant.type !== 'string' || list?.kind !== 'list') return undefined
  const { elements } = list
  let wrong: Issue | undefined
  try {
    const used = visitClauses(target.constant.value, elements.length, {
      clause: (letter, index) => {
        const isPrinted = (part: Expr): boolean => isDynamic(types.get(part.id)) || canPrint(letter, types.get(part.id)?.kind ?? '')
        const part = firstOf(at(elements, index), letter === 's', (one) => !isPrinted(one))
        if (part !== undefined) wrong ??= { offset: part.offset, message: wrongArgument(letter, nameOf(types.get(part.id))) }
      },
    })
    const surplus = `too many arguments supplied to string.format (expected ${used}, got ${elements.length})`
    return wrong ?? (used < elements.length ? { offset, message: surplus } : undefined)
  } catch (error) {
    if (!(error instanceof FormatRefused)) throw error
    return wrong ?? { offset, message: error.message }
  }
}

/** The first part for which `isWanted` holds: the expression itself or, with `isDeep`, a part of its list and map literals. */
function firstOf(expr: Expr, isDeep: boolean, isWanted: (part: Expr) => boolean): Expr | undefined {
  const waiting = [expr]
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    if (isWanted(part)) return part
    if (isDeep && part.kind === 'list') waiting.push(...part.elements.toReversed())
    if (isDeep && part.kind === 'map') waiting.push(...part.entries.flatMap(({ key, value }) => [key, value]).toReversed())
  }
  return undefined
}

function isDynamic(type: CelType | undefined): boolean {
  return type === undefined || type.kind === 'dyn'
}

function nameOf(type: CelType | undefined): string {
  if (type?.kind === 'opaque' || type?.kind === 'object') return type.name
  return type?.kind === 'optional' ? 'optional_type' : (type?.kind ?? '')
}
