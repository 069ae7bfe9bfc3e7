import { type CallExpr, type ComprehensionExpr, type Constant, type Expr, operators, type SelectExpr, subexpressions } from '../ast.ts'
import { at } from '../at.ts'
import { partsOf } from '../check/walk.ts'
import type { CheckedAst, FunctionReference } from '../checked.ts'
import { largeParts, noneLarge, partsPerStep, type Steps } from '../large.ts'
import type { Bounds, CallEstimate, Overload, SizedExpr } from '../library.ts'
import { getOrMake } from '../memo.ts'
import { type CelType, types } from '../types.ts'
import { add, fixed, multiply, union, unknown } from './bounds.ts'

/** The sizes of variables that the caller of an estimate knows. */
export interface SizeHints {
  /**
   * The size of the value at a path: characters of a text, elements of a list, entries of a map; 0 to 0 for values without parts. A path
   * begins with a variable and continues with field names, `@items`, `@keys`, `@values` and `@indices`. In a loop over a computed list it has
   * no variable and begins with `@items` or the like, as in kube-apiserver. Undefined for an unknown size.
   */
  estimateSize(path: readonly string[]): Bounds | undefined
}

/** The minimum and maximum cost of evaluating an expression. */
export function estimateCost(ast: CheckedAst, hints: SizeHints): Bounds {
  return new Estimator(ast, hints).cost(ast.expr)
}

/** Like `estimateCost`, but pauses after every few thousand parts of the expression. */
export function* estimateCostInSteps(ast: CheckedAst, hints: SizeHints, large = largeParts(ast.expr)): Steps<Bounds> {
  const estimator = new Estimator(ast, hints, large)
  return large.has(ast.expr) ? yield* estimator.costOfLarge(ast.expr) : estimator.cost(ast.expr)
}

const free = fixed(0n)
const one = fixed(1n)
const literalCosts = { list: fixed(10n), map: fixed(30n), struct: fixed(40n) }

/** The sizes of the keys and values in a list or map. */
interface EntrySizes {
  readonly container: 'list' | 'map'
  readonly key: Bounds
  readonly value: Bounds
}

/** The path from a variable to a value: the last step, and the path before it. */
interface Path {
  readonly before: Path | undefined
  readonly step: string
}

/** A variable of a loop or of `cel.bind`. */
interface Local {
  readonly path: Path | undefined
  readonly size: Bounds | undefined
  readonly entries: EntrySizes | undefined
}

class Estimator {
  readonly #ast: CheckedAst
  readonly #hints: SizeHints
  readonly #locals = new Map<string, Local[]>()
  readonly #paths = new Map<number, Path>()
  readonly #sizes = new Map<number, Bounds>()
  readonly #entries = new Map<number, EntrySizes>()

  /** Large parts. Their subexpressions are estimated first, one after the other, and `#costs` holds the results. */
  readonly #large: ReadonlySet<Expr>
  readonly #costs = new Map<Expr, Bounds>()
  #partsLeft = partsPerStep

  constructor(ast: CheckedAst, hints: SizeHints, large = noneLarge) {
    this.#ast = ast
    this.#hints = hints
    this.#large = large
  }

  cost(expr: Expr): Bounds {
    return this.#costs.get(expr) ?? this.#costOf(expr)
  }

  /** Like `cost`, for a large expression. */
  *costOfLarge(expr: Expr): Steps<Bounds> {
    if (expr.kind === 'comprehension') yield* this.#estimateLoop(expr)
    else yield* this.#estimateInOrder(subexpressions(expr))
    return this.cost(expr)
  }

  *#estimateInOrder(parts: readonly Expr[]): Steps<void> {
    for (const part of parts) {
      this.#costs.set(part, this.#large.has(part) ? yield* this.costOfLarge(part) : this.cost(part))
      if (this.#partsLeft > 0) continue
      this.#partsLeft = partsPerStep
      yield
    }
  }

