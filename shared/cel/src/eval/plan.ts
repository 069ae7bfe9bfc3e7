import { type CallExpr, type ComprehensionExpr, type Expr, operators, type SelectExpr } from '../ast.ts'
import type { CheckedAst, FunctionReference } from '../checked.ts'
import type { FormatStyle } from '../libraries/format-text.ts'
import { CelMap } from '../values/collections.ts'
import { compileRegex, type Regex } from '../values/regex.ts'
import { CelError, Optional, type Value } from '../values/values.ts'
import { planIndex, planOptionalIndex, planOptionalSelect, planPresence, planSelect } from './attributes.ts'
import { planCall, planNotStrictlyFalse } from './calls.ts'
import { planComprehension } from './comprehensions.ts'
import { constantOf, typeValueOf } from './constants.ts'
import { functionOf, typeConstants } from './functions.ts'
import { planLogic } from './logic.ts'
import type { Local, PartPlanner, PlannedPart } from './parts.ts'
import { charge, createProgram, type Frame, type Program, type Step, unread } from './program.ts'

/** How a program is planned. */
export interface PlanOptions {
  /** Whether constant lists, maps and conversions are made once and cost nothing, as kube-apiserver does; yes where it is left out. */
  readonly isFolded?: boolean
  readonly formatStyle?: FormatStyle
  /** Values that names stand for beside the variables: enumerations, types. */
  readonly constants?: ReadonlyMap<string, Value>
  /** The namespace of names in an expression that was not checked. */
  readonly container?: string
}

/** What planning gives. A constant conversion that cannot be made, and a constant pattern that is wrong, refuse the expression. */
export type Planned = { readonly kind: 'program'; readonly program: Program } | { readonly kind: 'refused'; readonly message: string }

class Refused extends Error {}

/** Closures deeper than this might not fit on the stack. */
const depthMax = 1_000

/** Makes a program of an expression. Names without a reference, in one that was not checked, are found at evaluation. */
export function plan(checked: CheckedAst, options: PlanOptions = {}): Planned {
  const planner = new Planner(checked, options)
  try {
    const planned = planner.plan(checked.expr)
    return { kind: 'program', program: createProgram(planned.step, planner.slotCount) }
  } catch (error) {
    if (error instanceof Refused) return { kind: 'refused', message: error.message }
    throw error
  }
}

class Planner implements PartPlanner {
  slotCount = 0
  readonly #checked: CheckedAst
  readonly isFolded: boolean
  readonly #options: PlanOptions
  readonly #globals = new Map<string, number>()
  #locals: readonly Local[] = []
  #depth = 0

  constructor(checked: CheckedAst, options: PlanOptions) {
    this.#checked = checked
    this.#options = options
    this.isFolded = options.isFolded ?? true
  }

