import { fc } from '@orch/testkit/chance'
import { describe, expect, test } from 'vitest'
import { matchesLabels, parseLabelSelector, printLabelSelector, toLabelRequirements } from './labels.ts'
import type { LabelRequirement } from './selection.ts'

function parse(text: string): LabelRequirement[] {
  const reading = parseLabelSelector(text)
  if (reading.kind === 'malformed') throw new Error(reading.message)
  return reading.requirements
}

describe('QP-22: label selectors', () => {
  const good: [text: string, requirements: LabelRequirement[]][] = [
    ['', []],
    ['  ', []],
    ['x=a', [{ key: 'x', operator: 'In', values: ['a'] }]],
    ['x==a', [{ key: 'x', operator: 'In', values: ['a'] }]],
    ['x=', [{ key: 'x', operator: 'In', values: [''] }]],
    ['x!=a', [{ key: 'x', operator: 'NotIn', values: ['a'] }]],
    ['x', [{ key: 'x', operator: 'Exists', values: [] }]],
    ['! x', [{ key: 'x', operator: 'DoesNotExist', values: [] }]],
    ['x in (b, a,b)', [{ key: 'x', operator: 'In', values: ['a', 'b'] }]],
    ['x notin (a,)', [{ key: 'x', operator: 'NotIn', values: ['', 'a'] }]],
    ['x in ()', [{ key: 'x', operator: 'In', values: [''] }]],
    ['x>1', [{ key: 'x', operator: 'Gt', values: ['1'] }]],
    ['x<1', [{ key: 'x', operator: 'Lt', values: ['1'] }]],
    ['notin=in', [{ key: 'notin', operator: 'In', values: ['in'] }]],
    [
      'c,b=1,a,b!=2',
      [
        { key: 'a', operator: 'Exists', values: [] },
        { key: 'b', operator: 'In', values: ['1'] },
        { key: 'b', operator: 'NotIn', values: ['2'] },
        { key: 'c', operator: 'Exists', values: [] },
      ],
    ],
    [
      'x=,y',
      [
        { key: 'x', operator: 'In', values: [''] },
        { key: 'y', operator: 'Exists', values: [] },
      ],
    ],
    [
      'b=1,a.io/c',
      [
        { key: 'a.io/c', operator: 'Exists', values: [] },
        { key: 'b', operator: 'In', values: ['1'] },
      ],
    ],
  ]
  test.each(good)('%s is parsed', (text, requirements) => {
    expect(parse(text)).toEqual(requirements)
  })

  const bad: [text: string, message: string | RegExp][] = [
    ['x==a==b', "found '==', expected: ',' or 'end of string'"],
    ['!x=a', "found '=', expected: ',' or 'end of string'"],
    ['x,,y', "found ',', expected: identifier after ','"],
    ['x,', "found '', expected: identifier after ','"],
    [',x', "found ',', expected: !, identifier, or 'end of string'"],
    ['(', "found '(', expected: !, identifier, or 'end of string'"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    ['x nott in (y)', "unable to parse requirement: found 'nott', expected: in, notin, =, ==, !=, gt, lt"],
    ['x gt 1', "unable to parse requirement: found 'gt', expected: in, notin, =, ==, !=, gt, lt"],
    ['x<-1', /^unable to parse requirement: values\[0\]\[x\]: Invalid value: "-1": a valid label/],
    ['x constructor y', "unable to parse requirement: found 'constructor', expected: in, notin, =, ==, !=, gt, lt"],
    ['x=(', "unable to parse requirement: found '(', expected: identifier"],
    ['x in )a', "unable to parse requirement: found ')' expected: '('"],
    ['x in a', "unable to parse requirement: found 'a' expected: '('"],
    ['x in (a b)', "unable to parse requirement: found 'b', expected: ',' or ')'"],
    ['x in (a', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['x in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
    [
      'x<9223372036854775808',
      `unable to parse requirement: values[0]: Invalid value: "9223372036854775808": for 'Gt', 'Lt' operators, the value must be an integer`,
    ],
    ['x<a', `unable to parse requirement: values[0]: Invalid value: "a": for 'Gt', 'Lt' operators, the value must be an integer`],
    ['x=-', /^unable to parse requirement: values\[0\]\[x\]: Invalid value: "-": a valid label must be an empty string or/],
    ['a/b/c=1', /^unable to parse requirement: <nil>: Invalid value: "a\/b\/c": a qualified name must consist/],
  ]
  test.each(bad)('%s is refused', (text, message) => {
    expect(parseLabelSelector(text)).toEqual({
      kind: 'malformed',
      message: typeof message === 'string' ? message : expect.stringMatching(message),
    })
  })

  test('MACH-READ-04: problems of labels have the wording of a level, and are listed together', () => {
    const long = 'x'.repeat(64)
    const message = (text: string, level?: number) => (parseLabelSelector(text, level) as { message: string }).message
    expect(message(long)).toMatch(/name part must be no more than 63 characters$/)
    expect(message(long, 37)).toMatch(/name part must be no more than 63 bytes$/)
    expect(message(`a in (-,${long})`, 37)).toMatch(
      /requirement: \[values\[0\]\[a\]: .*, values\[1\]\[a\]: .*: must be no more than 63 bytes\]$/,
    )
  })

  const matches: [text: string, labels: Record<string, string> | undefined, holds: boolean][] = [
    ['', undefined, true],
    ['x=a', { x: 'a' }, true],
    ['x=a', {}, false],
    ['x!=a', {}, true],
    ['x notin (a,b)', { x: 'c' }, true],
    ['x notin (a,b)', { x: 'b' }, false],
    ['x', { x: '' }, true],
    ['!x', { x: '' }, false],
    ['!x', undefined, true],
    ['x>1', { x: '2' }, true],
    ['x>1', { x: '1' }, false],
    ['x>1', { x: 'many' }, false],
    ['x>1', {}, false],
    ['x<9007199254740993', { x: '9007199254740992' }, true],
    ['x>9007199254740992', { x: '9007199254740993' }, true],
    ['x<2', { x: '1' }, true],
    ['x<2', { x: '2' }, false],
    ['x<2', { x: '3' }, false],
    ['x<2', { x: 'few' }, false],
    ['x<2', {}, false],
    ['constructor', {}, false],
    ['x=a,y=b', { x: 'a', y: 'c' }, false],
  ]
  test.each(matches)('with the text %j match %o: %j', (text, labels, holds) => {
    expect(matchesLabels(parse(text), labels)).toBe(holds)
  })

  test('the canonical text is sorted by key, with sorted values', () => {
    expect(printLabelSelector(parse('x in (c,b), a==1, !n, e, g>3, h<4, i notin (z,y), j!=k'))).toBe(
      'a=1,e,g>3,h<4,i notin (y,z),j!=k,!n,x in (b,c)',
    )
  })
})

test('the canonical text is the same for any order of terms and values', () => {
  const terms: LabelRequirement[] = [
    { key: 'c', operator: 'Exists', values: [] },
    { key: 'a', operator: 'In', values: ['y', 'x'] },
    { key: 'b', operator: 'NotIn', values: ['y', 'x'] },
  ]
  expect(printLabelSelector(terms)).toBe('a in (x,y),b notin (x,y),c')
})

describe('selectors inside objects', () => {
  test('have every operator, with sorted unique terms and values', () => {
    const reading = toLabelRequirements({
      matchLabels: { e: '1', b: '' },
      matchExpressions: [
        { key: 'f', operator: 'In', values: ['y', 'x', 'y'] },
        { key: 'd', operator: 'NotIn', values: ['y', 'x', 'y'] },
        { key: 'c', operator: 'Exists' },
        { key: 'a', operator: 'DoesNotExist', values: [] },
      ],
    })
    expect(reading).toEqual({
      kind: 'selector',
      requirements: [
        { key: 'a', operator: 'DoesNotExist', values: [] },
        { key: 'b', operator: 'In', values: [''] },
        { key: 'c', operator: 'Exists', values: [] },
        { key: 'd', operator: 'NotIn', values: ['x', 'y'] },
        { key: 'e', operator: 'In', values: ['1'] },
        { key: 'f', operator: 'In', values: ['x', 'y'] },
      ],
    })
  })

  test('combine both parts, by key', () => {
    const reading = toLabelRequirements({
      matchLabels: { b: '1' },
      matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['y', 'x'] }],
    })
    expect(reading.kind === 'selector' && printLabelSelector(reading.requirements)).toBe('a notin (x,y),b=1')
  })

  test('that are empty select everything', () => {
    expect(toLabelRequirements({})).toEqual({ kind: 'selector', requirements: [] })
  })

  test.each([
    [{ key: 'a', operator: 'Gt', values: ['1'] }, '"Gt" is not a valid label selector operator'],
    [{ key: 'a', operator: 'In', values: [] }, "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty"],
    [
      { key: 'a', operator: 'Exists', values: ['x'] },
      'values: Invalid value: ["x"]: values set must be empty for exists and does not exist',
    ],
  ])('are refused: %o', (expression, message) => {
    expect(toLabelRequirements({ matchExpressions: [expression] })).toEqual({ kind: 'malformed', message })
  })
})

test('printed terms are read back', () => {
  const key = fc.stringMatching(/^[a-z]([a-z0-9._-]{0,8}[a-z0-9])?$/)
  const value = fc.stringMatching(/^([A-Za-z0-9]([A-Za-z0-9._-]{0,8}[A-Za-z0-9])?)?$/)
  const sets = fc.uniqueArray(value, { minLength: 1, maxLength: 3 }).map((values) => values.sort())
  const requirement = fc.oneof(
    fc.record({ key, operator: fc.constantFrom('In' as const, 'NotIn' as const), values: sets }),
    fc.record({ key, operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const), values: fc.constant<string[]>([]) }),
    fc.record({ key, operator: fc.constantFrom('Gt' as const, 'Lt' as const), values: fc.nat().map((number) => [String(number)]) }),
  )
  const selectors = fc.uniqueArray(requirement, { maxLength: 4, selector: (term) => term.key })
  fc.assert(
    fc.property(selectors, (requirements) => {
      const sorted = [...requirements].sort((left, right) => (left.key < right.key ? -1 : 1))
      expect(parse(printLabelSelector(requirements))).toEqual(sorted)
    }),
  )
})

test('any text is parsed or refused, without a crash', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', 'in', 'notin', 'gt', ' ', '=', '!', '<', '(', ')', ',', '1', '-', '/', '.') }),
      (text) => {
        expect(['selector', 'malformed']).toContain(parseLabelSelector(text).kind)
      },
    ),
  )
})

test('a value is found among many in a time that does not grow with their number', () => {
  let read = 0
  const values = new Proxy(
    Array.from({ length: 1_000 }, (_, index) => `v${index}`),
    {
      get(target, name) {
        read += 1
        return Reflect.get(target, name)
      },
    },
  )
  for (let index = 0; index < 1_000; index += 1) {
    expect(matchesLabels([{ key: 'a', operator: 'In', values }], { a: `v${index}` })).toBe(true)
    expect(matchesLabels([{ key: 'a', operator: 'NotIn', values }], { a: `v${index}` })).toBe(false)
  }
  expect(matchesLabels([{ key: 'a', operator: 'In', values }], { a: 'w' })).toBe(false)
  expect(read).toBeLessThan(10_000)
})
