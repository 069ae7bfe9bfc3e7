import { printTime, toInstant } from '../meta/time.ts'
import type { Pod } from './pods.ts'

type Condition = NonNullable<Pod['status']['conditions']>[number]

/** The parts of a condition that a controller sets. */
export type ConditionDraft = Pick<Condition, 'type' | 'status'> & { readonly reason: string; readonly message: string }

/**
 * A patch that sets a condition of a Pod, with only the changed members, like a strategic merge patch between both states (SCHED-17).
 * Undefined if nothing but the generation changes. The transition time changes only with the status. `generation` is the observed generation; undefined if it is not recorded.
 */
export function conditionPatch(
  { status }: Pod,
  draft: ConditionDraft,
  { nowMs, generation }: { readonly nowMs: number; readonly generation: number | undefined },
): object | undefined {
  const conditions = status.conditions ?? []
  const known = conditions.find(({ type }) => type === draft.type)
  const wanted = {
    ...(generation !== undefined && { observedGeneration: generation }),
    status: draft.status,
    reason: draft.reason,
    message: draft.message,
    ...(known?.status !== draft.status && { lastTransitionTime: printTime(toInstant(nowMs)) }),
  }
  const before: Readonly<Record<string, unknown>> = { ...known }
  const changed = Object.entries(wanted).filter(([name, value]) => before[name] !== value)
  if (changed.every(([name]) => name === 'observedGeneration')) return undefined
  const order = conditions.map(({ type }) => ({ type }))
  const isNew = known === undefined
  return {
    ...(order.length > 0 && { '$setElementOrder/conditions': isNew ? [...order, { type: draft.type }] : order }),
    conditions: [{ ...Object.fromEntries(changed), type: draft.type }],
  }
}
