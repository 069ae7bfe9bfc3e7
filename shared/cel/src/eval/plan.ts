import { type CallExpr, type ComprehensionExpr, type Expr, operators, type SelectExpr, subexpressions } from '../ast.ts'
import { at } from '../at.ts'
import type { CheckedAst, FunctionReference } from '../checked.ts'
import { largeParts, noneLarge, partsPerStep, type Steps } from '../large.ts'
import type { FormatStyle } from '../libraries/format-text.ts'
import { CelError, Optional, type Value } from '../values/values.ts'
import { planIndex, planOptionalIndex, planOptionalSelect, planPresence, planSelect } from './attributes.ts'
import { planCall, planNotStrictlyFalse } from './calls.ts'
import { planList, planMap, planStruct } from './collections.ts'
import { type PlannedComprehension, partsOfStep, planComprehension, planRange } from './comprehensions.ts'
import { constantOf, typeValueOf } from './constants.ts'
import { constantRegex, foldConversion, Refused } from './folding.ts'
import { functionOf, typeConstants } from './functions.ts'
import { planLogic } from './logic.ts'
import { candidates, dottedName, fieldName, isNamespaced } from './names.ts'
import { constant, type Local, other, type PartPlanner, type PlannedPart } from './parts.ts'
import { charge, createProgram, type Frame, type Program, type Step, unread } from './program.ts'

export interface PlanOptions {
  /** True if constant lists, maps and conversions are made once and cost nothing, as in kube-apiserver; true by default. */
  readonly isFolded?: boolean
  readonly formatStyle?: FormatStyle
  /** Values of names that are not variables: enumerations and types. */
  readonly constants?: ReadonlyMap<string, Value>
  /** The container of names in an unchecked expression. */
  readonly container?: string
}

/** The result of planning. Expressions with a failing constant conversion or a malformed constant pattern are refused. */
export type Planned = { readonly kind: 'program'; readonly program: Program } | { readonly kind: 'refused'; readonly message: string }

/** Closures deeper than this might not fit on the stack. */
const depthMax = 1_000

/** Makes a program of an expression. In an unchecked expression, names without a reference are resolved at evaluation. */
export function plan(checked: CheckedAst, options: PlanOptions = {}): Planned {
  const planner = new Planner(checked, options)
  try {
    return planner.finish()
  } catch (error) {
    return refused(error)
  }
}

/** Like `plan`, but pauses after every few thousand parts of the expression. */
export function* planInSteps(checked: CheckedAst, options: PlanOptions = {}, large = largeParts(checked.expr)): Steps<Planned> {
  const planner = new Planner(checked, options, large)
  try {
    if (large.has(checked.expr)) yield* planner.planPartsOf(checked.expr)
    return planner.finish()
  } catch (error) {
    return refused(error)
  }
}

function refused(error: unknown): Planned {
  if (error instanceof Refused) return { kind: 'refused', message: error.message }
  throw error
}

class Planner implements PartPlanner {
  slotCount = 0
  readonly #checked: CheckedAst
  readonly isFolded: boolean
  readonly #options: PlanOptions
  /** Global variables that the expression reads, by name. */
  readonly #globals = new Map<string, Attribute>()
  /** Large parts. Their subexpressions are planned first, one after the other, and `#planned` holds the results. */
  readonly #large: ReadonlySet<Expr>
  readonly #planned = new Map<Expr, PlannedPart>()
  readonly #comprehensions = new Map<Expr, PlannedComprehension>()
  #partsLeft = partsPerStep
  #locals: readonly Local[] = []
  #depth = 0

  constructor(checked: CheckedAst, options: PlanOptions, large = noneLarge) {
    this.#checked = checked
    this.#options = options
    this.#large = large
    this.isFolded = options.isFolded ?? true
  }

