import { type CallExpr, type ComprehensionExpr, type Expr, operators, type SelectExpr } from '../../../shared/cel/src/ast.ts'
import { at } from '../../../shared/cel/src/at.ts'
import type { CheckedAst } from '../../../shared/cel/src/checked.ts'
import { costOf } from '../../../shared/cel/src/eval/costs.ts'
import { functionOf } from '../../../shared/cel/src/eval/functions.ts'
import { CelMap, isMap, itemsOf, listAt, listSize, mapGet, mapKeys } from '../../../shared/cel/src/values/collections.ts'
import { unlimitedMeter } from '../../../shared/cel/src/values/meter.ts'
import { CelError, toDouble, toInt, Uint, type Value } from '../../../shared/cel/src/values/values.ts'

/** Variables by name. */
export type Scope = Readonly<Record<string, Value>>

const conversions = new Set(['int', 'string', 'double', 'bool', 'bytes', 'uint', 'dyn', 'type', 'duration', 'timestamp'])

/** Evaluates an expression by its tree, and counts as cel-go's observer of each step does. */
export class Walker {
  cost = 0
  readonly #meter = unlimitedMeter()
  readonly #ast: CheckedAst

  constructor(ast: CheckedAst) {
    this.#ast = ast
  }

  /** The value of a part, with its full cost charged. */
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
    return expr.name === operators.conditional || (expr.name === operators.index && this.#isConditionalChain(at(expr.args, 0)))
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
          const found = this.walk(key, scope)
          const item = this.walk(value, scope)
          const wrong = [found, item].find((part) => part instanceof CelError) ?? map.add(found, item)
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
    return expr.kind === 'call' && conversions.has(expr.name) && expr.args.length === 1 && this.#isConstant(at(expr.args, 0))
  }

  #select(expr: SelectExpr, scope: Scope): Value {
    const container = this.#operand(expr.operand, scope)
    if (container instanceof CelError) return container
    this.cost += 1
    const found = isMap(container) ? mapGet(this.#meter, container, expr.field) : undefined
    if (expr.test) return isMap(container) ? found !== undefined : new CelError(`no such key: ${expr.field}`)
    return found ?? new CelError(`no such key: ${expr.field}`)
  }

  #call(expr: CallExpr, scope: Scope): Value {
    const { args } = expr
    switch (expr.name) {
      case operators.and:
      case operators.or:
        return this.#logic(expr.name === operators.or, [this.walk.bind(this, at(args, 0), scope), this.walk.bind(this, at(args, 1), scope)])
      case operators.conditional: {
        const chosen = this.walk(at(args, 0), scope)
        return chosen instanceof CelError ? chosen : this.#operand(chosen === true ? at(args, 1) : at(args, 2), scope)
      }
      case operators.index:
        return this.#index(at(args, 0), at(args, 1), scope)
      case operators.notStrictlyFalse: {
        const value = this.walk(at(args, 0), scope)
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
    const index = this.#operand(key, scope)
    if (!this.#isConditionalChain(key)) this.cost += 1
    if (index instanceof CelError) return index
    if (isMap(from)) return mapGet(this.#meter, from, index) ?? new CelError(`no such key: ${String(index)}`)
    const place = Number(index)
    return place >= 0 && place < listSize(from) ? listAt(this.#meter, from, place) : new CelError(`index out of bounds: ${place}`)
  }

  #function(expr: CallExpr, scope: Scope): Value {
    const reference = this.#ast.references.get(expr.id)
    if (reference?.kind !== 'function') throw new Error(`${expr.name} has no overload`)
    const operands = expr.target === undefined || reference.isQualified ? expr.args : [expr.target, ...expr.args]
    const overload = reference.overloads.length === 1 ? (reference.overloads[0]?.id ?? '') : ''
    const isConstantList = overload === 'in_list' && this.#isConstant(at(expr.args, 1))
    const args: Value[] = []
    for (const operand of operands) {
      const value = this.walk(operand, scope)
      if (value instanceof CelError && operands.length > 2) return value
      args.push(value)
    }
    const run = functionOf(reference.name, operands.length, 'version2')
    if (run === undefined) throw new Error(`${reference.name} is not there`)
    const value = args.find((arg) => arg instanceof CelError) ?? run(this.#meter, ...args)
    if (this.#isConstant(expr) || isConstantList) return value
    const cost = costOf(reference.name, overload)
    this.cost += cost === undefined ? 1 : cost(this.#meter, args[0], args[1], value)
    return value
  }

  #loop(expr: ComprehensionExpr, scope: Scope): Value {
    const range = this.walk(expr.range, scope)
    if (range instanceof CelError) return range
    const items = isMap(range) ? [...mapKeys(this.#meter, range)] : itemsOf(this.#meter, range)
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
