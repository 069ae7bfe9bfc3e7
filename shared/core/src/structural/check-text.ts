import { goQuote } from '../json/go-quote.ts'
import { textSince } from '../meta/level-text.ts'
import { invalid, joinedPath, noField, typeInvalid } from './field-path.ts'
import { checkOfFormat } from './formats.ts'
import { parsePattern } from './pattern.ts'
import type { Run } from './run.ts'
import type { ValueRules } from './schema.ts'

/** Checks length and pattern of a text, and reports the first error. */
export function checkText({ maxLength, minLength, pattern }: ValueRules, text: string, run: Run): number {
  if (maxLength !== undefined && text.length > maxLength && lengthOf(text) > maxLength) return refuseLong(maxLength, run)
  if (minLength !== undefined && lengthOf(text) < minLength) return refuse(text, `should be at least ${minLength} chars long`, run)
  if (pattern === undefined) return 0
  const parsed = parsePattern(pattern)
  if (parsed.kind === 'malformed') return refuse(text, `should match '${pattern}, but pattern is invalid: ${parsed.problem}'`, run)
  return parsed.test(text) ? 0 : refuse(text, `should match '${pattern}'`, run)
}

/** The length in code points. */
function lengthOf(text: string): number {
  let length = text.length
  for (let at = 0; at < text.length - 1; at++) {
    const code = text.charCodeAt(at)
    if (code < 0xd800 || code > 0xdbff) continue
    const next = text.charCodeAt(at + 1)
    if (next >= 0xdc00 && next <= 0xdfff) length -= 1
  }
  return length
}

function refuse(text: string, detail: string, { names, errors }: Run): number {
  const path = joinedPath(names)
  errors.push(invalid(path, text, `${path} in body ${detail}`))
  return 0
}

function refuseLong(max: number, { names, errors }: Run): number {
  const field = joinedPath(names)
  const texts = {
    before: `Too long: may not be longer than ${max}`,
    after: `Too long: may not be more than ${max} ${max === 1 ? 'byte' : 'bytes'}`,
  }
  errors.push({ reason: 'FieldValueTooLong', field: field === '' ? noField : field, message: textSince(32, texts) })
  return 0
}

/** Checks that a text has its format. */
export function checkFormat(format: string, text: string, { names, errors }: Run): number {
  const test = checkOfFormat(format)
  if (test === undefined) return 0
  if (!test(text)) {
    const path = joinedPath(names)
    errors.push(typeInvalid(path, text, `${path} in body must be of type ${format}: ${goQuote(text)}`))
  }
  return 1
}