  finish(): Planned {
    const { step } = this.plan(this.#checked.expr)
    return { kind: 'program', program: createProgram(step, this.slotCount) }
  }

  plan(expr: Expr): PlannedPart {
    const known = this.#planned.get(expr)
    if (known !== undefined) return known
    this.#partsLeft--
    this.#depth++
    if (this.#depth > depthMax) throw new Refused(`expression is nested more than ${depthMax} levels deep`)
    const planned = this.#planKind(expr)
    this.#depth--
    return planned
  }

  /** Plans the parts of a large expression one after the other, in the order of the plan of the expression. */
  *planPartsOf(expr: Expr): Steps<void> {
    this.#depth++
    if (expr.kind === 'comprehension') yield* this.#planComprehensionParts(expr)
    else yield* this.#planInOrder(expr.kind === 'call' ? this.#partsOfCall(expr) : subexpressions(expr))
    this.#depth--
  }

  *#planInOrder(parts: readonly Expr[]): Steps<void> {
    for (const part of parts) {
      if (this.#large.has(part)) yield* this.planPartsOf(part)
      this.#planned.set(part, this.plan(part))
      if (this.#partsLeft > 0) continue
      this.#partsLeft = partsPerStep
      yield
    }
  }

  *#planComprehensionParts(expr: ComprehensionExpr): Steps<void> {
    yield* this.#planInOrder([expr.range, expr.init].filter((part) => this.#large.has(part)))
    const planned = planRange(this, expr)
    this.#comprehensions.set(expr, planned)
    const outer = this.#locals
    this.#locals = [...outer, ...planned.within]
    if (!planned.isBinding) yield* this.#planInOrder(partsOfStep(expr))
    this.#locals = [...outer, ...planned.behind]
    if (this.#large.has(expr.result)) yield* this.#planInOrder([expr.result])
    this.#locals = outer
  }

  #partsOfCall(expr: CallExpr): readonly Expr[] {
    switch (expr.name) {
      case operators.and:
      case operators.or:
        return termsOf(expr)
      case operators.optionalSelect:
        return expr.args.slice(0, 1)
      default:
        return this.#operandsOf(expr, this.#functionName(expr).target)
    }
  }

  #operandsOf(expr: CallExpr, target: Expr | undefined): readonly Expr[] {
    return target === undefined ? expr.args : [target, ...expr.args]
  }

  #planKind(expr: Expr): PlannedPart {
    switch (expr.kind) {
      case 'constant':
        return constant(constantOf(expr.constant))
      case 'ident':
        return this.#planName(expr.id, expr.name)
      case 'select':
        return this.#planSelect(expr)
      case 'call':
        return this.#planCall(expr)
      case 'list':
        return planList(
          expr.elements.map((element) => this.plan(element)),
          new Set(expr.optional),
          this.isFolded,
        )
      case 'map':
        return planMap(
          expr.entries.map((entry) => ({ key: this.plan(entry.key), value: this.plan(entry.value), isOptional: entry.optional })),
          this.isFolded,
        )
      case 'struct':
        return planStruct(
          expr.typeName,
          expr.fields.map((field) => ({ name: field.name, value: this.plan(field.value), isOptional: field.optional })),
        )
      case 'comprehension':
        return other(planComprehension(this, expr, this.#comprehensions.get(expr) ?? planRange(this, expr)))
    }
  }

  newSlot(): number {
    this.slotCount++
    return this.slotCount - 1
  }

  within<Result>(locals: readonly Local[], use: () => Result): Result {
    const outer = this.#locals
    this.#locals = [...outer, ...locals]
    const result = use()
    this.#locals = outer
    return result
  }

  #planName(id: number, text: string): PlannedPart {
    const local = text.startsWith('.') ? undefined : this.#locals.findLast(({ name }) => name === text)
    if (local !== undefined) return attribute(readLocal(local.slot, local.init))
    const known = this.#planReference(id)
    return known ?? this.#planUncheckedName(text)
  }

  /** The plan of a name, from the checker's reference. */
  #planReference(id: number): PlannedPart | undefined {
    const reference = this.#checked.references.get(id)
    switch (reference?.kind) {
      case 'variable':
        return this.#planGlobal(reference.name.startsWith('.') ? reference.name.slice(1) : reference.name)
      case 'constant':
        return constant(reference.value)
      case 'type':
        return constant(typeValueOf(reference.type))
      default:
        return undefined
    }
  }

  #planUncheckedName(text: string): PlannedPart {
    const names = candidates(this.#options.container ?? '', text)
    for (const name of names) {
      const value = this.#constantNamed(name)
      if (value !== undefined) return constant(value)
    }
    return this.#planGlobal(...names)
  }

