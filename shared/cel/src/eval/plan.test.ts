import { describe, expect, test } from 'vitest'
import { Environment } from '../environment.ts'
import { bindMacro } from '../macros/bind.ts'
import { standardLibrary } from '../standard/index.ts'
import { listOf, types } from '../types.ts'
import { Double } from '../values/values.ts'
import { type PlanOptions, plan } from './plan.ts'
import type { EvaluationBounds, Program } from './program.ts'

const { dyn, int, string } = types
const environment = new Environment({
  libraries: [standardLibrary, { name: 'bind', since: 0, functions: {}, macros: [bindMacro] }],
  variables: { self: dyn, texts: listOf(string), numbers: listOf(int), text: string, number: int },
})

function planned(expression: string, options?: PlanOptions): Program {
  const compiled = environment.compile(expression)
  if (compiled.kind === 'invalid') throw new Error(compiled.message)
  const made = plan(compiled.ast, options)
  if (made.kind === 'refused') throw new Error(made.message)
  return made.program
}

const variables = {
  self: { a: { b: 1, t: 'text' }, list: [1, 2, 3], k: 'a' },
  texts: ['a', 'b'],
  numbers: [1, 2, 3],
  text: 'Rook takes 👑',
  number: 2,
}

function evaluate(expression: string, bounds?: EvaluationBounds) {
  return planned(expression).evaluate(variables, bounds)
}

function costOf(expression: string, options?: PlanOptions): number {
  return planned(expression, options).evaluate(variables).cost
}

test.each(['has(self.none.a)', 'has(self.a.b.c)', 'has(self.a.t.c)'])('a value that is no map has no member: %s', (expression) => {
  expect(planned(expression).evaluate({ self: { ...variables.self, none: null } })).toMatchObject({ value: false })
})

describe('errors', () => {
  test.each([
    ['self.a.missing', 'no such key: missing'],
    ['self.a.b.c', 'no such key: c'],
    ['self.missing.b', 'no such key: missing'],
    ['numbers[3]', 'index out of bounds: 3'],
    ['numbers[-1]', 'index out of bounds: -1'],
    ['number / (number - 2)', 'division by zero'],
    ['number % (number - 2)', 'modulus by zero'],
    ['9223372036854775807 + number', 'integer overflow'],
    ['self.a.t + 1', 'no such overload'],
    ['self.a < 1', 'no such overload'],
    ["self.a.t.matches('a') || dyn(1).contains('a')", 'no such overload'],
    ['bool(dyn(number))', 'no such overload: bool(int)'],
    ['dyn(null).getHours(dyn(text)) == 1', 'no such overload: getHours(null_type, string)'],
    ['dyn(1).size()', 'no such overload: size'],
    ['dyn(1).all(x, x)', "got 'types.Int', expected iterable type"],
    ['dyn(text).map(x, x)', "got 'types.String', expected iterable type"],
    ["{'a': 1}[text]", 'no such key: Rook takes 👑'],
    ["text.matches(text + '(')", 'error parsing regexp: missing closing ): `Rook takes 👑(`'],
    ['int(text)', "type conversion error from 'string' to 'int'"],
  ])('CEL-35: %s gives %s', (expression, message) => {
    expect(evaluate(expression)).toMatchObject({ kind: 'error', message, isOverLimit: false })
  })

  test('an absent variable is an error when it is read, and not before', () => {
    expect(planned('number > 1 || text == "a"').evaluate({ number: 2 })).toMatchObject({ kind: 'value', value: true })
    expect(planned('number > 2 || text == "a"').evaluate({ number: 2 })).toMatchObject({ message: 'no such attribute(s): text' })
  })

  test('&& and || absorb an error on either side, and ?: absorbs an error of the branch that is not chosen', () => {
    for (const expression of [
      'self.missing == 1 || true',
      'true || self.missing == 1',
      '!(self.missing == 1 && false)',
      'number == 2 ? true : self.missing == 1',
      'numbers.exists(n, n == 2 || 1 / (n - 1) > 5)',
    ]) {
      expect([expression, evaluate(expression)]).toMatchObject([expression, { kind: 'value', value: true }])
    }
    expect(evaluate('self.missing == 1 || false')).toMatchObject({ kind: 'error', message: 'no such key: missing' })
  })

  test('a constant that cannot be converted refuses the expression', () => {
    const compiled = environment.compile("int('x') == 1")
    expect(compiled.kind === 'compiled' ? plan(compiled.ast) : compiled).toMatchObject({ kind: 'refused' })
  })

  test('CEL-18: an invalid constant pattern refuses the expression', () => {
    const compiled = environment.compile("text.matches('(')")
    const message = 'error parsing regexp: missing closing ): `(`'
    if (compiled.kind === 'compiled') expect(plan(compiled.ast)).toEqual({ kind: 'refused', message })
    else expect(compiled.message).toContain('invalid matches argument')
  })
})

