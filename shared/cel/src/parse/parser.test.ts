import { expect, test } from 'vitest'
import type { Expr } from '../ast.ts'
import { optionalMacros } from '../kubernetes/optionals.ts'
import { twoVariableMacros } from '../kubernetes/two-variables.ts'
import { bindMacro } from '../macros/bind.ts'
import { standardMacros } from '../macros/standard.ts'
import { parse } from './parser.ts'
import { codePointsMax, printIssues } from './source.ts'
import { depthMax } from './stop.ts'

const macros = [...standardMacros, ...twoVariableMacros, ...optionalMacros, bindMacro]

function parsed(text: string): Expr {
  const result = parse(text, { macros, optionals: true, escapedFields: true })
  if (result.kind === 'invalid') throw new Error(printIssues(text, result.issues))
  return result.expr
}

function refusal(text: string, optionals = true, escapedFields = false): string {
  const result = parse(text, { macros, optionals, escapedFields })
  return result.kind === 'invalid' ? printIssues(text, result.issues) : 'no error'
}

/** Calls in prefix notation: `_+_(a, 1)`. */
function print(expr: Expr): string {
  switch (expr.kind) {
    case 'constant':
      return 'value' in expr.constant ? String(expr.constant.value) : 'null'
    case 'ident':
      return expr.name
    case 'select':
      return `${print(expr.operand)}.${expr.field}${expr.test ? '?' : ''}`
    case 'call':
      return `${expr.target === undefined ? '' : `${print(expr.target)}.`}${expr.name}(${expr.args.map(print).join(', ')})`
    case 'list':
      return `[${expr.elements.map((element, index) => (expr.optional.includes(index) ? '?' : '') + print(element)).join(', ')}]`
    case 'map':
      return `{${expr.entries.map(({ key, value, optional }) => `${optional ? '?' : ''}${print(key)}: ${print(value)}`).join(', ')}}`
    case 'struct':
      return `${expr.typeName}{${expr.fields.map(({ name, value }) => `${name}: ${print(value)}`).join(', ')}}`
    case 'comprehension': {
      const { variable, variable2, range, accumulator, init, condition, step, result } = expr
      const variables = variable2 === undefined ? variable : `${variable}, ${variable2}`
      return `loop(${variables} in ${print(range)}; ${accumulator} = ${print(init)}; ${print(condition)}; ${print(step)}; ${print(result)})`
    }
  }
}

test.each([
  ['a + b * c - d', '_-_(_+_(a, _*_(b, c)), d)'],
  ['a * b + c < d == e', '_==_(_<_(_+_(_*_(a, b), c), d), e)'],
  ['a && b && c && d', '_&&_(_&&_(a, b), _&&_(c, d))'],
  ['a || b && c', '_||_(a, _&&_(b, c))'],
  ['a ? b : c ? d : e', '_?_:_(a, b, _?_:_(c, d, e))'],
  ['x in [1, 2]', '@in(x, [1, 2])'],
  ['!!a', 'a'],
  ['---a', '-_(a)'],
  ['-1 - -9223372036854775808', '_-_(-1, -9223372036854775808)'],
  ['0xFF == 1u', '_==_(255, 1)'],
  ['.a.b.c(d)[e]', '_[_](.a.b.c(d), e)'],
  ['a.?b[?c]', '_[?_](_?._(a, b), c)'],
  ['[?a, b] == {?c: d,}', '_==_([?a, b], {?c: d})'],
  ['a.b.C{d: 1, e: 2}', 'a.b.C{d: 1, e: 2}'],
  ['a.`b-c`', 'a.b-c'],
  [String.raw`'\x41\u00e9\101\n' + r'\n'`, '_+_(AéA\n, \\n)'],
  ["b'\\xffé'", '255,195,169'],
  ['// first\n a // second', 'a'],
])('%s is %s', (text, expected) => {
  expect(print(parsed(text))).toBe(expected)
})

test.each([
  ['has(a.b)', 'a.b?'],
  ['a.all(x, x)', 'loop(x in a; @result = true; @not_strictly_false(@result); _&&_(@result, x); @result)'],
  ['a.exists(x, x)', 'loop(x in a; @result = false; @not_strictly_false(!_(@result)); _||_(@result, x); @result)'],
  ['a.filter(x, x)', 'loop(x in a; @result = []; true; _?_:_(x, _+_(@result, [x]), @result); @result)'],
  ['a.map(x, p, y)', 'loop(x in a; @result = []; true; _?_:_(p, _+_(@result, [y]), @result); @result)'],
  ['a.exists_one(x, p)', 'loop(x in a; @result = 0; true; _?_:_(p, _+_(@result, 1), @result); _==_(@result, 1))'],
  ['a.transformMap(k, v, w)', 'loop(k, v in a; @result = {}; true; cel.@mapInsert(@result, k, w); @result)'],
  ['cel.bind(x, a, b)', 'loop(#unused in []; x = a; false; x; b)'],
  ['a.optMap(x, b)', '_?_:_(a.hasValue(), optional.of(loop(#unused in []; x = a.value(); false; x; b)), optional.none())'],
])('the macro %s becomes %s', (text, expected) => {
  expect(print(parsed(text))).toBe(expected)
})

