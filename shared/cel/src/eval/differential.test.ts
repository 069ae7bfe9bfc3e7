import { expect, test } from 'vitest'
import { type CallExpr, type ComprehensionExpr, type Expr, operators, type SelectExpr } from '../ast.ts'
import type { CheckedAst } from '../checked.ts'
import { Environment } from '../environment.ts'
import { kubernetesLibraries } from '../kubernetes/index.ts'
import { bindMacro } from '../macros/bind.ts'
import { listOf, mapOf, types } from '../types.ts'
import { CelMap, isMap, itemsOf, listAt, listSize, mapGet, mapKeys } from '../values/collections.ts'
import { equal } from '../values/equal.ts'
import { CelError, toDouble, toInt, Uint, type Value } from '../values/values.ts'
import { costOf } from './costs.ts'
import { functionOf } from './functions.ts'
import { plan } from './plan.ts'

type Scope = Readonly<Record<string, Value>>

const conversions = new Set(['int', 'string', 'double', 'bool', 'bytes', 'uint', 'dyn', 'type', 'duration', 'timestamp'])

/** Evaluates an expression as its tree stands, and counts as cel-go's observer of each step does. */
class Walker {
  cost = 0
  readonly #ast: CheckedAst

  constructor(ast: CheckedAst) {
    this.#ast = ast
  }

  /** The value of a part, all of its cost counted. */
  walk(expr: Expr, scope: Scope): Value {
    const value = this.#resolve(expr, scope)
    if (this.#isAttribute(expr) && !this.#isConditionalChain(expr)) this.cost += 1
    return value
  }

  #isAttribute(expr: Expr): boolean {
    if (expr.kind === 'ident') return true
    if (expr.kind === 'select') return !expr.test
    return expr.kind === 'call' && [operators.index, operators.conditional].some((name) => name === expr.name)
  }

  #isConditionalChain(expr: Expr): boolean {
    if (expr.kind === 'select') return this.#isConditionalChain(expr.operand)
    if (expr.kind !== 'call') return false
    return expr.name === operators.conditional || (expr.name === operators.index && this.#isConditionalChain(expr.args[0]!))
  }

