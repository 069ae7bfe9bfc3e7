import type { BuiltIn } from '../schema/built-in.ts'
import { isTextOfInteger, toInteger } from '../selectors/labels.ts'

export type Taint = BuiltIn<'core/v1.Taint'>
export type Toleration = BuiltIn<'core/v1.Toleration'>

/**
 * True if a toleration covers a taint. `hasComparisons` enables the operators Lt and Gt (SCHED-29).
 *
 *   {operator: Exists}              covers every taint
 *   {key: a, value: x}              covers a=x with any effect
 *   {key: a, operator: Gt, value: 5}  covers a=6, if comparisons are served
 */
export function tolerates(
  { key = '', operator = 'Equal', value = '', effect = '' }: Toleration,
  taint: Pick<Taint, 'key' | 'value' | 'effect'>,
  hasComparisons: boolean,
): boolean {
  if ((effect !== '' && effect !== taint.effect) || (key !== '' && key !== taint.key)) return false
  const of = taint.value ?? ''
  switch (operator) {
    case 'Exists':
      return true
    case '':
    case 'Equal':
      return value === of
    case 'Lt':
    case 'Gt': {
      if (!hasComparisons || !isTextOfInteger(value) || !isTextOfInteger(of)) return false
      return operator === 'Lt' ? toInteger(of) < toInteger(value) : toInteger(of) > toInteger(value)
    }
    default:
      return false
  }
}

/** The first taint that excludes the Pod from a node: with effect NoSchedule or NoExecute, and not tolerated. */
export function firstUntolerated(taints: readonly Taint[], tolerations: readonly Toleration[], hasComparisons: boolean): Taint | undefined {
  for (const taint of taints) {
    if (taint.effect !== 'NoSchedule' && taint.effect !== 'NoExecute') continue
    if (!tolerations.some((one) => tolerates(one, taint, hasComparisons))) return taint
  }
  return undefined
}
