/**
 * The cost of an expression is that of cel-go, which for some operations does not grow with what they do: a comparison of lists of lists,
 * `format`, a pattern that is made at evaluation. Their work is counted here as well, in comparisons of two items, of which some tens of
 * millions fit into a second, and an evaluation ends where it is more than any limit of cost would pay for.
 */
export const workMax = 12_000_000

/** Ends an evaluation that has done too much. */
export class WorkExceeded extends Error {}

let done = 0

/** Begins an evaluation. */
export function resetWork(): void {
  done = 0
}

/** Counts work. */
export function addWork(steps: number): void {
  done += steps
  if (done > workMax) throw new WorkExceeded('operation cancelled: actual cost limit exceeded')
}