  *#estimateLoop(expr: ComprehensionExpr): Steps<void> {
    yield* this.#estimateInOrder([expr.range, expr.init])
    this.#enterAccumulator(expr)
    const variables = isBinding(expr) ? [] : this.#loopVariables(expr)
    for (const { name, local } of variables) this.#enter(name, local)
    if (!isBinding(expr)) yield* this.#estimateInOrder([expr.condition, expr.step])
    for (const { name } of variables) this.#leave(name)
    yield* this.#estimateInOrder([expr.result])
    this.#leave(expr.accumulator)
  }

  #costOf(expr: Expr): Bounds {
    this.#partsLeft -= 1
    switch (expr.kind) {
      case 'constant':
        return free
      case 'ident':
        return this.#variable(expr, expr.name)
      case 'select':
        return this.#select(expr)
      case 'call':
        return this.#call(expr)
      case 'list':
        return this.#list(expr, expr.elements)
      case 'map':
        return this.#map(expr)
      case 'struct':
        return expr.fields.reduce((sum, { value }) => add(sum, this.cost(value)), literalCosts.struct)
      case 'comprehension':
        return isBinding(expr) ? this.#binding(expr) : this.#comprehension(expr)
    }
  }

  #variable(expr: Expr, name: string): Bounds {
    const local = this.#local(name)
    const path = local === undefined ? { before: undefined, step: name } : local.path
    if (path !== undefined) this.#paths.set(expr.id, path)
    return one
  }

  #select(expr: SelectExpr): Bounds {
    const reference = this.#ast.references.get(expr.id)
    if (reference !== undefined) return this.#variable(expr, reference.kind === 'variable' ? reference.name : expr.field)
    const operand = this.cost(expr.operand)
    if (expr.test) return operand
    this.#paths.set(expr.id, { before: this.#pathOf(expr.operand), step: expr.field })
    return ['map', 'object', 'parameter'].includes(this.#typeOf(expr.operand).kind) ? add(operand, one) : operand
  }

  #call(expr: CallExpr): Bounds {
    if (expr.name === 'dyn' && expr.target === undefined && expr.args.length === 1) return this.#untyped(expr, at(expr.args, 0))
    const reference = this.#ast.references.get(expr.id)
    const isMember = expr.target !== undefined && reference?.kind === 'function' && !reference.isQualified
    const argCosts = expr.args.map((argument) => this.cost(argument))
    const args = expr.args.map((argument) => this.#sized(argument))
    const targetCost = isMember ? this.cost(expr.target) : free
    if (isMember) args.unshift(this.#sized(expr.target))
    if (reference?.kind !== 'function') return free
    switch (reference.name) {
      case operators.and:
      case operators.or:
        return this.#logical(expr, argCosts)
      case operators.conditional:
        return this.#conditional(expr, args, argCosts)
      case operators.optionalSelect:
        return add(this.#sum(argCosts), one)
      default:
        return add(add(targetCost, this.#sum(argCosts)), this.#overloads(expr, reference, args))
    }
  }

  /** `dyn(x)` is `x` with another type. */
  #untyped(expr: Expr, argument: Expr): Bounds {
    const cost = add(one, this.cost(argument))
    this.#copySizes(expr, argument)
    return cost
  }

  #logical(expr: Expr, costs: readonly Bounds[]): Bounds {
    const left = at(costs, 0)
    this.#setSize(expr, this.#sizeOf(expr))
    return { min: left.min, max: add(left, at(costs, 1)).max }
  }

  #conditional(expr: CallExpr, args: readonly SizedExpr[], costs: readonly Bounds[]): Bounds {
    this.#setEntries(expr, joinEntries(this.#entriesOf(at(expr.args, 1)), this.#entriesOf(at(expr.args, 2))))
    this.#setSize(expr, union(at(args, 1).size, at(args, 2).size))
    return add(at(costs, 0), union(at(costs, 1), at(costs, 2)))
  }

  /** Bounds that include every overload that the call may mean. */
  #overloads(expr: CallExpr, { overloads }: FunctionReference, args: readonly SizedExpr[]): Bounds {
    let cost: Bounds | undefined
    let size: Bounds | undefined
    for (const overload of overloads) {
      const estimate = this.#overload(expr, overload, args)
      cost = cost === undefined ? estimate.cost : union(cost, estimate.cost)
      if (estimate.size !== undefined) size = size === undefined ? estimate.size : union(size, estimate.size)
      const step = indexSteps.get(overload.id)
      if (step !== undefined) {
        size = this.#entriesOf(at(expr.args, 0))?.value
        this.#paths.set(expr.id, { before: this.#pathOf(at(expr.args, 0)), step })
      }
      size ??= this.#sizeOf(expr)
    }
    this.#setSize(expr, size)
    return cost ?? free
  }

  #overload(expr: CallExpr, overload: Overload, args: readonly SizedExpr[]): CallEstimate {
    if (concatenations.has(overload.id)) {
      this.#setEntries(expr, joinEntries(this.#entriesOf(at(expr.args, 0)), this.#entriesOf(at(expr.args, 1))))
    }
    return overload.estimate?.({ args }) ?? { cost: one }
  }

  #list(expr: Expr, elements: readonly Expr[]): Bounds {
    const cost = elements.reduce((sum, element) => add(sum, this.cost(element)), literalCosts.list)
    this.#setEntries(expr, { container: 'list', key: one, value: this.#sizesOf(elements) })
    return cost
  }

  #map(expr: Expr & { readonly kind: 'map' }): Bounds {
    const keys = expr.entries.map(({ key }) => key)
    const values = expr.entries.map(({ value }) => value)
    const cost = [...keys, ...values].reduce((sum, part) => add(sum, this.cost(part)), literalCosts.map)
    this.#setEntries(expr, { container: 'map', key: this.#sizesOf(keys), value: this.#sizesOf(values) })
    return cost
  }

  #sizesOf(elements: readonly Expr[]): Bounds {
    return elements.map((element) => this.#sizeOf(element) ?? unknown).reduce((a, b) => union(a, b), elements.length === 0 ? free : none)
  }

  #comprehension(expr: ComprehensionExpr): Bounds {
    const begin = add(this.cost(expr.range), this.cost(expr.init))
    this.#enterAccumulator(expr)
    const variables = this.#loopVariables(expr)
    for (const { name, local } of variables) this.#enter(name, local)
    const turn = add(this.cost(expr.condition), this.cost(expr.step))
    for (const { name } of variables) this.#leave(name)
    const result = this.cost(expr.result)
    this.#leave(expr.accumulator)
    const count = this.#sizeOf(expr.range) ?? unknown
    if (expr.init.kind === 'constant') this.#setSize(expr, this.#sizeOf(expr.init))
    if (expr.init.kind === 'list' || expr.init.kind === 'map') {
      this.#setSize(expr, count)
      this.#setEntries(expr, this.#entriesOf(expr.step))
    }
    return add(add(begin, result), multiply(count, turn))
  }

  #loopVariables({ range, variable, variable2 }: ComprehensionExpr): readonly { readonly name: string; readonly local: Local }[] {
    const entries = this.#entriesOf(range)
    const isList = (entries?.container ?? this.#typeOf(range).kind) === 'list'
    const local = (step: string, size: Bounds | undefined): Local => ({
      path: { before: this.#pathOf(range), step },
      size,
      entries: undefined,
    })
    const value = local(isList ? '@items' : '@values', entries?.value)
    if (variable2 === undefined) return [{ name: variable, local: isList ? value : local('@keys', entries?.key) }]
    return [
      { name: variable, local: local(isList ? '@indices' : '@keys', entries?.key) },
      { name: variable2, local: value },
    ]
  }

  #binding(expr: ComprehensionExpr): Bounds {
    const begin = add(this.cost(expr.range), this.cost(expr.init))
    this.#enterAccumulator(expr)
    const result = this.cost(expr.result)
    this.#leave(expr.accumulator)
    this.#copySizes(expr, expr.result)
    return add(begin, result)
  }

  #sized(expr: Expr): SizedExpr {
    const type = this.#typeOf(expr)
    const size = this.#sizeOf(expr)
    return { expr, type, size: size ?? unknown, isSized: size !== undefined, element: () => this.#elementOf(type, this.#pathOf(expr)) }
  }

  #elementOf(type: CelType, path: Path | undefined): SizedExpr | undefined {
    const [element] = partsOf(type)
    if (element === undefined) return undefined
    const inner = path && { before: path, step: '@items' }
    const size = inner && this.#hints.estimateSize(stepsOf(inner))
    return {
      expr: undefined,
      type: element,
      size: size ?? unknown,
      isSized: size !== undefined,
      element: () => this.#elementOf(element, inner),
    }
  }

  /** The size of an expression. Sources, in this order: the computed size, the literal, the local binding, the type, the variable. */
  #sizeOf(expr: Expr): Bounds | undefined {
    const known = this.#sizes.get(expr.id) ?? literalSize(expr)
    if (known !== undefined) return known
    const path = this.#pathOf(expr)
    const hinted = path && this.#hints.estimateSize(stepsOf(path))
    if (hinted !== undefined) {
      this.#sizes.set(expr.id, hinted)
      return hinted
    }
    const ofType = sizeOfType(this.#typeOf(expr))
    return ofType ?? (expr.kind === 'ident' ? this.#local(expr.name)?.size : undefined)
  }

  #entriesOf(expr: Expr): EntrySizes | undefined {
    return this.#entries.get(expr.id) ?? (expr.kind === 'ident' ? this.#local(expr.name)?.entries : undefined)
  }

  #pathOf(expr: Expr): Path | undefined {
    return (expr.kind === 'ident' ? this.#local(expr.name)?.path : undefined) ?? this.#paths.get(expr.id)
  }

  #typeOf(expr: Expr): CelType {
    return this.#ast.types.get(expr.id) ?? types.dyn
  }

  #copySizes(to: Expr, from: Expr): void {
    this.#setSize(to, this.#sizeOf(from))
    this.#setEntries(to, this.#entriesOf(from))
  }

  #setSize(expr: Expr, size: Bounds | undefined): void {
    if (size !== undefined) this.#sizes.set(expr.id, size)
  }

  #setEntries(expr: Expr, entries: EntrySizes | undefined): void {
    if (entries !== undefined) this.#entries.set(expr.id, entries)
  }

  #sum(costs: readonly Bounds[]): Bounds {
    return costs.reduce((sum, cost) => add(sum, cost), free)
  }

  #local(name: string): Local | undefined {
    return this.#locals.get(name)?.at(-1)
  }

  #enterAccumulator({ accumulator, init }: ComprehensionExpr): void {
    this.#enter(accumulator, { path: this.#pathOf(init), size: this.#sizeOf(init), entries: this.#entriesOf(init) })
  }

  #enter(name: string, local: Local): void {
    getOrMake(this.#locals, name, () => []).push(local)
  }

  #leave(name: string): void {
    this.#locals.get(name)?.pop()
  }
}

