/** The share of one gateway of a process. Each keeps its share of a limit, and the shares add up to the limit. */
export interface LimitShare {
  /** From 0. */
  readonly index: number
  readonly of: number
}

/** The only gateway of a process keeps all of a limit. */
export const wholeLimit: LimitShare = { index: 0, of: 1 }

/** The share of a limit. Where a limit is smaller than the number of gateways, the last ones have no share. */
export function shareOf(limit: number, { index, of }: LimitShare): number {
  return Math.floor(limit / of) + (index < limit % of ? 1 : 0)
}
