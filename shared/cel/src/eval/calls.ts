import type { Run } from '../implementation.ts'
import type { Overload } from '../library.ts'
import { isList, itemsOf, listSize, mapKeyOf } from '../values/collections.ts'
import { unlimitedMeter } from '../values/meter.ts'
import type { Regex } from '../values/regex.ts'
import { countCodePoints } from '../values/text.ts'
import { CelError, Double, Duration, kindOf, noSuchOverload, typeNameOf, Uint, type Value } from '../values/values.ts'
import { type CallCost, costOf, needsResult } from './costs.ts'
import { withPattern } from './functions.ts'
import type { PlannedPart } from './parts.ts'
import { charge, type Step } from './program.ts'

/** A call of a function whose arguments are planned. */
export interface PlannedCall {
  readonly name: string
  /** The chosen overload; absent if it is chosen at evaluation. */
  readonly overload: Overload | undefined
  readonly parts: readonly PlannedPart[]
  readonly run: Run | undefined
  /** The regex of a constant pattern. */
  readonly regex: Regex | undefined
  readonly isFolded: boolean
}

/** Plans a call. A binary call evaluates both arguments; a call with more arguments stops at the first error. */
export function planCall(call: PlannedCall): Step {
  const special = planConstantSide(call)
  if (special !== undefined) return special
  const { name, parts } = call
  const run = runOf(call)
  const cost = costOfCall(call)
  const [a, b] = parts
  if (needsResult(name)) return planCostAfter(call, run, cost)
  if (parts.length === 1 && a !== undefined) return planUnary(a.step, call, run, cost)
  if (parts.length === 2 && a !== undefined && b !== undefined) return planBinary([a.step, b.step], call, run, cost)
  return planMany(call, run, cost)
}

/** `@not_strictly_false(x)`: true for an error. */
export function planNotStrictlyFalse(argument: Step): Step {
  return (frame) => {
    const value = argument(frame)
    charge(frame, 1)
    return value !== false
  }
}

function runOf({ name, run, overload, regex }: PlannedCall): Run {
  if (regex !== undefined) return withPattern(name, regex)
  if (run === undefined) return () => new CelError(`no such overload: ${name}`)
  if (name !== 'sum') return run
  const zero = zeroOf(overload?.id ?? '')
  return zero === undefined ? run : (meter, list) => (isList(list) && listSize(list) === 0 ? zero : run(meter, list))
}

/** The sum of an empty list. Undefined for int. */
function zeroOf(overload: string): Value | undefined {
  if (overload.includes('double')) return new Double(0)
  if (overload.includes('duration')) return new Duration(0n)
  return overload.includes('uint') ? new Uint(0n) : undefined
}

function costOfCall({ name, overload }: PlannedCall): CallCost | undefined {
  return costOf(name, overload?.id ?? '')
}

const undeclared = noSuchOverload()

/** Functions that check their arguments themselves. */
const selfChecking = new Set(['contains', 'endsWith', 'matches', 'startsWith'])

/** The error of a call of a declared function with other arguments. It shows their types, except for an operator. */
function undeclaredCall(name: string, args: readonly Value[]): CelError {
  if (selfChecking.has(name) || !/^[a-z]/.test(name)) return undeclared
  return new CelError(`no such overload: ${name}${name === 'size' ? '' : `(${args.map(typeNameOf).join(', ')})`}`)
}

function planUnary(argument: Step, call: PlannedCall, run: Run, cost: CallCost | undefined): Step {
  return (frame) => {
    const value = argument(frame)
    charge(frame, cost === undefined ? 1 : cost(frame.meter, value, undefined, undefined))
    if (value instanceof CelError) return value
    const result = run(frame.meter, value)
    return result === undeclared ? undeclaredCall(call.name, [value]) : result
  }
}

function planBinary([left, right]: readonly [Step, Step], call: PlannedCall, run: Run, cost: CallCost | undefined): Step {
  return (frame) => {
    const a = left(frame)
    const b = right(frame)
    charge(frame, cost === undefined ? 1 : cost(frame.meter, a, b, undefined))
    if (a instanceof CelError) return a
    if (b instanceof CelError) return b
    const result = run(frame.meter, a, b)
    return result === undeclared ? undeclaredCall(call.name, [a, b]) : result
  }
}

function planMany({ name, parts }: PlannedCall, run: Run, cost: CallCost | undefined): Step {
  const steps = parts.map(({ step }) => step)
  return (frame) => {
    const args: Value[] = []
    for (const step of steps) {
      const value = step(frame)
      if (value instanceof CelError) return value
      args.push(value)
    }
    charge(frame, cost === undefined ? 1 : cost(frame.meter, args[0], args[1], undefined))
    const result = run(frame.meter, ...args)
    return result === undeclared ? undeclaredCall(name, args) : result
  }
}

function planCostAfter({ name, parts }: PlannedCall, run: Run, cost: CallCost | undefined): Step {
  const steps = parts.map(({ step }) => step)
  return (frame) => {
    const args: Value[] = []
    let wrong: CelError | undefined
    for (const step of steps) {
      const value = step(frame)
      if (value instanceof CelError) wrong ??= value
      args.push(value)
    }
    const result = wrong ?? run(frame.meter, ...args)
    charge(frame, cost === undefined ? 1 : cost(frame.meter, args[0], args[1], result))
    return result === undeclared && wrong === undefined ? undeclaredCall(name, args) : result
  }
}

/** Calls whose constant right argument is prepared once. Every evaluation is charged the full cost. */
function planConstantSide(call: PlannedCall): Step | undefined {
  const [a, b] = call.parts
  if (call.parts.length !== 2 || a === undefined || b?.kind !== 'constant') return undefined
  const { value } = b
  switch (call.name) {
    case '@in':
      return call.overload?.id === 'in_list' && call.isFolded && isList(value)
        ? planMembership(a.step, itemsOf(unlimitedMeter(), value))
        : undefined
    case '_==_':
    case '_!=_':
      return typeof value === 'string' ? planTextEquality(a.step, value, call) : undefined
    default:
      return undefined
  }
}

/** `x in [constants]`, a look-up in a set at no cost; undefined if a constant cannot be a member of such a set. */
function planMembership(item: Step, constants: readonly Value[]): Step | undefined {
  const isPlain = (value: Value) => value === null || ['bool', 'int', 'uint', 'double', 'string'].includes(kindOf(value))
  if (!constants.every(isPlain)) return undefined
  const set = new Set<Value>(constants.map((value) => (value === null ? null : numericKey(value))))
  if (constants.length === 0) return () => false
  return (frame) => {
    const value = item(frame)
    if (typeof value === 'string' || value === null) return set.has(value)
    return value instanceof CelError ? value : set.has(numericKey(value))
  }
}

function numericKey(value: Value): Value {
  const key = mapKeyOf(value)
  return key === undefined ? (Number.isNaN(value) ? Symbol('no number equals NaN') : value) : key
}

function planTextEquality(left: Step, text: string, call: PlannedCall): Step {
  const isEqual = call.name === '_==_'
  const size = countCodePoints(text)
  const cost = costOfCall(call)
  return (frame) => {
    const value = left(frame)
    if (typeof value === 'string') {
      charge(frame, Math.ceil(Math.min(frame.meter.codePointCount(value), size) * 0.1))
      return (value === text) === isEqual
    }
    charge(frame, cost === undefined ? 1 : cost(frame.meter, value, text, undefined))
    return value instanceof CelError ? value : !isEqual
  }
}