  #operand(expr: Expr, scope: Scope): Value {
    return this.#isAttribute(expr) ? this.#resolve(expr, scope) : this.walk(expr, scope)
  }

  /** The value of a part without the unit for an attribute as a whole. */
  #resolve(expr: Expr, scope: Scope): Value {
    switch (expr.kind) {
      case 'constant':
        return constantOf(expr)
      case 'ident':
        return scope[expr.name]
      case 'select':
        return this.#select(expr, scope)
      case 'call':
        return this.#call(expr, scope)
      case 'list': {
        const items: Value[] = []
        let wrong: CelError | undefined
        for (const element of expr.elements) {
          const item = this.walk(element, scope)
          if (item instanceof CelError) {
            wrong = item
            break
          }
          items.push(item)
        }
        if (!this.#isConstant(expr)) this.cost += 10
        return wrong ?? items
      }
      case 'map': {
        const map = new CelMap()
        for (const { key, value } of expr.entries) {
          const at = this.walk(key, scope)
          const item = this.walk(value, scope)
          const wrong = [at, item].find((part) => part instanceof CelError) ?? map.add(at, item)
          if (wrong !== undefined) {
            this.cost += 30
            return wrong
          }
        }
        if (!this.#isConstant(expr)) this.cost += 30
        return map
      }
      case 'comprehension':
        return this.#loop(expr, scope)
      case 'struct':
        throw new Error('no structs here')
    }
  }

  #isConstant(expr: Expr): boolean {
    if (expr.kind === 'constant') return true
    if (expr.kind === 'list') return expr.elements.every((element) => this.#isConstant(element))
    if (expr.kind === 'map') return expr.entries.every(({ key, value }) => this.#isConstant(key) && this.#isConstant(value))
    return expr.kind === 'call' && conversions.has(expr.name) && expr.args.length === 1 && this.#isConstant(expr.args[0]!)
  }

  #select(expr: SelectExpr, scope: Scope): Value {
    const container = this.#operand(expr.operand, scope)
    if (container instanceof CelError) return container
    this.cost += 1
    const found = isMap(container) ? mapGet(container, expr.field) : undefined
    if (expr.test) return isMap(container) ? found !== undefined : new CelError(`no such key: ${expr.field}`)
    return found ?? new CelError(`no such key: ${expr.field}`)
  }

  #call(expr: CallExpr, scope: Scope): Value {
    const [a, b, c] = expr.args
    switch (expr.name) {
      case operators.and:
      case operators.or:
        return this.#logic(expr.name === operators.or, [this.walk.bind(this, a!, scope), this.walk.bind(this, b!, scope)])
      case operators.conditional: {
        const chosen = this.walk(a!, scope)
        return chosen instanceof CelError ? chosen : this.#operand(chosen === true ? b! : c!, scope)
      }
      case operators.index:
        return this.#index(a!, b!, scope)
      case operators.notStrictlyFalse: {
        const value = this.walk(a!, scope)
        this.cost += 1
        return value !== false
      }
      default:
        return this.#function(expr, scope)
    }
  }

  #logic(stop: boolean, terms: readonly (() => Value)[]): Value {
    const values: Value[] = []
    for (const term of terms) {
      const value = term()
      if (value === stop) return stop
      values.push(value)
    }
    return values.find((value) => value instanceof CelError) ?? !stop
  }

  #index(container: Expr, key: Expr, scope: Scope): Value {
    const from = this.#operand(container, scope)
    if (from instanceof CelError) return from
    const at = this.#operand(key, scope)
    if (!this.#isConditionalChain(key)) this.cost += 1
    if (at instanceof CelError) return at
    if (isMap(from)) return mapGet(from, at) ?? new CelError(`no such key: ${String(at)}`)
    const place = Number(at)
    return place >= 0 && place < listSize(from) ? listAt(from, place) : new CelError(`index out of bounds: ${place}`)
  }

  #function(expr: CallExpr, scope: Scope): Value {
    const reference = this.#ast.references.get(expr.id)
    if (reference?.kind !== 'function') throw new Error(`${expr.name} has no overload`)
    const operands = expr.target === undefined || reference.isQualified ? expr.args : [expr.target, ...expr.args]
    const overload = reference.overloads.length === 1 ? (reference.overloads[0]?.id ?? '') : ''
    const isConstantList = overload === 'in_list' && this.#isConstant(expr.args[1]!)
    const args: Value[] = []
    for (const operand of operands) {
      const value = this.walk(operand, scope)
      if (value instanceof CelError && operands.length > 2) return value
      args.push(value)
    }
    const run = functionOf(reference.name, operands.length, 'version2')
    if (run === undefined) throw new Error(`${reference.name} is not there`)
    const value = args.find((arg) => arg instanceof CelError) ?? run(...args)
    if (this.#isConstant(expr) || isConstantList) return value
    const cost = costOf(reference.name, overload)
    this.cost += cost === undefined ? 1 : cost(args[0], args[1], value)
    return value
  }

  #loop(expr: ComprehensionExpr, scope: Scope): Value {
    const range = this.walk(expr.range, scope)
    if (range instanceof CelError) return range
    const items = isMap(range) ? [...mapKeys(range)] : itemsOf(range)
    if (items.length === 0 && expr.variable === '#unused') return this.#bound(expr, scope)
    let accumulated = this.walk(expr.init, scope)
    for (const item of items) {
      const inside = Object.assign(Object.create(scope), { [expr.accumulator]: accumulated, [expr.variable]: item })
      if (this.walk(expr.condition, inside) === false) break
      accumulated = this.walk(expr.step, inside)
    }
    return this.walk(expr.result, Object.assign(Object.create(scope), { [expr.accumulator]: accumulated }))
  }

  /** The value of `cel.bind` is evaluated when it is read, once. */
  #bound(expr: ComprehensionExpr, scope: Scope): Value {
    let made: { readonly value: Value } | undefined
    const lazy = Object.defineProperty(Object.create(scope), expr.accumulator, {
      enumerable: true,
      get: () => {
        made ??= { value: this.walk(expr.init, scope) }
        return made.value
      },
    })
    return this.walk(expr.result, lazy)
  }
}

function constantOf(expr: Extract<Expr, { kind: 'constant' }>): Value {
  const { constant } = expr
  switch (constant.type) {
    case 'null':
      return null
    case 'int':
      return toInt(constant.value)
    case 'uint':
      return new Uint(constant.value)
    case 'double':
      return toDouble(constant.value)
    default:
      return constant.value
  }
}

/** The same numbers from the same seed. */
function drawerOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Texts of expressions of a type, drawn from a seed. */
class Generator {
  readonly #draw: (below: number) => number
  #names = 0

  constructor(draw: (below: number) => number) {
    this.#draw = draw
  }

  #pick(...options: readonly (() => string)[]): string {
    return options[this.#draw(options.length)]?.() ?? ''
  }

