import { getHeapStatistics } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Clock } from '@orch/platform'
import { withGarbageCollector } from './process/v8-flags.ts'

/** The dependencies of the collections of an idle process. */
export interface IdleCollectionParts {
  readonly clock: Clock
  /** The share of its time for which the event loop has been busy since the last call, from 0 to 1. */
  busyShare(): number
  /** Bytes of objects in the heap. */
  usedHeapBytes(): number
  /** Collects all garbage, as if memory were low. */
  collectAll(): void
  /** Collects the young heap, which takes 1 to 5 ms however much the old one holds. */
  collectYoung(): void
}

const lookEveryMs = 1000
const busyShareMax = 0.1
/** The event loop stops meanwhile, for about 2 ms per megabyte. */
const heapBytesMax = 40e6
/** Beyond it, the young heap's memory is a small part of the whole, and a collection of the old heap holds the event loop for too long. */
const heapBytesToFollowMax = 60e6
/** V8 shrinks its young heap where the last seconds have allocated little, which the first collections after work do not see yet. */
const youngCollections = 8

/**
 * Gives back the memory that work needs and an idle server does not: V8 keeps the pages of its young heap until a collection in a quiet
 * time, and begins none by itself while nothing is allocated. In the first second in which the process is idle after its start, everything
 * is collected; a heap that has become large by then is left to the later collections. After later work the young heap is collected in some idle
 * seconds: V8 then makes it smaller, and continues with a collection of the old heap in small steps.
 */
export function collectWhenIdle({ clock, busyShare, usedHeapBytes, collectAll, collectYoung }: IdleCollectionParts): void {
  let isStarting = true
  let remaining = youngCollections
  busyShare()
  clock.every(lookEveryMs, () => {
    if (busyShare() > busyShareMax) {
      remaining = youngCollections
      return
    }
    const heapBytes = usedHeapBytes()
    if (isStarting && heapBytes <= heapBytesMax) {
      collectAll()
      remaining = 0
    } else if (remaining > 0 && heapBytes <= heapBytesToFollowMax) {
      collectYoung()
      remaining -= 1
    }
    isStarting = false
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
    collectAll: () => collect("{ type: 'major', flavor: 'last-resort' }"),
    collectYoung: () => collect("{ type: 'minor' }"),
  }
}

function collect(options: string): void {
  // Node.js offers the function in contexts that are created while the flag is set.
  withGarbageCollector(() => runInNewContext(`gc(${options})`))
}
