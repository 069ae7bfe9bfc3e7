import { ask } from './api.ts'
import { repeat } from './repeat.ts'
import type { WatchList } from './watch-lag.ts'

/** The current list and the previous one. */
export interface WatchLists {
  readonly now: WatchList
  readonly before: WatchList | undefined
}

/** Polls the open watches; returns a function that stops it. A server without control lists none. */
export function followWatches(show: (lists: WatchLists) => void): () => void {
  let before: WatchList | undefined
  return repeat(
    () => ask<WatchList>('/orch/v1/watches'),
    (now) => {
      show({ now, before })
      before = now
    },
  )
}
