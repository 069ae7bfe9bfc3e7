import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { Environment } from '../environment.ts'
import { kubernetesLibraries, patchLibrary } from '../kubernetes/index.ts'
import { kubernetesTypes } from '../kubernetes/types.ts'
import { Authorizer } from '../libraries/authorizer.ts'
import { parseQuantity } from '../libraries/quantity.ts'
import { equal } from '../values/equal.ts'
import { unlimitedMeter } from '../values/meter.ts'
import { none, type Value } from '../values/values.ts'
import { plan } from './plan.ts'
import type { Evaluation } from './program.ts'

interface LibraryCase {
  readonly name?: string
  readonly expr?: string
  readonly op?: string
  readonly ops?: readonly string[]
  readonly opts?: readonly string[]
  readonly costs?: readonly { readonly comparableLiteral: string; readonly param?: string; readonly expectedRuntimeCost: number }[]
  readonly expectRuntimeCost?: number
  readonly expectRuntimeErr?: string
  readonly expectedRuntimeErr?: string
  readonly expectCompileErrs?: readonly string[]
  readonly expectedCompileErr?: readonly string[]
  readonly expectResult?: unknown
  readonly expectValue?: unknown
  readonly incomplete?: boolean
}

const folder = new URL('../cases/', import.meta.url)