test('every part of an expression has its own id, even if a macro repeats a part', () => {
  const ids: number[] = []
  JSON.stringify(parsed('a.b.optMap(x, {x: [x, 1]}).orValue({})'), (key, value) => {
    if (key === 'id') ids.push(value)
    return typeof value === 'bigint' ? String(value) : value
  })
  expect(new Set(ids).size).toBe(ids.length)
})

test.each([
  ['a +', "ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>' expecting"],
  ['a.', "ERROR: <input>:1:3: Syntax error: no viable alternative at input '.'\n | a.\n | ..^"],
  ["a. 'b'", "ERROR: <input>:1:4: Syntax error: no viable alternative at input '. 'b''"],
  ['A{', "ERROR: <input>:1:3: Syntax error: mismatched input '<EOF>' expecting {'}', ',', '?', IDENTIFIER}"],
  ['a.true', "ERROR: <input>:1:3: Syntax error: mismatched input 'true' expecting IDENTIFIER"],
  ['A{b: 1 c', "ERROR: <input>:1:8: Syntax error: mismatched input 'c' expecting {'}', ','}"],
  ['[1', "ERROR: <input>:1:3: Syntax error: mismatched input '<EOF>' expecting {']', ','}"],
  ['[', "ERROR: <input>:1:2: Syntax error: mismatched input '<EOF>' expecting {'[', ']', '{', '(', '.', ',', '-', '!', '?', 'true',"],
  ['{', "ERROR: <input>:1:2: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '}', '(', '.', ',', '-', '!', '?', 'true',"],
  ['(a', "ERROR: <input>:1:3: Syntax error: mismatched input '<EOF>' expecting ')'"],
  ["a! == '1'", "ERROR: <input>:1:2: Syntax error: mismatched input '!' expecting <EOF>"],
  ['a\n  && b c', "ERROR: <input>:2:8: Syntax error: extraneous input 'c' expecting <EOF>\n |   && b c\n | .......^"],
  ['a # b', "ERROR: <input>:1:3: Syntax error: token recognition error at: '#'"],
  ['é', "ERROR: <input>:1:1: Syntax error: token recognition error at: 'é'"],
  ['9223372036854775808', 'ERROR: <input>:1:1: invalid int literal'],
  ['18446744073709551616u', 'ERROR: <input>:1:1: invalid uint literal'],
  ['1e999', 'ERROR: <input>:1:1: invalid double literal'],
  ['while', 'ERROR: <input>:1:1: reserved identifier: while'],
  ['has(a)', 'ERROR: <input>:1:4: invalid argument to has() macro\n | has(a)\n | ...^'],
  ['a.all(1, true)', 'ERROR: <input>:1:7: argument must be a simple name'],
  ['a.map(1, true)', 'ERROR: <input>:1:7: argument is not an identifier'],
  ['a.transformList(k, k, k)', 'ERROR: <input>:1:20: duplicate variable name: k'],
  ['a.`b`', "ERROR: <input>:1:3: unsupported syntax: '`'"],
])('%j is refused: %s', (text, expected) => {
  expect(refusal(text)).toContain(expected)
})

test('optional syntax is refused if no library allows it', () => {
  expect(refusal('a.?b', false)).toContain("ERROR: <input>:1:3: unsupported syntax '?'")
})

test('an expression of more than 100,000 code points is refused', () => {
  expect(refusal(`"${'x'.repeat(codePointsMax - 2)}"`)).toBe('no error')
  const size = codePointsMax + 1
  expect(refusal('x'.repeat(size))).toBe(`ERROR: <input>:-1:0: expression code point size exceeds limit: size: ${size}, limit 100000`)
})

test.each([
  ['parentheses', (depth: number) => `${'('.repeat(depth)}1${')'.repeat(depth)}`],
  ['lists', (depth: number) => `${'['.repeat(depth)}1${']'.repeat(depth)}`],
  ['selections', (depth: number) => `a${'.a'.repeat(depth)}`],
  ['sums', (depth: number) => `1${'+1'.repeat(depth - 1)}`],
  ['conditions', (depth: number) => `${'a?1:'.repeat(depth)}1`],
])('%s deeper than 250 are refused', (_, make) => {
  expect(refusal(make(depthMax - 1))).toBe('no error')
  expect(refusal(make(depthMax))).toBe('ERROR: <input>:-1:0: expression recursion limit exceeded: 250')
})

test('a long chain of && does not count as deep, and signs do not count', () => {
  expect(refusal(Array(10_000).fill('a').join(' && '))).toBe('no error')
  expect(refusal(`${'!'.repeat(50_000)}a`)).toBe('no error')
})

test('macros that repeat their target are bounded', () => {
  expect(refusal(`a${'.optMap(x, x)'.repeat(100)}`)).toContain('expression has too many parts after its macros are expanded')
})
