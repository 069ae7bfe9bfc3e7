import { constants, PerformanceObserver } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isJsonObject } from '@orch/core/json'
import type { Clock, Timer } from '@orch/platform'
import { withGarbageCollector } from './process/v8-flags.ts'

/** The dependencies of the collections of an idle process. */
export interface IdleCollectionParts {
  readonly clock: Clock
  /** The busy share of the event loop's time since the last call, from 0 to 1. */
  busyShare(): number
  /** Bytes of objects in the heap. */
  usedHeapBytes(): number
  /** Collects all garbage, as if memory were low. */
  collectAll(): void
  /** Collects the young heap: 1 to 5 ms, whatever the size of the old heap. */
  collectYoung(): void
  /** Calls back after each collection that V8 starts: the process has allocated several megabytes. */
  onCollection(callback: () => void): void
}

const lookEveryMs = 1000
const busyShareMax = 0.1
/** A full collection blocks the event loop for about 2 ms per megabyte. */
const heapBytesMax = 40e6
/** In a larger heap the young heap is a small part, and collecting the old heap blocks the event loop for too long. */
const heapBytesToFollowMax = 60e6
/** V8 shrinks its young heap only if the last seconds have allocated little, so the first collections after work have no effect. */
const youngCollections = 8

/**
 * Releases memory that work needed and an idle server does not. V8 keeps the pages of its young heap until a collection at a quiet time, and starts
 * no collection while nothing is allocated. In the first idle second after the start everything is collected, unless the heap is already large. After
 * later work the young heap is collected in some idle seconds: V8 then shrinks it, and continues to collect the old heap in small steps. No timer
 * runs in a process that allocates little.
 */
export function collectWhenIdle({ clock, busyShare, usedHeapBytes, collectAll, collectYoung, onCollection }: IdleCollectionParts): void {
  let isStarting = true
  let remaining = youngCollections
  let timer: Timer | undefined
  const watch = () => {
    if (timer !== undefined) return
    busyShare()
    timer = clock.every(lookEveryMs, look)
  }
  const look = () => {
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
    if (remaining > 0 && heapBytes <= heapBytesToFollowMax) return
    timer?.cancel()
    timer = undefined
  }
  watch()
  onCollection(watch)
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
    onCollection(callback) {
      const observer = new PerformanceObserver((list) => {
        if (list.getEntries().some(isStartedByV8)) callback()
      })
      observer.observe({ entryTypes: ['gc'] })
    },
  }
}

function isStartedByV8(entry: { readonly name: string; readonly detail?: unknown }): boolean {
  const { detail } = entry
  const flags = isJsonObject(detail) ? Number(detail['flags']) : 0
  return (flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) === 0
}

function collect(options: string): void {
  // Node.js offers the function in contexts that are created while the flag is set.
  withGarbageCollector(() => runInNewContext(`gc(${options})`))
}
