import type { Work } from './work.ts'

/** Asks callers with open batch streams to leave before the server stops. */
export type Departure = ReturnType<typeof createDeparture>

/** A departure that has not begun. */
export function createDeparture(work: Work) {
  const members = new Map<() => void, () => void>()
  let hasBegun = false
  const ask = (leave: () => void) => {
    members.set(leave, work.begin())
    leave()
  }
  return {
    /** `leave` is called once, when the server is about to stop. The returned function reports that the stream has ended. */
    join(leave: () => void) {
      members.set(leave, () => {})
      if (hasBegun) ask(leave)
      return () => {
        members.get(leave)?.()
        members.delete(leave)
      }
    },
    /** Asks all present and future callers to leave. An open stream counts as work until it ends. */
    begin() {
      hasBegun = true
      for (const leave of [...members.keys()]) ask(leave)
    },
  }
}
