import { expect, it } from 'vitest'
import { textAt } from '../../meta/level-text.ts'
import { runAtOnce } from '../../steps.ts'
import { parseStructural } from '../parse.ts'
import { validateRules } from './limits.ts'

function problems(schema: unknown, level = 37): string[] {
  const errors = runAtOnce(validateRules(parseStructural(schema), 'schema', { level }))
  return errors.map(({ field, message }) => `${field}: ${textAt(message, level)}`)
}

const hint = '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)'

/** A list of texts with a rule for each text. */
function lists(maxItems: number | undefined, rule: string, more: object = {}): object {
  const items = { type: 'string', maxLength: 10, 'x-kubernetes-validations': [{ rule, ...more }] }
  return { type: 'object', properties: { a: { type: 'array', ...(maxItems === undefined ? {} : { maxItems }), items } } }
}

const at = 'schema.properties[a].items.x-kubernetes-validations[0]'

it('CEL-40 CEL-41: a rule that may cost too much at its position is refused, with the factor', () => {
  expect(problems(lists(10, "self.contains('a')"))).toEqual([])
  const text = `${at}.rule: Forbidden: estimated rule cost exceeds budget by factor of`
  expect(problems(lists(2_500_000, "self.contains('a')"))).toEqual([`${text} 1.250000x ${hint}`])
  expect(problems(lists(10_000_000, "self.contains('a')"))[0]).toBe(`${text} 5.0x ${hint}`)
  expect(problems(lists(2 ** 40, "self.contains('a')"))[0]).toBe(`${text} more than 100x ${hint}`)
})

it('CEL-42: all rules of a schema share a cost limit, and the most expensive rules are named', () => {
  const property = {
    type: 'array',
    maxItems: 1_900_000,
    items: { type: 'string', maxLength: 10, 'x-kubernetes-validations': [{ rule: "self.contains('a')" }] },
  }
  const properties = Object.fromEntries(Array.from({ length: 14 }, (_, index) => [`p${index}`, property]))
  const found = problems({ type: 'object', properties })
  expect(found.at(-1)).toBe(
    `schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of 1.330000x ${hint}`,
  )
  expect(found.slice(0, -1).map((text) => text.replace(/^schema\.properties\[p\d+\]/, ''))).toEqual(
    Array.from(
      { length: 4 },
      () =>
        '.items.x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
    ),
  )
})

it('CEL-43: messages have a separate limit', () => {
  const messageExpression = "['a', 'b'].all(x, self.all(y, y.contains(x))) ? '' : ''"
  const list = { type: 'array', items: { type: 'string' }, 'x-kubernetes-validations': [{ rule: 'true', messageExpression }] }
  expect(problems({ type: 'object', properties: { a: list } })[0]).toMatch(
    /^schema\.properties\[a\]\.x-kubernetes-validations\[0\]\.messageExpression: Forbidden: estimated messageExpression cost exceeds budget/,
  )
})

it('CEL-32: a rule on an uncorrelated part may not use oldSelf', () => {
  expect(problems(lists(10, 'self == oldSelf'))).toEqual([
    `${at}.rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within schema.properties[a]`,
  ])
})

it('CEL-31: optionalOldSelf requires a rule with oldSelf', () => {
  const rule = { rule: 'true', optionalOldSelf: true }
  expect(problems({ type: 'object', 'x-kubernetes-validations': [rule] })).toEqual([
    'schema.x-kubernetes-validations[0].optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule',
  ])
})

it('CEL-26: rules and messages that do not compile, or have a wrong type, are refused', () => {
  const schema = (rule: object): object => ({ type: 'object', 'x-kubernetes-validations': [rule] })
  expect(problems(schema({ rule: 'self.nope' }))[0]).toMatch(
    /^schema\.x-kubernetes-validations\[0\]\.rule: Invalid value: \{.*\}: compilation failed: ERROR: <input>:1:5: undefined field 'nope'/,
  )
  expect(problems(schema({ rule: '1' }))[0]).toMatch(/cel expression must evaluate to a bool$/)
  expect(problems(schema({ rule: 'true', messageExpression: '1' }))[0]).toMatch(
    /messageExpression: Invalid value: .*: messageExpression must evaluate to a string$/,
  )
})

it('EMV-10: a rule is printed with the members of its level, like Go below 1.34', () => {
  const shownAt = (level: number) =>
    problems({ type: 'object', 'x-kubernetes-validations': [{ rule: 'nope' }] }, level)[0]?.replace(/: compilation failed.*/s, '')
  const start = 'schema.x-kubernetes-validations[0].rule: Invalid value: '
  expect(shownAt(25)).toBe(`${start}apiextensions.ValidationRule{Rule:"nope", Message:""}`)
  expect(shownAt(28)).toBe(
    `${start}apiextensions.ValidationRule{Rule:"nope", Message:"", MessageExpression:"", Reason:(*apiextensions.FieldValueErrorReason)(nil), FieldPath:""}`,
  )
  expect(shownAt(34)).toBe(
    `${start}{"Rule":"nope","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}`,
  )
})

it('CEL-22: a value without type is inaccessible, and an int-or-string is dynamic', () => {
  const of = (rule: string): string[] => {
    const properties = {
      typed: { type: 'string' },
      untyped: { 'x-kubernetes-preserve-unknown-fields': true },
      port: { 'x-kubernetes-int-or-string': true },
      open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    }
    return problems({ type: 'object', properties, 'x-kubernetes-validations': [{ rule }] })
  }
  expect(of("self.typed == 'a'")).toEqual([])
  expect(of("self.port == 80 || self.port == 'http'")).toEqual([])
  for (const name of ['untyped', 'unknown']) expect(of(`has(self.${name})`)[0]).toContain(`undefined field '${name}'`)
  expect(of('has(self.open)')).toEqual([])
  expect(of('has(self.open.a)')[0]).toContain("undefined field 'a'")
})