function stepsOf(path: Path): readonly string[] {
  const steps: string[] = []
  for (let one: Path | undefined = path; one !== undefined; one = one.before) steps.push(one.step)
  return steps.reverse()
}

/** The neutral element of `union`. */
const none: Bounds = { min: unknown.max, max: 0n }
const indexSteps = new Map([
  ['index_list', '@items'],
  ['index_map', '@values'],
])
const concatenations = new Set(['add_string', 'add_bytes', 'add_list'])

/** True if a comprehension has no loop, like the expansion of `cel.bind`. */
function isBinding({ range, condition }: ComprehensionExpr): boolean {
  const isNever = condition.kind === 'constant' && condition.constant.type === 'bool' && !condition.constant.value
  return isNever && range.kind === 'list' && range.elements.length === 0
}

function joinEntries(a: EntrySizes | undefined, b: EntrySizes | undefined): EntrySizes | undefined {
  if (a === undefined || b === undefined) return undefined
  return { container: a.container, key: union(a.key, b.key), value: union(a.value, b.value) }
}

/** The size of a literal in the text; undefined for a computed value. */
function literalSize(expr: Expr): Bounds | undefined {
  switch (expr.kind) {
    case 'constant':
      return fixed(constantSize(expr.constant))
    case 'list':
      return fixed(BigInt(expr.elements.length))
    case 'map':
      return fixed(BigInt(expr.entries.length))
    default:
      return undefined
  }
}

function constantSize(constant: Constant): bigint {
  if (constant.type === 'string') return BigInt([...constant.value].length)
  return constant.type === 'bytes' ? BigInt(constant.value.length) : 1n
}

/** The size of all values of a type; undefined if values differ in size. */
function sizeOfType(type: CelType): Bounds | undefined {
  switch (type.kind) {
    case 'bool':
    case 'double':
    case 'duration':
    case 'int':
    case 'timestamp':
    case 'uint':
      return fixed(1n)
    case 'optional':
    case 'wrapper':
      return type.value.kind === 'string' || type.value.kind === 'bytes' ? undefined : sizeOfType(type.value)
    default:
      return undefined
  }
}
