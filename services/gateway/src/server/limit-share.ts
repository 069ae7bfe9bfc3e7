/** The share of one gateway of a process. The shares of all gateways add up to the limit. */
export interface LimitShare {
  /** Starting at 0. */
  readonly index: number
  readonly of: number
}

/** The only gateway of a process has all of a limit. */
export const wholeLimit: LimitShare = { index: 0, of: 1 }

/** The share of a limit. If a limit is smaller than the number of gateways, the last ones get none. */
export function shareOf(limit: number, { index, of }: LimitShare): number {
  return Math.floor(limit / of) + (index < limit % of ? 1 : 0)
}
