import { CelError, type Value } from '../values/values.ts'
import type { Step } from './program.ts'

/** `&&` for a stop of false, `||` for true. An error is the result only if no term equals the stop. */
export function planLogic(terms: readonly Step[], stop: boolean): Step {
  const [left, right] = terms
  if (terms.length === 2 && left !== undefined && right !== undefined) {
    return (frame) => {
      const a = left(frame)
      if (a === stop) return stop
      const b = right(frame)
      if (b === stop) return stop
      if (a === !stop && b === !stop) return !stop
      return firstWrong(a, b)
    }
  }
  return (frame) => {
    let wrong: Value
    for (const term of terms) {
      const value = term(frame)
      if (value === stop) return stop
      if (value !== !stop && wrong === undefined) wrong = firstWrong(value, value)
    }
    return wrong ?? !stop
  }
}

function firstWrong(a: Value, b: Value): CelError {
  if (typeof a !== 'boolean') return a instanceof CelError ? a : new CelError('no such overload')
  return b instanceof CelError ? b : new CelError('no such overload')
}
