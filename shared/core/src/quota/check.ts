import { type Amounts, addAmounts, describeAmounts, exceededNames, maskAmounts } from './amounts.ts'

/** Whether a quota has room for more. */
export type Room = { readonly kind: 'room' } | { readonly kind: 'exceeded'; readonly message: string }

/** What is asked of a quota. */
export interface RoomQuestion {
  /** Name of the quota. */
  readonly quota: string
  readonly hard: Amounts
  readonly used: Amounts
  /** How much more is wanted. */
  readonly requested: Amounts
}

/** Says whether the used and the requested together stay within the limits. */
export function roomIn({ quota, hard, used, requested }: RoomQuestion): Room {
  const wanted = maskAmounts(addAmounts(used, requested), requested)
  const exceeded = exceededNames(wanted, hard)
  if (exceeded.size === 0) return { kind: 'room' }
  const parts = [
    `requested: ${describeAmounts(maskAmounts(requested, exceeded))}`,
    `used: ${describeAmounts(maskAmounts(used, exceeded))}`,
    `limited: ${describeAmounts(maskAmounts(hard, exceeded))}`,
  ]
  return { kind: 'exceeded', message: `exceeded quota: ${quota}, ${parts.join(', ')}` }
}
