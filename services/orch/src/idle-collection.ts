import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Clock } from '@orch/platform'

/** What the collection of an idle process works on. */
export interface IdleCollectionParts {
  readonly clock: Clock
  /** The share of its time for which the event loop has been busy since the last call, from 0 to 1. */
  busyShare(): number
  /** Bytes of objects in the heap. */
  usedHeapBytes(): number
  collect(): void
}

const lookEveryMs = 1000
const busyShareMax = 0.1
/** The event loop stands still meanwhile, for some 2 ms per megabyte. */
const heapBytesMax = 40e6

/**
 * Gives back the memory that a start needs and an idle server does not: V8 keeps the pages of its young heap until a collection that is
 * asked for to save memory, and begins none by itself while nothing is allocated. It is done once, in the first second in which the process
 * is idle; a heap that has become large by then is left as it is.
 */
export function collectOnceIdle({ clock, busyShare, usedHeapBytes, collect }: IdleCollectionParts): void {
  busyShare()
  const timer = clock.every(lookEveryMs, () => {
    if (busyShare() > busyShareMax) return
    timer.cancel()
    if (usedHeapBytes() <= heapBytesMax) collect()
  })
}

/** The present thread's event loop and heap. */
export function ownHeap(): Omit<IdleCollectionParts, 'clock'> {
  let last = performance.eventLoopUtilization()
  return {
    busyShare() {
      const before = last
      last = performance.eventLoopUtilization()
      return performance.eventLoopUtilization(last, before).utilization
    },
    usedHeapBytes: () => getHeapStatistics().used_heap_size,
    collect() {
      // Node offers the function in contexts that are made once the flag is set. Given with the others at the start, the flag would keep
      // Node's own compiled code from being taken.
      setFlagsFromString('--expose-gc')
      runInNewContext("gc({ type: 'major', flavor: 'last-resort' })")
      setFlagsFromString('--no-expose-gc')
    },
  }
}