  plan(expr: Expr): PlannedPart {
    this.#depth++
    if (this.#depth > depthMax) throw new Refused(`expression is nested more than ${depthMax} levels deep`)
    const planned = this.#planKind(expr)
    this.#depth--
    return planned
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
        return this.#planList(
          expr.elements.map((element) => this.plan(element)),
          new Set(expr.optional),
        )
      case 'map':
        return this.#planMap(
          expr.entries.map((entry) => ({ key: this.plan(entry.key), value: this.plan(entry.value), isOptional: entry.optional })),
        )
      case 'struct':
        return this.#planStruct(
          expr.typeName,
          expr.fields.map((field) => ({ name: field.name, value: this.plan(field.value), isOptional: field.optional })),
        )
      case 'comprehension':
        return this.#planComprehension(expr)
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

  /** What the checker says that a name means. */
  #planReference(id: number): PlannedPart | undefined {
    const reference = this.#checked.references.get(id)
    switch (reference?.kind) {
      case 'variable':
        return attribute(this.#readGlobal([reference.name.replace(/^\./, '')]))
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
    return attribute(this.#readGlobal(names))
  }

  #constantNamed(name: string): Value | undefined {
    return this.#options.constants?.get(name) ?? typeConstants.get(name)
  }

  #readGlobal(names: readonly string[]): Step {
    const key = names.join(' ')
    const known = this.#globals.get(key)
    const slot = known ?? this.newSlot()
    if (known === undefined) this.#globals.set(key, slot)
    return (frame) => {
      const value = frame.slots[slot]
      if (value !== unread) return value
      const read = readVariable(frame, names)
      frame.slots[slot] = read
      return read
    }
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

  /** `a.b.c` that was not checked: the longest name that is a variable, and selections from it. */
  #planUncheckedChain(qualified: string): PlannedPart {
    const parts = qualified.split('.')
    const ways: { names: readonly string[]; resolve: Step }[] = []
    for (let size = parts.length; size > 0; size--) {
      const name = parts.slice(0, size).join('.')
      const names = candidates(this.#options.container ?? '', name)
      const value = names.map((each) => this.#constantNamed(each)).find((each) => each !== undefined)
      if (value !== undefined && size === parts.length) return constant(value)
      let resolve = value === undefined ? this.#readGlobal(names) : () => value
      for (const field of parts.slice(size)) resolve = planSelect(resolve, field)
      ways.push({ names, resolve })
    }
    return attribute((frame) => {
      const way = ways.find(({ names }) => names.some((name) => Object.hasOwn(frame.variables, name))) ?? ways[ways.length - 1]
      return way?.resolve(frame)
    })
  }

  /** A part as the start of a chain of selections: what is no attribute becomes one, for a unit. */
  #attributeOf(part: PlannedPart): { resolve: Step; isFree: boolean } {
    if (part.resolve !== undefined) return { resolve: part.resolve, isFree: part.kind === 'conditional' }
    return { resolve: part.step, isFree: false }
  }

  #chained(operand: { isFree: boolean }, resolve: Step): PlannedPart {
    return operand.isFree ? { step: resolve, resolve, kind: 'conditional' } : attribute(resolve)
  }

  #planCall(expr: CallExpr): PlannedPart {
    const { name, args } = expr
    const [a, b, c] = args
    switch (name) {
      case operators.and:
      case operators.or: {
        const stop = name === operators.or
        return other(planLogic(this.#terms(expr, name), stop))
      }
      case operators.conditional:
        return this.#planConditional(this.plan(a!), this.plan(b!), this.plan(c!))
      case operators.index:
      case operators.optionalIndex:
        return this.#planIndex(this.plan(a!), this.plan(b!), name === operators.optionalIndex)
      case operators.optionalSelect: {
        const operand = this.#attributeOf(this.plan(a!))
        return this.#chained(operand, planOptionalSelect(operand.resolve, fieldName(b!)))
      }
      case operators.notStrictlyFalse:
        return other(planNotStrictlyFalse(this.plan(a!).step))
      default:
        return this.#planFunction(expr)
    }
  }

  /** The terms of a chain of one operator, from left to right. */
  #terms(expr: CallExpr, name: string): Step[] {
    const terms: Step[] = []
    const open: Expr[] = [expr]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (next.kind === 'call' && next.name === name) open.push(...[...next.args].reverse())
      else terms.push(this.plan(next).step)
    }
    return terms
  }

  #planConditional(condition: PlannedPart, yes: PlannedPart, no: PlannedPart): PlannedPart {
    const test = condition.step
    // A branch that is an attribute is resolved as part of the whole, and the unit of an attribute is not counted for it.
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
    const at = key.resolve ?? key.step
    const planned = isOptional ? planOptionalIndex(operand.resolve, at, cost) : planIndex(operand.resolve, at, cost)
    return this.#chained(operand, planned)
  }

  #planFunction(expr: CallExpr): PlannedPart {
    const found = this.#checked.references.get(expr.id)
    const reference = found?.kind === 'function' ? found : undefined
    const qualified = this.#functionName(expr, reference)
    const operands = qualified.target === undefined ? expr.args : [qualified.target, ...expr.args]
    const custom = this.#planOptionalMethod(qualified.name, operands)
    if (custom !== undefined) return custom
    const parts = operands.map((operand) => this.plan(operand))
    const overload = reference?.overloads.length === 1 ? reference.overloads[0] : undefined
    const run = overload?.run ?? functionOf(qualified.name, parts.length, this.#options.formatStyle ?? 'version2')
    const folded = this.isFolded ? foldConversion(qualified.name, parts, run) : undefined
    if (folded !== undefined) return folded
    const regex = constantRegex(qualified.name, parts[1])
    return other(planCall({ name: qualified.name, overload, parts, run, regex, isFolded: this.isFolded }))
  }

  /** The function that a call means: `optional.of(x)` is parsed as a call on a target, which is a part of the name. */
  #functionName(expr: CallExpr, reference: FunctionReference | undefined): { name: string; target: Expr | undefined } {
    if (reference !== undefined) return { name: reference.name, target: reference.isQualified ? undefined : expr.target }
    if (expr.target === undefined) return { name: expr.name, target: undefined }
    const dotted = this.#isLocal(expr.target) ? undefined : dottedName(expr.target)
    const name = `${dotted}.${expr.name}`
    if (dotted !== undefined && isNamespaced(name, expr.args.length)) return { name, target: undefined }
    return { name: expr.name, target: expr.target }
  }

  /** The whole name of a chain of selections of which the checker found no part. */
  #uncheckedName(expr: SelectExpr): string | undefined {
    if (this.#isLocal(expr)) return undefined
    for (let part: Expr = expr; part.kind === 'select'; part = part.operand) {
      if (this.#checked.references.has(part.operand.id)) return undefined
    }
    return dottedName(expr)
  }

  /** Whether a chain of selections begins with a variable of a comprehension. */
  #isLocal(expr: Expr): boolean {
    let root = expr
    while (root.kind === 'select') root = root.operand
    const name = root.kind === 'ident' ? root.name : undefined
    return name !== undefined && this.#locals.some((local) => local.name === name)
  }

  /** `a.or(b)` and `a.orValue(b)` evaluate their second side where it is needed alone. */
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

  #planList(elements: readonly PlannedPart[], optional: ReadonlySet<number>): PlannedPart {
    if (this.isFolded && optional.size === 0 && elements.every(({ kind }) => kind === 'constant')) {
      return constant(elements.map(({ value }) => value))
    }
    const steps = elements.map(({ step }) => step)
    return other((frame) => {
      const list: Value[] = []
      for (let index = 0; index < steps.length; index++) {
        const value = steps[index]?.(frame)
        if (value instanceof CelError) {
          charge(frame, 10)
          return value
        }
        if (!optional.has(index)) list.push(value)
        else if (!(value instanceof Optional)) return notOptional(frame, 10)
        else if (value.hasValue) list.push(value.value)
      }
      charge(frame, 10)
      return list
    })
  }

  #planMap(entries: readonly { key: PlannedPart; value: PlannedPart; isOptional: boolean }[]): PlannedPart {
    const step: Step = (frame) => {
      const map = new CelMap()
      for (const entry of entries) {
        const key = entry.key.step(frame)
        const value = key instanceof CelError ? key : entry.value.step(frame)
        if (value instanceof CelError) {
          charge(frame, 30)
          return value
        }
        const refused =
          entry.isOptional && !(value instanceof Optional) ? notOptional(frame, 0) : addEntry(map, key, value, entry.isOptional)
        if (refused !== undefined) {
          charge(frame, 30)
          return refused
        }
      }
      charge(frame, 30)
      return map
    }
    const isConstant = entries.every(({ key, value, isOptional }) => key.kind === 'constant' && value.kind === 'constant' && !isOptional)
    if (!this.isFolded || !isConstant) return other(step)
    const made = new CelMap()
    for (const { key, value } of entries) if (made.add(key.value, value.value) !== undefined) return other(step)
    return constant(made)
  }

  #planStruct(typeName: string, fields: readonly { name: string; value: PlannedPart; isOptional: boolean }[]): PlannedPart {
    return other((frame) => {
      const made = new CelMap(typeName)
      for (const field of fields) {
        const value = field.value.step(frame)
        const refused = value instanceof CelError ? value : addEntry(made, field.name, value, field.isOptional)
        if (refused !== undefined) {
          charge(frame, 40)
          return refused
        }
      }
      charge(frame, 40)
      return made
    })
  }

  #planComprehension(expr: ComprehensionExpr): PlannedPart {
    return other(planComprehension(this, expr))
  }
}

