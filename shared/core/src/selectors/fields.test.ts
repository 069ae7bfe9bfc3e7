import { fc } from '@orch/testkit/chance'
import { describe, expect, test } from 'vitest'
import { matchesFields, parseFieldSelector, unsupportedField } from './fields.ts'
import type { FieldRequirement } from './selection.ts'

/** Prints the canonical text, which parses to the same terms. */
function printFieldSelector(requirements: readonly FieldRequirement[]): string {
  return requirements.map(printRequirement).sort().join(',')
}

function printRequirement({ field, operator, value }: FieldRequirement): string {
  return `${field}${operator === 'Equals' ? '=' : '!='}${value.replace(/[\\,=]/g, '\\$&')}`
}

function parse(text: string): FieldRequirement[] {
  const reading = parseFieldSelector(text)
  if (reading.kind === 'malformed') throw new Error(reading.message)
  return reading.requirements
}

describe('QP-12: field selectors', () => {
  const good: [text: string, canonical: string][] = [
    ['', ''],
    ['metadata.name=a', 'metadata.name=a'],
    ['x==y,a!=b', 'a!=b,x=y'],
    ['x=', 'x='],
    [',x=a,', 'x=a'],
    ['x=a\\,b\\=c\\\\', 'x=a\\,b\\=c\\\\'],
  ]
  test.each(good)('%s is parsed', (text, canonical) => {
    expect(printFieldSelector(parse(text))).toBe(canonical)
  })

  test('terms are sorted, each with its meaning', () => {
    expect(parse('x!=y,a==b')).toEqual([
      { field: 'a', operator: 'Equals', value: 'b' },
      { field: 'x', operator: 'NotEquals', value: 'y' },
    ])
  })

  const bad: [text: string, message: string][] = [
    ['bogus', "invalid selector: 'bogus'; can't understand 'bogus'"],
    ['x=a,b', "invalid selector: 'x=a,b'; can't understand 'b'"],
    ['x in (a)', "invalid selector: 'x in (a)'; can't understand 'x in (a)'"],
    ['x=a=b', 'invalid field selector: unescaped character in value: 61'],
    ['x=a\\q', 'invalid field selector: invalid escape sequence: \\q'],
    ['x=a\\', 'invalid field selector: invalid escape sequence: \\'],
  ]
  test.each(bad)('%s is refused', (text, message) => {
    expect(parseFieldSelector(text)).toEqual({ kind: 'malformed', message })
  })

  const matches: [text: string, fields: Record<string, string>, holds: boolean][] = [
    ['', { x: 'y' }, true],
    ['x=y', { x: 'y' }, true],
    ['x=y,z=w', { x: 'y', z: 'v' }, false],
    ['x!=y', { x: 'y' }, false],
    ['x!=y', {}, true],
    ['x=', {}, true],
    ['constructor=', {}, true],
  ]
  test.each(matches)('with the text %j match %o: %j', (text, fields, holds) => {
    expect(matchesFields(parse(text), fields)).toBe(holds)
  })
})

test('QP-23: a field that the resource cannot be selected by is reported', () => {
  const supported = ['metadata.name', 'metadata.namespace']
  expect(unsupportedField(parse('metadata.name=a'), { fields: supported })).toBeUndefined()
  expect(unsupportedField(parse('metadata.name=a,spec.size=1'), { fields: supported })).toBe(
    '"spec.size" is not a known field selector: only "metadata.name", "metadata.namespace"',
  )
  const named = 'field label not supported: spec.size'
  expect(unsupportedField(parse('spec.size=1'), { fields: ['metadata.name', 'status.phase'] })).toBe(named)
  expect(unsupportedField(parse('metadata.name=a,spec.size=1'), { fields: supported, isCustom: true })).toBe(named)
})

test('printed terms are read back', () => {
  const field = fc.stringMatching(/^[a-z][a-zA-Z.]{0,10}$/)
  const requirement = fc.record({ field, operator: fc.constantFrom('Equals' as const, 'NotEquals' as const), value: fc.string() })
  fc.assert(
    fc.property(fc.array(requirement, { maxLength: 4 }), (requirements) => {
      const printed = printFieldSelector(requirements)
      expect(printFieldSelector(parse(printed))).toBe(printed)
      expect(parse(printed)).toEqual(expect.arrayContaining(requirements))
    }),
  )
})

test('any text is parsed or refused, without a crash', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'ab.=!,\\ ()') }), (text) => {
      expect(['selector', 'malformed']).toContain(parseFieldSelector(text).kind)
    }),
  )
})
