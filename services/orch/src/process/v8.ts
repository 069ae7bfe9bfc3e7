import { constants, PerformanceObserver } from 'node:perf_hooks'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isJsonObject } from '@orch/core/json'
import type { Clock, Timer } from '@orch/platform'

/** Environment variables. `ORCH_V8_FLAGS=default` keeps the settings of Node.js. docs/explanation/v8.md has the reasons for the flags. */
type Environment = Readonly<Record<string, string | undefined>>

/** True unless the environment asks for the settings of Node.js. */
export function isTuned({ ORCH_V8_FLAGS: flags }: Environment): boolean {
  return flags !== 'default'
}

/** Flags that V8 reads only at its start, so they must be on Node.js' command line. */
export const youngHeapFlags: readonly string[] = [
  // The young heap begins at 12 MB, which saves an eighth of the start's CPU, and grows to 48 MB: it never shrinks by itself.
  '--max-semi-space-size=16',
  '--min-semi-space-size=8',
]

/** Flags that are set after the start: set earlier, they would make V8 reject Node.js' compiled code, which was built with other flags. */
const servingFlags: readonly string[] = [
  // Otherwise some objects of each request are allocated in the old heap, and keep their references until the next full collection.
  '--no-allocation-site-pretenuring',
  // Otherwise a write load causes a full collection after each 24 MB of stored objects, although none of them can be freed.
  '--heap-growing-percent=100',
]

/** Sets the flags of a process that has started to serve. */
export function setServingFlags(): void {
  for (const flag of servingFlags) setFlagsFromString(flag)
}

/**
 * Flags of a process that serves other processes. Its old heap is small, and the external memory of its answers and messages would trigger a full
 * collection several times a second. A larger initial heap makes that rare, and uses memory only under load.
 */
const heapFlags: readonly string[] = ['--initial-old-space-size=200']

/** The flags of this process and those of a process that serves others; flags that the caller has set take precedence. */
export function withHeapFlags(given: readonly string[], env: Environment): string[] {
  const nameOf = (flag: string) => flag.split('=')[0]?.replaceAll('_', '-')
  const names = new Set(given.map(nameOf))
  return [...given, ...(isTuned(env) ? heapFlags.filter((flag) => !names.has(nameOf(flag))) : [])]
}

/** The dependencies of the collections of an idle process. */
interface IdleCollectionParts {
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
  // Node.js offers `gc` in contexts that are created while the flag is set. Set at the start, it would make V8 reject Node.js' compiled code.
  setFlagsFromString('--expose-gc')
  runInNewContext(`gc(${options})`)
  setFlagsFromString('--no-expose-gc')
}
