import { fc } from '@orch/testkit/chance'
import { expect, test } from 'vitest'
import { parseYaml, parseYamlBytes, printYaml, problemLines, readYaml, repeatsProblems } from './index.ts'

function read(text: string): unknown {
  const parsed = parseYaml(text)
  if (parsed.kind === 'malformed') throw new Error(parsed.message)
  return parsed.value
}

test('VAL-06: repeated keys are reported with the lines of their values, and the last value counts', () => {
  const text = 'a: 1\nb:\n  - c: 1\n    c: 2\n    d: {e: 1, e: 3}\na: 2\n'
  expect(parseYaml(text)).toEqual({
    kind: 'yaml',
    value: { a: 2, b: [{ c: 2, d: { e: 3 } }] },
    repeats: ['line 4: key "c" already set in map', 'line 5: key "e" already set in map', 'line 6: key "a" already set in map'],
    hasBigIntegers: false,
  })
  expect(() => readYaml(text, { isStrict: true })).toThrow('line 4: key "c" already set in map')
  expect(readYaml(text)).toMatchObject({ a: 2 })
})

test('the problem of several repeated keys becomes one warning for each', () => {
  const lines = ['line 1: key "a" already set in map', 'line 2: key "b" already set in map']
  const problems = repeatsProblems(lines)
  expect(problems).toEqual([`yaml: unmarshal errors:\n  ${lines[0]}\n  ${lines[1]}`])
  expect(problems.flatMap(problemLines)).toEqual(lines)
  expect(repeatsProblems([])).toEqual([])
  expect(problemLines('unknown field "a"')).toEqual(['unknown field "a"'])
})

test('later members override a merge key, and the first of several merged maps counts', () => {
  expect(parseYaml('a: &a {x: 1, z: 2}\nb: {<<: *a, z: 3}\n')).toMatchObject({
    value: { b: { x: 1, z: 3 } },
    repeats: ['line 2: key "z" already set in map'],
  })
  expect(read('a: &a {x: 1}\nb: &b {x: 2, z: 2}\nc: {<<: [*a, *b]}\n')).toMatchObject({ c: { x: 1, z: 2 } })
  expect(read('c: {<<: {x: 1}, "<<": z}\n')).toEqual({ c: { x: 1, '<<': 'z' } })
})

test('the target of an alias is copied, so that no two places share it', () => {
  const value = read('a: &a {x: [1]}\nb: *a\nc: {<<: *a}\n')
  expect(value).toEqual({ a: { x: [1] }, b: { x: [1] }, c: { x: [1] } })
  const { a, b, c } = value as Record<string, { x: number[] }>
  a?.x.push(2)
  expect([b?.x, c?.x]).toEqual([[1], [1]])
})

const laughs = Array.from({ length: 20 }, (_, level) => `a${level + 1}: &a${level + 1} [*a${level},*a${level},*a${level}]`).join('\n')
test.each([
  ['LIM-12: aliases of aliases', `a0: &a0 lol\n${laughs}\n`],
  ['LIM-12: a long text many times', `a: &a "${'x'.repeat(100_000)}"\nb: [${Array(100).fill('*a').join(',')}]\n`],
  [
    'LIM-12: a large map many times',
    `a: &a {${Array.from({ length: 2_000 }, (_, at) => `k${at}: v`).join(', ')}}\n${Array.from({ length: 2_000 }, (_, at) => `m${at}: {<<: *a}`).join('\n')}`,
  ],
  [
    'LIM-12: aliases a hundred thousand deep',
    Array.from({ length: 100_000 }, (_, at) => `${100_000 - at}: &a${at} [*a${at - 1}]`)
      .join('\n')
      .replace('*a-1', ''),
  ],
])('%s are refused', (_title, text) => {
  expect(parseYaml(text)).toEqual({ kind: 'malformed', message: 'yaml: document contains excessive aliasing' })
})

test('LIM-12: an anchor that contains itself is refused, and so is an absent anchor', () => {
  expect(parseYaml('a: &a [*a]\n')).toEqual({ kind: 'malformed', message: "yaml: anchor 'a' value contains itself" })
  expect(parseYaml('a: {b: &b {c: *b}}\n')).toEqual({ kind: 'malformed', message: "yaml: anchor 'b' value contains itself" })
  expect(parseYaml('a: *b\n')).toEqual({ kind: 'malformed', message: "yaml: unknown anchor 'b' referenced" })
})

test('LIM-12: a text that is nested too deeply is refused', () => {
  expect(parseYaml('['.repeat(100_000))).toMatchObject({ kind: 'malformed', message: expect.stringContaining('nesting') })
  expect(parseYaml(`${'['.repeat(1_000)}${']'.repeat(1_000)}`)).toMatchObject({ kind: 'yaml' })
})

test.each([
  ['a: 1\n---\nb: 2\n', { a: 1 }],
  ['a: 1\n---\n[broken', { a: 1 }],
  ['# c\n---\na: 1\n...\n"', { a: 1 }],
  ['--- \n---\na: 1\n', null],
  ['---\n'.repeat(100_000), null],
  ['---\na: "\\n---"\n', { a: '\n---' }],
  ['a: |\n  ---\n  b\n', { a: '---\nb\n' }],
  ['', null],
  ['# nothing\n', null],
])('only the first document of a stream is parsed: %#', (text, value) => {
  expect(read(text)).toEqual(value)
})

