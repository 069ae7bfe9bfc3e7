import { type ComprehensionExpr, type Expr, operators } from '../ast.ts'
import { CelMap, isList, isMap, listAt, listSize, mapGet, mapKeys } from '../values/collections.ts'
import { CelError, kindOf, type Value } from '../values/values.ts'
import type { Local, PartPlanner } from './parts.ts'
import { charge, checkInterruption, type Frame, type Step, unread } from './program.ts'

const listCost = 10
const mapCost = 30
const iterationsPerLook = 100

/** The range of a comprehension and its initial value, planned, and the slots of its variables. */
export interface PlannedComprehension {
  readonly range: Step
  readonly init: Step
  readonly slots: { readonly accumulator: number; readonly first: number; readonly second: number }
  readonly isBinding: boolean
  /** The names within the loop, and in the result after it. */
  readonly within: readonly Local[]
  readonly behind: readonly Local[]
}

/** Plans the range of a comprehension and its initial value. */
export function planRange(planner: PartPlanner, expr: ComprehensionExpr): PlannedComprehension {
  const range = planner.plan(expr.range).step
  const init = planInit(planner, expr.init)
  const slots = { accumulator: planner.newSlot(), first: planner.newSlot(), second: planner.newSlot() }
  const isBinding = isBindingOf(expr)
  const accumulated: Local = { name: expr.accumulator, slot: slots.accumulator }
  const variables: Local[] = [{ name: expr.variable, slot: slots.first }]
  if (expr.variable2 !== undefined) variables.push({ name: expr.variable2, slot: slots.second })
  const behind = isBinding ? [{ ...accumulated, init }] : [accumulated]
  return { range, init, slots, isBinding, within: [accumulated, ...variables], behind }
}

/** Plans the expansion of a macro: a loop over a range with an accumulator. */
export function planComprehension(planner: PartPlanner, expr: ComprehensionExpr, planned: PlannedComprehension): Step {
  const { range, init, slots } = planned
  const { accumulator } = slots
  if (planned.isBinding) {
    const result = planner.within(planned.behind, () => planner.plan(expr.result).step)
    return (frame) => {
      const values = range(frame)
      if (values instanceof CelError) return values
      frame.slots[accumulator] = unread
      return result(frame)
    }
  }
  const [condition, step] = planner.within(planned.within, () => [
    planner.plan(expr.condition).step,
    planAppend(planner, expr, accumulator) ?? planner.plan(expr.step).step,
  ])
  const result = planner.within(planned.behind, () => planner.plan(expr.result).step)
  const loop: Loop = { ...slots, hasTwo: expr.variable2 !== undefined, condition, step }
  return (frame) => {
    const values = range(frame)
    if (values instanceof CelError) return values
    frame.slots[accumulator] = init(frame)
    const wrong = isList(values) ? overList(frame, loop, values) : isMap(values) ? overMap(frame, loop, values) : notIterable(values, loop)
    return wrong ?? result(frame)
  }
}

interface Loop {
  readonly accumulator: number
  readonly first: number
  readonly second: number
  readonly hasTwo: boolean
  readonly condition: Step
  readonly step: Step
}

function overList(frame: Frame, loop: Loop, list: Value): undefined {
  const size = listSize(list)
  for (let index = 0; index < size; index++) {
    const item = listAt(frame.meter, list, index)
    if (!goesOn(frame, loop, index, loop.hasTwo ? index : item, item)) return undefined
  }
  return undefined
}

function overMap(frame: Frame, loop: Loop, map: Value): undefined {
  let index = 0
  for (const key of mapKeys(frame.meter, map)) {
    if (!goesOn(frame, loop, index, key, loop.hasTwo ? mapGet(frame.meter, map, key) : undefined)) return undefined
    index++
  }
  return undefined
}

function goesOn(frame: Frame, loop: Loop, index: number, first: Value, second: Value): boolean {
  if (index % iterationsPerLook === iterationsPerLook - 1) checkInterruption(frame)
  const { slots } = frame
  slots[loop.first] = first
  if (loop.hasTwo) slots[loop.second] = second
  if (loop.condition(frame) === false) return false
  slots[loop.accumulator] = loop.step(frame)
  return true
}