describe('cost', () => {
  test.each([
    ['self.a.b', 3],
    ['has(self.a.b)', 2],
    ['self.a[self.k]', 4],
    ['numbers[number - 1]', 4],
    ['number == 2 ? self.a.b : self.a.c', 4],
    ['text == "x"', 2],
    ['text.contains("takes")', 3],
    ["text in ['a', 'b']", 1],
    ['number in numbers', 5],
    ['numbers.all(n, true)', 11],
    ["texts.exists(t, t == 'a')", 11],
    ['numbers.map(n, n + 1).size() == 3', 1 + 3 * 14 + 1 + 2],
    ['numbers.filter(n, n > 1).size() == 2', 1 + 3 * 2 + 2 * 13 + 1 + 2],
    ['cel.bind(n, number + 1, true)', 0],
    ['cel.bind(n, number + 1, n + n)', 2 + 3],
  ])('CEL-53: %s costs %i', (expression, cost) => {
    expect(costOf(expression)).toBe(cost)
  })

  test('CEL-44: a constant list costs nothing if constants are folded, and 10 otherwise', () => {
    expect([costOf('[1, 2] == [1, 2]'), costOf('[1, 2] == [1, 2]', { isFolded: false })]).toEqual([1, 21])
    expect([costOf("text in ['a']"), costOf("text in ['a']", { isFolded: false })]).toEqual([1, 12])
  })

  /** A text of so many characters. */
  const x = (length: number): string => `'${'x'.repeat(length)}'`

  test.each([
    // 3 for 21 characters, 1 for the variable.
    [`('${'x'.repeat(9)}' + text).size()`, 5],
    // A pattern of 9 characters is 3, a text of 12 characters is 2: (1 + 12) / 10.
    ['text.matches("^[A-Z]{1}")', 7],
  ])('CEL-45: %s costs %i', (expression, cost) => {
    expect(costOf(expression)).toBe(cost)
  })

  test.each([
    [`text.contains(${x(21)})`, 1 + 2 * 3],
    [`text.startsWith(${x(21)})`, 1 + 3],
    [`text.endsWith(${x(11)})`, 1 + 2],
    ['number in numbers', 2 + 3],
    [`text == ${x(30)}`, 1 + 2],
    [`text < ${x(30)}`, 1 + 2],
    ['number == 3', 1 + 1],
    ['numbers == numbers', 2 + 1],
  ])('CEL-46: %s costs %i', (expression, cost) => {
    expect(costOf(expression)).toBe(cost)
  })

  test('CEL-38: the evaluation stops when its cost is above the limit, and not at the limit', () => {
    expect(evaluate('numbers.all(n, n > 0)', { costLimit: 20 })).toMatchObject({ kind: 'value', value: true })
    const stopped = evaluate('numbers.all(n, n > 0)', { costLimit: 16 })
    expect(stopped).toMatchObject({ kind: 'error', message: 'operation cancelled: actual cost limit exceeded', isOverLimit: true })
  })

  test('results of one evaluation do not leak into the next', () => {
    const program = planned('numbers.map(n, n * 2) == numbers.map(n, n + n)')
    const first = program.evaluate(variables)
    expect(program.evaluate(variables)).toEqual(first)
    expect(planned('number').evaluate({ number: 7 })).toMatchObject({ value: 7, cost: 1 })
  })
})

describe('hostile expressions', () => {
  test('CEL-54: a loop checks its deadline each hundred iterations', () => {
    let asked = 0
    const isInterrupted = () => {
      asked++
      return asked === 3
    }
    const numbers = Array.from({ length: 1000 }, (_, index) => index)
    const evaluation = planned('numbers.all(n, n >= 0)').evaluate({ numbers }, { isInterrupted })
    expect(evaluation).toMatchObject({ kind: 'error', message: 'operation interrupted' })
    expect(asked).toBe(3)
  })

  test('lists that double in a loop do not exhaust memory', () => {
    let expression = 'a.size()'
    for (let level = 0; level < 40; level++) expression = `cel.bind(a, a + a, ${expression})`
    const numbers = Array.from({ length: 100 }, (_, index) => index)
    const evaluation = planned(`cel.bind(a, numbers, ${expression})`).evaluate({ numbers }, { costLimit: 1_000_000 })
    expect(evaluation).toMatchObject({ kind: 'value', value: 100 * 2 ** 40 })
  })

  test('a chain of 240 additions is evaluated', () => {
    expect(evaluate(Array.from({ length: 240 }, () => 'number').join(' + '))).toMatchObject({ value: 480 })
  })

  test('properties that every object inherits are absent', () => {
    expect(planned('self.constructor').evaluate({ self: {} })).toMatchObject({ message: 'no such key: constructor' })
    expect(planned('has(self.toString)').evaluate({ self: {} })).toMatchObject({ value: false })
    expect(planned("'__proto__' in self").evaluate({ self: {} })).toMatchObject({ value: false })
  })
})

describe('dynamic values', () => {
  test('read plain JSON in place: whole numbers are ints, other numbers doubles', () => {
    const evaluateOn = (expression: string, self: unknown) => planned(expression).evaluate({ self })
    expect(evaluateOn('type(self) == int', 1)).toMatchObject({ value: true })
    expect(evaluateOn('type(self) == double', 1.5)).toMatchObject({ value: true })
    expect(evaluateOn('self + 0.5', new Double(1))).toMatchObject({ value: 1.5 })
    expect(evaluateOn('self == 9007199254740993', 9007199254740993n)).toMatchObject({ value: true })
    expect(evaluateOn("self == '25%' || self == 1", 1)).toMatchObject({ value: true })
  })
})