function addEntry(map: CelMap, key: Value, value: Value, isOptional: boolean): CelError | undefined {
  if (!isOptional) return map.add(key, value)
  if (!(value instanceof Optional)) return new CelError('no such overload')
  return value.hasValue ? map.add(key, value.value) : undefined
}

function notOptional(frame: Frame, cost: number): CelError {
  charge(frame, cost)
  return new CelError('cannot initialize optional entry from non-optional value')
}

function constant(value: Value): PlannedPart {
  return { step: () => value, kind: 'constant', value }
}

function other(step: Step): PlannedPart {
  return { step, kind: 'other' }
}

function attribute(resolve: Step): PlannedPart {
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

/** Full names that a name may mean within a namespace, the innermost first. */
function candidates(container: string, name: string): string[] {
  if (name.startsWith('.')) return [name.slice(1)]
  const names: string[] = []
  for (let prefix = container; prefix !== ''; prefix = prefix.slice(0, Math.max(0, prefix.lastIndexOf('.'))))
    names.push(`${prefix}.${name}`)
  return [...names, name]
}

function dottedName(expr: Expr): string | undefined {
  if (expr.kind === 'ident') return expr.name
  if (expr.kind !== 'select' || expr.test) return undefined
  const operand = dottedName(expr.operand)
  return operand === undefined ? undefined : `${operand}.${expr.field}`
}

const namespaces = new Set(['optional', 'strings', 'lists', 'sets', 'ip', 'cidr', 'format', 'jsonpatch', 'cel'])

function isNamespaced(name: string, arity: number): boolean {
  return namespaces.has(name.split('.')[0] ?? '') && functionOf(name, arity, 'version2') !== undefined
}

function fieldName(expr: Expr): string {
  return expr.kind === 'constant' && expr.constant.type === 'string' ? expr.constant.value : ''
}

const conversions = new Set(['bool', 'bytes', 'double', 'duration', 'dyn', 'int', 'string', 'timestamp', 'type', 'uint'])

function foldConversion(name: string, parts: readonly PlannedPart[], run: ((value: Value) => Value) | undefined): PlannedPart | undefined {
  const [only] = parts
  if (!conversions.has(name) || parts.length !== 1 || only?.kind !== 'constant' || run === undefined) return undefined
  const value = run(only.value)
  if (value instanceof CelError) throw new Refused(value.message)
  return constant(value)
}

const regexFunctions = new Set(['matches', 'find', 'findAll'])

/** The regex that a constant pattern is, made once; undefined where the pattern is none. A wrong one refuses the expression. */
function constantRegex(name: string, pattern: PlannedPart | undefined): Regex | undefined {
  if (!regexFunctions.has(name) || pattern?.kind !== 'constant' || typeof pattern.value !== 'string') return undefined
  const regex = compileRegex(pattern.value)
  if (regex instanceof CelError) throw new Refused(regex.message)
  return regex
}