function notIterable(value: Value, { hasTwo }: Loop): CelError {
  const type = `types.${kindOf(value).replace(/^./, (letter) => letter.toUpperCase())}`
  return new CelError(hasTwo ? `unsupported comprehension range type: ${type}` : `got '${type}', expected iterable type`)
}

/** An empty initial list or map is created for each evaluation, since the loop may add to it in place. */
function planInit(planner: PartPlanner, init: Expr): Step {
  if (init.kind === 'list' && init.elements.length === 0) {
    return (frame) => {
      if (!planner.isFolded) charge(frame, listCost)
      return []
    }
  }
  if (init.kind === 'map' && init.entries.length === 0) {
    return (frame) => {
      if (!planner.isFolded) charge(frame, mapCost)
      return new CelMap()
    }
  }
  return planner.plan(init).step
}

/** True for `cel.bind(name, value, body)`: a loop without iterations, whose accumulator is evaluated when the body first reads it. */
function isBindingOf(expr: ComprehensionExpr): boolean {
  const { range, condition } = expr
  return (
    range.kind === 'list' &&
    range.elements.length === 0 &&
    condition.kind === 'constant' &&
    condition.constant.type === 'bool' &&
    !condition.constant.value
  )
}

/**
 * The step of `map` and `filter`, `accumulator + [item]` or `test ? accumulator + [item] : accumulator`, adds to the list in place; its
 * cost is the same. Undefined for any other step.
 */
function planAppend(planner: PartPlanner, expr: ComprehensionExpr, slot: number): Step | undefined {
  const append = appendOf(expr)
  if (append === undefined) return undefined
  if (append.test === undefined) return planPush(planner, append.item, slot)
  const decide = planner.plan(append.test).step
  const push = planPush(planner, append.item, slot)
  return (frame) => {
    const chosen = decide(frame)
    if (chosen === true) return push(frame)
    if (chosen === false) return frame.slots[slot]
    return chosen instanceof CelError ? chosen : new CelError('no such overload')
  }
}

/** The parts that are planned for a comprehension's step, in their order. */
export function partsOfStep(expr: ComprehensionExpr): readonly Expr[] {
  const append = appendOf(expr)
  if (append === undefined) return [expr.step]
  return append.test === undefined ? [append.item] : [append.test, append.item]
}

function appendOf({ init, step, accumulator }: ComprehensionExpr): { readonly test: Expr | undefined; readonly item: Expr } | undefined {
  if (init.kind !== 'list' || init.elements.length > 0) return undefined
  const direct = appended(step, accumulator)
  if (direct !== undefined) return { test: undefined, item: direct }
  if (step.kind !== 'call' || step.name !== operators.conditional) return undefined
  const [test, yes, no] = step.args
  const item = yes === undefined ? undefined : appended(yes, accumulator)
  if (test === undefined || item === undefined || no?.kind !== 'ident' || no.name !== accumulator) return undefined
  return { test, item }
}

/** The item of `accumulator + [item]`. */
function appended(expr: Expr, accumulator: string): Expr | undefined {
  if (expr.kind !== 'call' || expr.name !== operators.add) return undefined
  const [left, right] = expr.args
  if (left?.kind !== 'ident' || left.name !== accumulator) return undefined
  if (right?.kind !== 'list' || right.elements.length !== 1 || right.optional.length > 0) return undefined
  return right.elements[0]
}

function planPush(planner: PartPlanner, item: Expr, slot: number): Step {
  const planned = planner.plan(item)
  const isFree = planner.isFolded && planned.kind === 'constant'
  const cost = 2 + (isFree ? 0 : listCost)
  return (frame) => {
    const list = frame.slots[slot]
    const value = planned.step(frame)
    charge(frame, cost)
    if (list instanceof CelError) return list
    if (value instanceof CelError) return value
    if (!Array.isArray(list)) return new CelError('no such overload')
    list.push(value)
    return list
  }
}