function readCases(file: string): readonly LibraryCase[] {
  const [, ...lines] = readFileSync(new URL(file, folder), 'utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line) as LibraryCase)
}

const environment = new Environment({
  libraries: [...kubernetesLibraries, patchLibrary],
  mixedLiterals: true,
  variables: { authorizer: kubernetesTypes.authorizer },
})
const authorizer = new Authorizer(() => ({ isAllowed: true, reason: 'allowed by the test' }))

/** Evaluates without folding of constants, like the upstream tests of these cases. */
function evaluate(expression: string): Evaluation | { readonly kind: 'invalid'; readonly message: string } {
  const compiled = environment.compile(expression)
  if (compiled.kind === 'invalid') return compiled
  const planned = plan(compiled.ast, { isFolded: false })
  return planned.kind === 'refused' ? { kind: 'invalid', message: planned.message } : planned.program.evaluate({ authorizer })
}

/** The expected results of one expression. */
interface Expectation {
  readonly expression: string
  readonly cost?: number
  readonly error?: string
  readonly compileError?: string
  readonly value?: unknown
}

function expectationsOf(each: LibraryCase): readonly Expectation[] {
  if (each.costs !== undefined) {
    return each.costs.flatMap(({ comparableLiteral, param = '', expectedRuntimeCost }) =>
      (each.opts ?? []).map((call) => ({ expression: comparableLiteral + call.replace('%s', param), cost: expectedRuntimeCost })),
    )
  }
  const cost = each.expectRuntimeCost === undefined ? {} : { cost: each.expectRuntimeCost }
  if (each.ops !== undefined) return each.ops.map((call) => ({ expression: `url('https:://kubernetes.io/')${call}`, ...cost }))
  const expression = each.expr ?? each.op ?? ''
  if (each.expectRuntimeCost !== undefined) return [{ expression, ...cost }]
  const error = each.expectRuntimeErr ?? each.expectedRuntimeErr
  if (error !== undefined) return [{ expression, error }]
  const compileError = (each.expectCompileErrs ?? each.expectedCompileErr)?.[0]
  return [compileError === undefined ? { expression, value: each.expectResult ?? each.expectValue } : { expression, compileError }]
}

function meets(expectation: Expectation): boolean {
  const found = evaluate(expectation.expression)
  const { cost, error, compileError } = expectation
  if (compileError !== undefined) return found.kind === 'invalid' && new RegExp(compileError).test(found.message)
  if (error !== undefined) return found.kind === 'error' && (found.message === error || new RegExp(`^${error}`).test(found.message))
  if (found.kind !== 'value') return false
  return cost === undefined ? isExpected(found.value, expectation.value) : found.cost === cost
}

function isExpected(value: Value, expected: unknown): boolean {
  if (typeof expected !== 'object' || expected === null) return equal(unlimitedMeter(), value, expected) === true
  const { addr, prefix, quantity, optionalNone } = expected as Readonly<Record<string, unknown>>
  if (optionalNone === true) return equal(unlimitedMeter(), value, none) === true
  if (quantity !== undefined) return equal(unlimitedMeter(), value, parseQuantity(String(quantity))) === true
  return String(value) === (addr ?? prefix)
}

const files = readdirSync(folder).filter((file) => file.startsWith('library-'))

const statements: Readonly<Record<string, string>> = {
  'library-quantity.jsonl': 'CEL-10',
  'library-ip.jsonl': 'CEL-11',
  'library-cidr.jsonl': 'CEL-12',
  'library-format.jsonl': 'CEL-13',
  'library-semver.jsonl': 'CEL-14',
}

/** The statement that a file shows: the library's own, or CEL-48 for a file about costs. */
function statementOf(file: string): string {
  return statements[file] ?? 'CEL-48'
}

describe('libraries of Kubernetes', () => {
  test.each(files.map((file) => [statementOf(file), file] as const))('%s: behave as recorded in %s', (_statement, file) => {
    const expectations = readCases(file)
      .filter(({ incomplete }) => incomplete !== true)
      .flatMap(expectationsOf)
    expect(expectations.length).toBeGreaterThan(0)
    expect(expectations.filter((each) => !meets(each)).map(({ expression }) => expression)).toEqual([])
  })

  test.each([
    ["sign(quantity('50k'))", 1],
    ["sign(quantity('-1'))", -1],
    ["sign(quantity('0'))", 0],
  ])('CEL-10: the sign of a quantity is equal as a method and as a function: %s', (expression, value) => {
    expect(evaluate(expression)).toMatchObject({ kind: 'value', value, cost: 2 })
  })

  test.each([
    ['m', 0],
    ['.', 0],
    ['-', 0],
    ['1.5Ki', 1536],
    ['9e18', 9_000_000_000_000_000_000n],
  ])('CEL-10: the quantity %j is %s, as in the API', (text, value) => {
    expect(evaluate(`quantity('${text}').asInteger()`)).toMatchObject({ kind: 'value', value })
  })

  test.each(['', ' 1', '1e', '1ki', '1e4097', '0x1', '1 ', '١', '9'.repeat(4097)])('CEL-10: the text %j is no quantity', (text) => {
    expect(evaluate(`isQuantity('${text}')`)).toMatchObject({ kind: 'value', value: false })
    expect(evaluate(`quantity('${text}')`)).toMatchObject({ kind: 'error' })
  })

  test.each([
    ['sets.contains([1, 2, 3], [3, 1, 1])', true],
    ['sets.contains([1], [1, 2])', false],
    ['sets.equivalent([1, 2, 2], [2, 1, 1])', true],
    ['sets.equivalent([1, 2], [1])', false],
    ['sets.intersects([1, 2], [2, 3])', true],
    ['sets.intersects([1], [2])', false],
    ['sets.intersects([], [1])', false],
  ])('CEL-16: %s is %s', (expression, value) => {
    expect(evaluate(expression)).toMatchObject({ kind: 'value', value })
  })

  test('a precision without digits is refused with the expression, and a large one when it prints', () => {
    const syntax = 'error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax'
    expect(evaluate('"%.f".format([1.0])')).toMatchObject({ kind: 'invalid', message: expect.stringContaining(syntax) })
    expect(environment.compile('"%.101f".format([1.0])').kind).toBe('compiled')
    expect(evaluate('"%.101f".format([1.0])')).toMatchObject({ kind: 'error' })
  })

  test('characters that show nothing are escaped as in Go in lists of a format and in errors', () => {
    const hidden = String.raw`"\u0001\u00a0\u2028é"`
    const quoted = String.raw`"\x01\u00a0\u2028é"`
    expect(evaluate(`"%s".format([[${hidden}]])`)).toMatchObject({ kind: 'value', value: `[${quoted}]` })
    expect(evaluate(`ip(${hidden})`)).toMatchObject({ kind: 'error', message: expect.stringContaining(`ParseAddr(${quoted})`) })
  })

  test('CEL-15: the query of a URL keeps a byte order mark', () => {
    expect(evaluate("url('https://a/?b=%EF%BB%BFc').getQuery()['b'][0] == '\\ufeffc'")).toMatchObject({ kind: 'value', value: true })
  })

  test('CEL-12: a network with an IPv4-mapped address is refused as a network', () => {
    const message = expect.stringContaining(
      'network address parse error during conversion from string: IPv4-mapped IPv6 address "::ffff:1.2.3.4/96"',
    )
    expect(evaluate("cidr('::ffff:1.2.3.4/96')")).toMatchObject({ kind: 'error', message })
  })

  test('CEL-13: the errors of a format are a list of strings', () => {
    const problems = (call: string) => {
      const found = evaluate(`${call}.value()`)
      return found.kind === 'value' ? found.value : found
    }
    expect(problems("format.dns1123Label().validate('contains a space')")).toEqual([
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ])
    expect(problems("format.byte().validate('aGVsbG8')")).toEqual(['invalid base64'])
    expect(problems("format.date().validate('2020-01-32')")).toEqual(['invalid date'])
    expect(problems("format.datetime().validate('2020-01-32T00:00:00Z')")).toEqual(['invalid datetime'])
    expect(problems("format.uuid().validate('x')")).toEqual(['does not match the UUID format'])
    expect(problems("format.dns1123SubdomainPrefix().validate('contains a space-')")).toHaveLength(1)
  })

  test('CEL-17: an authorizer receives the check of the expression', () => {
    const asked: unknown[] = []
    const recording = new Authorizer((request) => {
      asked.push(request)
      return { isAllowed: false, reason: 'no rule', error: 'unreachable' }
    })
    const expression =
      "authorizer.serviceAccount('ns', 'robot').group('apps').resource('deployments').subresource('scale').namespace('a').name('b').check('get').reason() == 'no rule' && authorizer.path('/x').check('get').errored()"
    const compiled = environment.compile(expression)
    const planned = compiled.kind === 'compiled' ? plan(compiled.ast) : undefined
    const found = planned?.kind === 'program' ? planned.program.evaluate({ authorizer: recording }) : planned
    expect(found).toMatchObject({ kind: 'value', value: true })
    expect(asked).toEqual([
      {
        kind: 'resource',
        group: 'apps',
        resource: 'deployments',
        subresource: 'scale',
        namespace: 'a',
        name: 'b',
        verb: 'get',
        serviceAccount: { namespace: 'ns', name: 'robot' },
      },
      { kind: 'path', path: '/x', verb: 'get' },
    ])
  })

  test('CEL-19: a key is escaped for a JSON pointer', () => {
    expect(evaluate("jsonpatch.escapeKey('a/b~c') == 'a~1b~0c'")).toMatchObject({ value: true })
  })

  test('CEL-15: a URL is absolute, or is an absolute path', () => {
    const isUrl = (text: string) => {
      const found = evaluate(`isURL('${text}')`)
      return found.kind === 'value' && found.value
    }
    expect(['https://a.example:80/p?q', '/path', '../relative', '', 'https://a.example:port/'].map(isUrl)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ])
    expect(evaluate("url('https://[::1]:8443/a?k=1&k=2').getHostname() == '::1'")).toMatchObject({ value: true })
    expect(evaluate("url('https://[::1]:8443/a?k=1&k=2').getQuery() == {'k': ['1', '2']}")).toMatchObject({ value: true })
  })
})

test.each(['!dyn(null).?data.hasValue()', "!dyn(null)[?'data'].hasValue()", "dyn(null).?data.x.orValue('none') == 'none'"])(
  'an optional selection in a value without fields is none: %s',
  (expression) => {
    expect(evaluate(expression)).toMatchObject({ kind: 'value', value: true })
  },
)