  #name(): string {
    this.#names++
    return `x${this.#names}`
  }

  bool(depth: number): string {
    if (depth === 0)
      return this.#pick(
        () => 'b',
        () => 'true',
        () => 'false',
        () => 'has(o.a.b)',
        () => 'has(o.z)',
      )
    const less = depth - 1
    return this.#pick(
      () => `(${this.bool(less)} && ${this.bool(less)})`,
      () => `(${this.bool(less)} || ${this.bool(less)} || ${this.bool(less)})`,
      () => `!${this.bool(less)}`,
      () =>
        `(${this.int(less)} ${this.#pick(
          () => '<',
          () => '==',
          () => '>=',
          () => '!=',
        )} ${this.int(less)})`,
      () =>
        `(${this.text(less)} ${this.#pick(
          () => '<',
          () => '==',
          () => '!=',
        )} ${this.text(less)})`,
      () =>
        `${this.text(less)}.${this.#pick(
          () => 'contains',
          () => 'startsWith',
          () => 'endsWith',
        )}(${this.text(less)})`,
      () => `(${this.int(less)} in ${this.ints(less)})`,
      () => `(${this.text(less)} in ['a', 'text', ''])`,
      () => `(${this.text(less)} in m)`,
      () => `${this.text(less)}.matches('^[a-z]+$')`,
      () => this.#loop('all', less),
      () => this.#loop('exists', less),
      () => this.#loop('exists_one', less),
      () => `(${this.ints(less)} == ${this.ints(less)})`,
      () => `(${this.bool(less)} ? ${this.bool(less)} : b)`,
      () => `(o.a.b == ${this.int(less)})`,
      () => `(o.list[${this.int(less)}] > 1)`,
    )
  }

  #loop(macro: string, depth: number): string {
    const name = this.#name()
    return `${this.ints(depth)}.${macro}(${name}, ${name} > ${this.int(depth)} || ${this.bool(depth)})`
  }

  int(depth: number): string {
    if (depth === 0)
      return this.#pick(
        () => 'n',
        () => '1',
        () => '-3',
        () => '7',
        () => 'o.a.b',
        () => 'ln[0]',
        () => "m['k']",
      )
    const less = depth - 1
    return this.#pick(
      () =>
        `(${this.int(less)} ${this.#pick(
          () => '+',
          () => '-',
          () => '*',
          () => '/',
          () => '%',
        )} ${this.int(less)})`,
      () => `size(${this.text(less)})`,
      () => `${this.ints(less)}.size()`,
      () => `(${this.bool(less)} ? ${this.int(less)} : n)`,
      () => `ln[${this.int(less)}]`,
      () => `(${this.bool(less)} ? ln : [4, 5])[${this.int(less)}]`,
      () => `{'p': ${this.int(less)}}.p`,
      () => `m[${this.text(less)}]`,
      () => `${this.ints(less)}.sum()`,
      () => `int('12')`,
    )
  }

  text(depth: number): string {
    if (depth === 0)
      return this.#pick(
        () => 's',
        () => "'text'",
        () => "''",
        () => "'k'",
        () => 'ls[0]',
      )
    const less = depth - 1
    return this.#pick(
      () => `(${this.text(less)} + ${this.text(less)})`,
      () => `string(${this.int(less)})`,
      () => `(${this.bool(less)} ? s : ${this.text(less)})`,
      () => `ls[${this.int(less)}]`,
      () => `${this.text(less)}.replace('t', ${this.text(less)})`,
      () => `ls.join(${this.text(less)})`,
    )
  }

  ints(depth: number): string {
    if (depth === 0)
      return this.#pick(
        () => 'ln',
        () => '[1, 2]',
        () => '[n, 2, n]',
      )
    const less = depth - 1
    const name = this.#name()
    return this.#pick(
      () => `(${this.ints(less)} + ${this.ints(less)})`,
      () => `${this.ints(less)}.map(${name}, ${name} + ${this.int(less)})`,
      () => `${this.ints(less)}.filter(${name}, ${name} > ${this.int(less)})`,
      () => `[${this.int(less)}, ${this.int(less)}]`,
      () => `(${this.bool(less)} ? ln : ${this.ints(less)})`,
      () => `cel.bind(${name}, ${this.ints(less)}, ${name} + ${name})`,
    )
  }
}

const environment = new Environment({
  libraries: [...kubernetesLibraries, { name: 'bind', since: 0, functions: [], macros: [bindMacro] }],
  mixedLiterals: true,
  variables: {
    n: types.int,
    s: types.string,
    b: types.bool,
    ln: listOf(types.int),
    ls: listOf(types.string),
    m: mapOf(types.string, types.int),
    o: types.dyn,
  },
})

const variables = {
  n: 2,
  s: 'some text 👑',
  b: true,
  ln: [1, 2, 3],
  ls: ['a', 'bb'],
  m: { k: 1, text: 2 },
  o: { a: { b: 3 }, list: [1, 2] },
}

/** What both ways of evaluation give, where they differ. */
function differenceOf(text: string): unknown {
  const compiled = environment.compile(text)
  if (compiled.kind === 'invalid') throw new Error(compiled.message)
  const planned = plan(compiled.ast)
  if (planned.kind === 'refused') return { text, planned }
  const evaluation = planned.program.evaluate(variables)
  const walker = new Walker(compiled.ast)
  const value = walker.walk(compiled.ast.expr, variables)
  const isSame =
    evaluation.kind === 'error'
      ? value instanceof CelError && value.message === evaluation.message
      : equal(value, evaluation.value) === true
  return isSame && evaluation.cost === walker.cost ? undefined : { text, evaluation, value, cost: walker.cost }
}

const seed = Number(process.env['TEST_SEED'] ?? 1)

test(`CEL-53: closures give the values and costs of a walk over the tree, for 2,000 expressions of seed ${seed}`, () => {
  const draw = drawerOf(seed)
  const different: unknown[] = []
  for (let count = 0; count < 2_000 && different.length < 3; count++) {
    const difference = differenceOf(new Generator(draw).bool(1 + draw(4)))
    if (difference !== undefined) different.push(difference)
  }
  expect(different).toEqual([])
})
