import { jsonEqual } from '@orch/core/json'
import type { Toleration } from './pod.ts'

/** The tolerations without those that another one covers; of two equal tolerations the first stays. */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): Toleration[] {
  const all = [...first, ...second]
  const merged: Toleration[] = []
  all.forEach((toleration, index) => {
    if (merged.some((other) => covers(other, toleration))) return
    const later = all.slice(index + 1)
    if (later.some((other) => !jsonEqual(other, toleration) && covers(other, toleration))) return
    merged.push(toleration)
  })
  return merged
}

/** True if the wider toleration covers the other. */
export function covers(wider: Toleration, other: Toleration): boolean {
  if (jsonEqual(wider, other)) return true
  const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = wider
  if ((other.key ?? '') !== key && (key !== '' || operator !== 'Exists')) return false
  if ((other.effect ?? '') !== effect && effect !== '') return false
  if (effect === 'NoExecute' && tolerationSeconds !== undefined) {
    if (other.tolerationSeconds === undefined || other.tolerationSeconds > tolerationSeconds) return false
  }
  if (operator === 'Exists') return true
  return (other.operator ?? '') === operator && (other.value ?? '') === value
}
