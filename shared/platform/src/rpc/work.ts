/** Calls that a server has taken and not yet answered. */
export interface Work {
  /** One more; the function that it returns says that the call is over. */
  begin(): () => void
  /** Resolves when there is none. */
  idle(): Promise<void>
}

/** Counts calls, for a server that wants to finish them. */
export function createWork(): Work {
  let open = 0
  let waiting: (() => void)[] = []
  const end = () => {
    open -= 1
    if (open > 0) return
    for (const resolve of waiting) resolve()
    waiting = []
  }
  return {
    begin() {
      open += 1
      return end
    },
    idle: () => (open === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  }
}
