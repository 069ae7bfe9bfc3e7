/** Calls that a server has accepted and not yet answered. */
export interface Work {
  /** Counts a call; the returned function ends it. */
  begin(): () => void
  /** Resolves when no call is open. */
  idle(): Promise<void>
}

/** Counts the open calls of a server that waits for them when it stops. */
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