  #constantNamed(name: string): Value | undefined {
    return this.#options.constants?.get(name) ?? typeConstants.get(name)
  }

  /** A global variable with one of several names, read when first needed. */
  #planGlobal(...names: readonly string[]): Attribute {
    const key = names.join(' ')
    const known = this.#globals.get(key)
    if (known !== undefined) return known
    const slot = this.newSlot()
    const planned = attribute((frame) => {
      const value = frame.slots[slot]
      if (value !== unread) return value
      const read = readVariable(frame, names)
      frame.slots[slot] = read
      return read
    })
    this.#globals.set(key, planned)
    return planned
  }

  #planSelect(expr: SelectExpr): PlannedPart {
    const known = this.#planReference(expr.id)
    if (known !== undefined) return known
    const qualified = expr.test ? undefined : this.#uncheckedName(expr)
    if (qualified !== undefined) return this.#planUncheckedChain(qualified)
    const operand = this.#attributeOf(this.plan(expr.operand))
    if (expr.test) {
      const step = planPresence(operand.resolve, expr.field)
      return { step, kind: 'other' }
    }
    return this.#chained(operand, planSelect(operand.resolve, expr.field))
  }

  /** `a.b.c` in an unchecked expression: the longest prefix that is a variable, and selections from it. */
  #planUncheckedChain(qualified: string): PlannedPart {
    const parts = qualified.split('.')
    const ways: { names: readonly string[]; resolve: Step }[] = []
    for (let size = parts.length; size > 0; size--) {
      const name = parts.slice(0, size).join('.')
      const names = candidates(this.#options.container ?? '', name)
      const value = names.map((each) => this.#constantNamed(each)).find((each) => each !== undefined)
      if (value !== undefined && size === parts.length) return constant(value)
      let resolve = value === undefined ? this.#planGlobal(...names).resolve : () => value
      for (const field of parts.slice(size)) resolve = planSelect(resolve, field)
      ways.push({ names, resolve })
    }
    return attribute((frame) => {
      const way = ways.find(({ names }) => names.some((name) => Object.hasOwn(frame.variables, name))) ?? ways[ways.length - 1]
      return way?.resolve(frame)
    })
  }

  /** A part as the start of a chain of selections. A part that is no attribute costs one unit. */
  #attributeOf(part: PlannedPart): { resolve: Step; isFree: boolean } {
    if (part.resolve !== undefined) return { resolve: part.resolve, isFree: part.kind === 'conditional' }
    return { resolve: part.step, isFree: false }
  }

  #chained(operand: { isFree: boolean }, resolve: Step): PlannedPart {
    return operand.isFree ? { step: resolve, resolve, kind: 'conditional' } : attribute(resolve)
  }

  #planCall(expr: CallExpr): PlannedPart {
    const { name, args } = expr
    switch (name) {
      case operators.and:
      case operators.or: {
        const terms = termsOf(expr).map((term) => this.plan(term).step)
        return other(planLogic(terms, name === operators.or))
      }
      case operators.conditional:
        return this.#planConditional(this.plan(at(args, 0)), this.plan(at(args, 1)), this.plan(at(args, 2)))
      case operators.index:
      case operators.optionalIndex:
        return this.#planIndex(this.plan(at(args, 0)), this.plan(at(args, 1)), name === operators.optionalIndex)
      case operators.optionalSelect: {
        const operand = this.#attributeOf(this.plan(at(args, 0)))
        return this.#chained(operand, planOptionalSelect(operand.resolve, fieldName(at(args, 1))))
      }
      case operators.notStrictlyFalse:
        return other(planNotStrictlyFalse(this.plan(at(args, 0)).step))
      default:
        return this.#planFunction(expr)
    }
  }

  #planConditional(condition: PlannedPart, yes: PlannedPart, no: PlannedPart): PlannedPart {
    const test = condition.step
    // A branch that is an attribute is resolved with the whole conditional, and its own attribute unit is not charged.
    const whenTrue = yes.resolve ?? yes.step
    const whenFalse = no.resolve ?? no.step
    const step: Step = (frame) => {
      const chosen = test(frame)
      if (chosen === true) return whenTrue(frame)
      if (chosen === false) return whenFalse(frame)
      return chosen instanceof CelError ? chosen : new CelError('no such overload')
    }
    return { step, resolve: step, kind: 'conditional' }
  }

  #planIndex(container: PlannedPart, key: PlannedPart, isOptional: boolean): PlannedPart {
    const operand = this.#attributeOf(container)
    const cost = key.kind === 'conditional' ? 0 : 1
    const find = key.resolve ?? key.step
    const planned = isOptional ? planOptionalIndex(operand.resolve, find, cost) : planIndex(operand.resolve, find, cost)
    return this.#chained(operand, planned)
  }

  #planFunction(expr: CallExpr): PlannedPart {
    const reference = this.#functionReference(expr)
    const qualified = this.#functionName(expr, reference)
    const operands = this.#operandsOf(expr, qualified.target)
    const custom = this.#planOptionalMethod(qualified.name, operands)
    if (custom !== undefined) return custom
    const parts = operands.map((operand) => this.plan(operand))
    const overload = reference?.overloads.length === 1 ? reference.overloads[0] : undefined
    const run = functionOf(qualified.name, parts.length, this.#options.formatStyle ?? 'version2')
    const folded = this.isFolded ? foldConversion(qualified.name, parts, run) : undefined
    if (folded !== undefined) return folded
    const regex = constantRegex(qualified.name, parts[1])
    return other(planCall({ name: qualified.name, overload, parts, run, regex, isFolded: this.isFolded }))
  }

  #functionReference(expr: CallExpr): FunctionReference | undefined {
    const found = this.#checked.references.get(expr.id)
    return found?.kind === 'function' ? found : undefined
  }

  /** The function that a call means: `optional.of(x)` is parsed as a call on a target, which is a part of the name. */
  #functionName(expr: CallExpr, reference = this.#functionReference(expr)): { name: string; target: Expr | undefined } {
    if (reference !== undefined) return { name: reference.name, target: reference.isQualified ? undefined : expr.target }
    if (expr.target === undefined) return { name: expr.name, target: undefined }
    const dotted = this.#isLocal(expr.target) ? undefined : dottedName(expr.target)
    const name = `${dotted}.${expr.name}`
    if (dotted !== undefined && isNamespaced(name, expr.args.length)) return { name, target: undefined }
    return { name: expr.name, target: expr.target }
  }

  /** The dotted name of a chain of selections in which the checker resolved no name. */
  #uncheckedName(expr: SelectExpr): string | undefined {
    if (this.#isLocal(expr)) return undefined
    for (let part: Expr = expr; part.kind === 'select'; part = part.operand) {
      if (this.#checked.references.has(part.operand.id)) return undefined
    }
    return dottedName(expr)
  }

  /** True if a chain of selections begins with a variable of a comprehension. */
  #isLocal(expr: Expr): boolean {
    let root = expr
    while (root.kind === 'select') root = root.operand
    const name = root.kind === 'ident' ? root.name : undefined
    return name !== undefined && this.#locals.some((local) => local.name === name)
  }

  /** `a.or(b)` and `a.orValue(b)` evaluate the second side only if needed. */
  #planOptionalMethod(name: string, operands: readonly Expr[]): PlannedPart | undefined {
    const [left, right] = operands
    if ((name !== 'or' && name !== 'orValue') || operands.length !== 2 || left === undefined || right === undefined) return undefined
    const optional = this.plan(left).step
    const alternative = this.plan(right).step
    return other((frame) => {
      const value = optional(frame)
      if (value instanceof CelError) return value
      if (!(value instanceof Optional)) return new CelError('no such overload')
      if (value.hasValue) return name === 'or' ? value : value.value
      return alternative(frame)
    })
  }
}

/** The terms of a chain of one operator, from left to right. */
function termsOf(expr: CallExpr): readonly Expr[] {
  const terms: Expr[] = []
  const open: Expr[] = [expr]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.kind !== 'call' || next.name !== expr.name) terms.push(next)
    else for (let index = next.args.length - 1; index >= 0; index--) open.push(at(next.args, index))
  }
  return terms
}

/** A part that is read from a variable or from its container. */
type Attribute = PlannedPart & { readonly resolve: Step }

function attribute(resolve: Step): Attribute {
  const step: Step = (frame) => {
    const value = resolve(frame)
    charge(frame, 1)
    return value
  }
  return { step, resolve, kind: 'attribute' }
}

function readLocal(slot: number, init: Step | undefined): Step {
  if (init === undefined) return (frame) => frame.slots[slot]
  return (frame) => {
    const value = frame.slots[slot]
    if (value !== unread) return value
    const made = init(frame)
    frame.slots[slot] = made
    return made
  }
}

function readVariable(frame: Frame, names: readonly string[]): Value {
  for (const name of names) {
    if (Object.hasOwn(frame.variables, name)) return frame.variables[name]
  }
  return new CelError(`no such attribute(s): ${names.join(', ')}`)
}
