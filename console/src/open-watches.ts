import { ask } from './api.ts'
import { repeat } from './repeat.ts'
import type { WatchList } from './watch-lag.ts'

/** The present list and the one before it. */
export interface WatchLists {
  readonly now: WatchList
  readonly before: WatchList | undefined
}

/** Follows the open watches. Gives the function that ends it. A server without control lists none. */
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
