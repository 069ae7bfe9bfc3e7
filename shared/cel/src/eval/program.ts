import { Meter, WorkExceeded } from '../values/meter.ts'
import { CelError, type Value } from '../values/values.ts'

/** The state of one evaluation: a slot for each variable, the cost so far, and the work that the cost does not show. */
export interface Frame {
  readonly slots: Value[]
  readonly variables: Readonly<Record<string, Value>>
  readonly isInterrupted: (() => boolean) | undefined
  readonly limit: number
  readonly meter: Meter
  cost: number
}

/** A part of an expression, planned. */
export type Step = (frame: Frame) => Value

/** The result of an evaluation, its cost, and the work that its cost does not show. */
export type Evaluation = { readonly cost: number; readonly work: number } & (
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'error'; readonly message: string; readonly isOverLimit: boolean }
)

/** Bounds of one evaluation. */
export interface EvaluationBounds {
  /** The evaluation stops above this cost. Default: unlimited. */
  readonly costLimit?: number
  /** Called every hundred iterations; true stops the evaluation. */
  readonly isInterrupted?: () => boolean
  /** The meter of the outer evaluation that this one belongs to. Default: a new meter. */
  readonly meter?: Meter
}

/** An expression that is ready to be evaluated, any number of times. */
export interface Program {
  /** Each variable is read at most once, when the expression needs it. */
  evaluate(variables: Readonly<Record<string, Value>>, bounds?: EvaluationBounds): Evaluation
}

class Stopped {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

const overLimit = new Stopped('operation cancelled: actual cost limit exceeded')
const interrupted = new Stopped('operation interrupted')

/** Adds to the cost. Throws above the limit. */
export function charge(frame: Frame, cost: number): void {
  frame.cost += cost
  if (frame.cost > frame.limit) throw overLimit
}

/** Throws if the caller wants the evaluation to stop. */
export function checkInterruption(frame: Frame): void {
  if (frame.isInterrupted?.() === true) throw interrupted
}

/** Marks a variable that was not looked up yet. */
export const unread: unique symbol = Symbol('unread')

/** Makes a program of a planned expression. */
export function createProgram(step: Step, slotCount: number): Program {
  return {
    evaluate(variables, bounds = {}) {
      const meter = bounds.meter ?? new Meter()
      const frame: Frame = {
        slots: new Array<Value>(slotCount).fill(unread),
        variables,
        isInterrupted: bounds.isInterrupted,
        limit: bounds.costLimit ?? Number.POSITIVE_INFINITY,
        meter,
        cost: 0,
      }
      try {
        const value = step(frame)
        const spent = { cost: frame.cost, work: meter.work }
        return value instanceof CelError
          ? { kind: 'error', message: value.message, isOverLimit: false, ...spent }
          : { kind: 'value', value, ...spent }
      } catch (error) {
        const spent = { cost: frame.cost, work: meter.work }
        if (error instanceof Stopped) return { kind: 'error', message: error.message, isOverLimit: error === overLimit, ...spent }
        if (error instanceof WorkExceeded) return { kind: 'error', message: error.message, isOverLimit: true, ...spent }
        if (error instanceof RangeError)
          return { kind: 'error', message: `evaluation failed: ${error.message}`, isOverLimit: false, ...spent }
        throw error
      }
    },
  }
}
