import type { Work } from './work.ts'

/** A server's goodbye to callers that keep a stream of batches open. */
export interface Departure {
  /** `leave` is called once, when the server is about to stop; the function that is returned says that the stream has ended. */
  join(leave: () => void): () => void
  /** Asks everyone to leave, now and from now on. Until they have, there is work. */
  begin(): void
}

/** No side is leaving yet. */
export function createDeparture(work: Work): Departure {
  const members = new Map<() => void, () => void>()
  let hasBegun = false
  const ask = (leave: () => void) => {
    members.set(leave, work.begin())
    leave()
  }
  return {
    join(leave) {
      members.set(leave, () => {})
      if (hasBegun) ask(leave)
      return () => {
        members.get(leave)?.()
        members.delete(leave)
      }
    },
    begin() {
      hasBegun = true
      for (const leave of [...members.keys()]) ask(leave)
    },
  }
}
