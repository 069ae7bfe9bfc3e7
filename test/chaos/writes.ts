import type { TrueChange } from '../watch/checker.ts'
import { printOperation } from './linearizable.ts'
import type { Operation } from './operation.ts'

/**
 * Checks that the store has each acknowledged write once and in order, and no write that the server refused or that no client requested. Returns
 * undefined if so.
 */
export function findWriteFault(log: readonly TrueChange[], operations: readonly Operation[]): string | undefined {
  return faultOfPuts(log, operations) ?? faultOfDeletes(log, operations)
}

function faultOfPuts(log: readonly TrueChange[], operations: readonly Operation[]): string | undefined {
  const writes = new Map(operations.flatMap((one) => ('token' in one.request ? [[one.request.token, one] as const] : [])))
  const stored = new Map<string, TrueChange>()
  for (const change of log) {
    if (change.after === undefined) continue
    const { text } = change.after
    const write = writes.get(text)
    if (write === undefined || write.key !== change.key) return `${change.key} at ${change.revision}: nobody has written ${text}`
    if (stored.has(text)) return `${change.key} at ${change.revision}: ${text} was written twice`
    const { outcome } = write
    if (outcome.kind !== 'done' && outcome.kind !== 'unknown')
      return `${change.key} at ${change.revision}: written, though ${printOperation(write)}`
    stored.set(text, change)
  }
  for (const [token, write] of writes) {
    if (write.outcome.kind !== 'done') continue
    const at = stored.get(token)?.revision
    if (at !== write.outcome.revision)
      return `${write.key}: ${printOperation(write)}, but the store has it ${at === undefined ? 'nowhere' : `at ${at}`}`
  }
  return undefined
}

function faultOfDeletes(log: readonly TrueChange[], operations: readonly Operation[]): string | undefined {
  const counts = new Map<string, { stored: number; done: number; unknown: number }>()
  const countOf = (key: string) => {
    const count = counts.get(key) ?? { stored: 0, done: 0, unknown: 0 }
    counts.set(key, count)
    return count
  }
  for (const { key, after } of log) if (after === undefined) countOf(key).stored += 1
  for (const { key, request, outcome } of operations) {
    if (request.kind !== 'delete') continue
    if (outcome.kind === 'done' || outcome.kind === 'unknown') countOf(key)[outcome.kind] += 1
  }
  for (const [key, { stored, done, unknown }] of counts) {
    if (stored < done) return `${key}: ${done} deletes were acknowledged, the store has ${stored}`
    if (stored > done + unknown) return `${key}: the store has ${stored} deletes, of which ${done} were acknowledged and ${unknown} unknown`
  }
  return undefined
}