test.each([
  ['a: [1,\n2\n]\nb: 3\n', { a: [1, 2], b: 3 }],
  ['  a: {\n"b": "x\ny",\n\tc: 1 }\n', { a: { b: 'x y', c: 1 } }],
  ["a: 'it''s\n# [no comment\n  '\nb: it's [\nc: [1, # ]\n2]\n", { a: "it's # [no comment ", b: "it's [", c: [1, 2] }],
  ['a: |\n  [x\n   "y\nb:\n  - [1,\n2]\n', { a: '[x\n "y\n', b: [[1, 2]] }],
])('the indentation of lines within brackets and quotes does not count: %#', (text, value) => {
  expect(read(text)).toEqual(value)
})

test('LIM-12: brackets that would take too much indentation are refused', () => {
  const text = `${' '.repeat(5_000)}a: [${'x,\n'.repeat(5_000)}]`
  expect(parseYaml(text)).toMatchObject({ kind: 'malformed' })
})

test('the line of each member and item is found', () => {
  const places = new Map()
  const parsed = parseYaml('# c\na:\n  - b: [1,\n2]\n    c: |\n      x\n  - d\n', places)
  const { a } = parsed.kind === 'yaml' ? (parsed.value as { a: [{ b: unknown }] }) : { a: [{ b: [] }] }
  expect(places.get(a)).toEqual(
    new Map([
      [0, 3],
      [1, 7],
    ]),
  )
  expect(places.get(a[0])).toEqual(
    new Map([
      ['b', 3],
      ['c', 5],
    ]),
  )
  expect(places.get(a[0].b)).toEqual(
    new Map([
      [0, 3],
      [1, 4],
    ]),
  )
})

test('64-bit integers are exact, and a larger number is no integer', () => {
  expect(parseYaml('a: 9223372036854775807\nb: 0x7fffffffffffffff\n')).toMatchObject({
    value: { a: 2n ** 63n - 1n, b: 2n ** 63n - 1n },
    hasBigIntegers: true,
  })
  expect(parseYaml('a: 9223372036854775808')).toMatchObject({ value: { a: 2 ** 63 }, hasBigIntegers: false })
})

test('the member __proto__ is plain data', () => {
  const value = read('__proto__: {a: 1}\nb: &b {__proto__: 2}\nc: {<<: *b}\n')
  expect(Object.entries(value as object)).toHaveLength(3)
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
})

test.each([
  ['invalid leading UTF-8 octet', [0x61, 0x3a, 0x20, 0xff]],
  ['invalid trailing UTF-8 octet', [0x61, 0xe9, 0x78, 0x78]],
  ['incomplete UTF-8 octet sequence', [0x61, 0xe9]],
  ['invalid length of a UTF-8 sequence', [0xc0, 0x80]],
  ['invalid Unicode character', [0xed, 0xa0, 0x80]],
])('bytes that are no valid text are refused: %s', (problem, bytes) => {
  expect(parseYamlBytes(Uint8Array.from(bytes))).toEqual({ kind: 'malformed', message: `yaml: ${problem}` })
})

test('UTF-16 with a byte order mark is parsed, and a mark before UTF-8 is skipped', () => {
  const little = Buffer.from('\ufeffa: é', 'utf16le')
  expect(parseYamlBytes(little)).toMatchObject({ value: { a: 'é' } })
  expect(parseYamlBytes(Buffer.from(little).swap16())).toMatchObject({ value: { a: 'é' } })
  expect(parseYamlBytes(Buffer.from('\ufeffa: b'))).toMatchObject({ value: { a: 'b' } })
})

const special = fc.constantFrom(
  'no',
  'Y',
  'off',
  '0444',
  '0o7',
  '0b1',
  '0b-1',
  '1_000',
  '1e3',
  '.5',
  '12:30',
  '~',
  'null',
  '<<',
  '=',
  '-',
  '# x',
  'a: b',
  ' x',
  'x\n',
  '\u2028',
  '\u0085',
  '\ufeff',
  '---',
  '.inf',
  '"',
  "'",
)
const anyText = fc.oneof(special, fc.string({ unit: 'binary', maxLength: 6 }), fc.string({ maxLength: 12 }))
const anyValue = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    anyText,
    fc.boolean(),
    fc.constant(null),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Object.is(number, -0)),
    fc.bigInt(2n ** 53n, 2n ** 63n - 1n),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(anyText, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value

test('NEG-10: any printed value is read back unchanged', () => {
  fc.assert(
    fc.property(anyValue, (value) => {
      expect(read(printYaml({ value }))).toEqual({ value })
    }),
    { numRuns: 3_000 },
  )
})

test('an unpaired surrogate is printed as the replacement character', () => {
  expect(read(printYaml({ a: '\ud800x', b: ['\\uD800'] }))).toEqual({ a: '\ufffdx', b: ['\\uD800'] })
})

test('no text crashes the parser', () => {
  const piece = fc.constantFrom(
    'a',
    ': ',
    '- ',
    '\n',
    '  ',
    '[',
    ']',
    '{',
    '}',
    ',',
    '"',
    "'",
    '&a ',
    '*a',
    '!!int ',
    '|\n',
    '>',
    '<<',
    '? ',
    '#',
    '\t',
    '---\n',
    '0x1',
    '%',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      expect(['yaml', 'malformed']).toContain(parseYaml(pieces.join('')).kind)
    }),
    { numRuns: 5_000 },
  )
})
