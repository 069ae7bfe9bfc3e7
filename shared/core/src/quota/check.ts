import { type Amounts, addAmounts, describeAmounts, exceededNames, maskAmounts } from './amounts.ts'

/** The result of checking a quota. */
export type Room = { readonly kind: 'room' } | { readonly kind: 'exceeded'; readonly message: string }

/** A check of a request against a quota. */
export interface RoomQuestion {
  readonly quota: string
  readonly hard: Amounts
  readonly used: Amounts
  /** The additional amounts. */
  readonly requested: Amounts
}

/** Checks that the used and the requested amounts together stay within the limits. */
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
