import { type ClusterChange, type FilterName, type PodInfo, type SchedulingRules, wakes } from '@orch/core/scheduling'
import type { Clock, Timer } from '@orch/platform'
import { Heap } from './heap.ts'

/** Back-off after the first failed attempt, which doubles with each further one, and its maximum (SCHED-05). */
const backoffFirstMs = 1_000
const backoffMaxMs = 10_000
/** Time after which a refused Pod is tried again without a change (SCHED-06). */
const refusedMs = 300_000
/** Number of attempts after which an automatic clock no longer advances for the next one, as it would never stop. */
const hopefulAttempts = 10

/** `taken`: it is being scheduled, or bound. `gated`: it waits for the removal of its scheduling gates. */
type Place = 'active' | 'backoff' | 'refused' | 'gated' | 'taken'

/** A Pod without a node. */
export interface QueuedPod {
  readonly key: string
  /** The latest state of the Pod. */
  info: PodInfo
  place: Place
  /** Sequence number at its position; a heap entry with another number is outdated. */
  ticket: number
  /** Time of its arrival in the queue or of its last refusal, which orders Pods of equal priority. */
  sinceMs: number
  attempts: number
  /** End of the back-off of the last attempt. */
  backoffEndMs: number
  /** Plugins that refused it in the last attempt. */
  refusedBy: ReadonlySet<FilterName>
  /** True if the last attempt ended with an error. */
  hasError: boolean
}

const noPlugins: ReadonlySet<FilterName> = new Set()

interface Waiting {
  readonly entry: QueuedPod
  readonly ticket: number
}

export interface SchedulingQueueOptions {
  readonly clock: Clock
  readonly rules: SchedulingRules
  /** Called when a Pod may be taken. */
  readonly onReady: () => void
}

/**
 * The Pods without a node: active ones (by priority, then arrival), ones in back-off (by its end), and refused ones that wait for a change (SCHED-03,
 * SCHED-04). The general queue has no priorities, and its keys wait only for time.
 *
 *   add → active → take → taken → refused → (change) → backoff → (time) → active
 */
export class SchedulingQueue {
  readonly #options: SchedulingQueueOptions
  readonly #entries = new Map<string, QueuedPod>()
  readonly #refused = new Map<string, QueuedPod>()
  readonly #active = new Heap<Waiting>(isBefore)
  readonly #backoff = new Heap<Waiting>((left, right) => left.entry.backoffEndMs < right.entry.backoffEndMs)
  #tickets = 0
  #timer: (Timer & { readonly dueMs: number }) | undefined
  #refusedTimer: Timer | undefined

  constructor(options: SchedulingQueueOptions) {
    this.#options = options
  }

  get(key: string): QueuedPod | undefined {
    return this.#entries.get(key)
  }

  /** Adds a Pod, or replaces its state. A change that may affect its placement makes it active again (SCHED-08). */
  set(info: PodInfo, isChanged: boolean): void {
    const known = this.#entries.get(info.key)
    if (known !== undefined && known.info.uid === info.uid) {
      known.info = info
      if (known.place === 'gated' ? !this.#isGated(info) : known.place === 'refused' && isChanged) this.#moveOn(known)
      return
    }
    this.delete(info.key)
    const nowMs = this.#options.clock.monotonic()
    const entry: QueuedPod = {
      key: info.key,
      info,
      place: 'gated',
      ticket: 0,
      sinceMs: nowMs,
      attempts: 0,
      backoffEndMs: 0,
      refusedBy: noPlugins,
      hasError: false,
    }
    this.#entries.set(info.key, entry)
    if (!this.#isGated(info)) this.#activatePod(entry)
  }

  delete(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#refused.delete(key)
    entry.place = 'taken'
    entry.ticket = ++this.#tickets
  }

  /** The next active Pod. It is not returned again until the attempt has failed. */
  take(): QueuedPod | undefined {
    this.#endBackoffs()
    const entry = next(this.#active, 'active') ?? this.#takeFromBackoff()
    if (entry === undefined) return undefined
    entry.place = 'taken'
    entry.attempts++
    return entry
  }

  /** Returns a Pod whose attempt has failed to the queue. Errors lead to back-off at once; without nodes no plugin has refused it. */
  putBack(entry: QueuedPod, { refusedBy = noPlugins, hasError = false }: Partial<Pick<QueuedPod, 'refusedBy' | 'hasError'>> = {}): void {
    if (this.#entries.get(entry.key) !== entry) return
    entry.refusedBy = refusedBy
    entry.hasError = hasError
    entry.sinceMs = this.#options.clock.monotonic()
    entry.backoffEndMs = entry.sinceMs + Math.min(backoffMaxMs, backoffFirstMs * 2 ** (entry.attempts - 1))
    if (hasError) return void this.#moveOn(entry)
    entry.place = 'refused'
    entry.ticket = ++this.#tickets
    this.#refused.set(entry.key, entry)
    this.#watchRefused()
  }

  /** Moves refused Pods that the change may make schedulable. */
  move(change: ClusterChange): void {
    const { rules } = this.#options
    for (const entry of this.#refused.values()) if (wakes(entry.info, entry.refusedBy, change, rules)) this.#moveOn(entry)
  }

  close(): void {
    this.#timer?.cancel()
    this.#refusedTimer?.cancel()
    this.#entries.clear()
    this.#refused.clear()
  }

  #isGated({ pod }: PodInfo): boolean {
    return this.#options.rules.hasGates && (pod.spec.schedulingGates ?? []).length > 0
  }

  /** Moves a Pod to the active queue, or to back-off until its end. */
  #moveOn(entry: QueuedPod): void {
    this.#refused.delete(entry.key)
    if (entry.backoffEndMs <= this.#options.clock.monotonic()) return void this.#activatePod(entry)
    entry.place = 'backoff'
    entry.ticket = ++this.#tickets
    this.#backoff.push({ entry, ticket: entry.ticket })
    if (this.#options.rules.triesPodsInBackoff && !entry.hasError) this.#options.onReady()
    this.#setTimer()
  }

  #activatePod(entry: QueuedPod): void {
    entry.place = 'active'
    entry.ticket = ++this.#tickets
    this.#active.push({ entry, ticket: entry.ticket })
    this.#options.onReady()
  }

  #takeFromBackoff(): QueuedPod | undefined {
    if (!this.#options.rules.triesPodsInBackoff) return undefined
    const failed: Waiting[] = []
    let entry = next(this.#backoff, 'backoff')
    for (; entry?.hasError === true; entry = next(this.#backoff, 'backoff')) failed.push({ entry, ticket: entry.ticket })
    for (const waiting of failed) this.#backoff.push(waiting)
    return entry
  }

  #endBackoffs(): void {
    const nowMs = this.#options.clock.monotonic()
    for (let first = this.#firstInBackoff(); first !== undefined && first.backoffEndMs <= nowMs; first = this.#firstInBackoff()) {
      this.#backoff.pop()
      this.#activatePod(first)
    }
    this.#setTimer()
  }

  #firstInBackoff(): QueuedPod | undefined {
    for (let first = this.#backoff.peek(); first !== undefined; first = this.#backoff.peek()) {
      if (isCurrent(first, 'backoff')) return first.entry
      this.#backoff.pop()
    }
    return undefined
  }

  #setTimer(): void {
    const { clock, onReady } = this.#options
    const first = this.#firstInBackoff()
    if (first?.backoffEndMs === this.#timer?.dueMs) return
    this.#timer?.cancel()
    this.#timer = undefined
    if (first === undefined) return
    const end = () => {
      this.#timer = undefined
      onReady()
    }
    const dueMs = first.backoffEndMs
    const timer = clock.after(Math.max(0, dueMs - clock.monotonic()), end, { background: first.attempts > hopefulAttempts })
    this.#timer = { dueMs, cancel: () => timer.cancel() }
  }

  /** Refused Pods are in the order of their refusals. */
  #watchRefused(): void {
    const { clock } = this.#options
    const [first] = this.#refused.values()
    if (this.#refusedTimer !== undefined || first === undefined) return
    const end = () => {
      this.#refusedTimer = undefined
      const nowMs = clock.monotonic()
      for (const entry of this.#refused.values()) if (entry.sinceMs + refusedMs <= nowMs) this.#moveOn(entry)
      this.#watchRefused()
    }
    this.#refusedTimer = clock.after(Math.max(0, first.sinceMs + refusedMs - clock.monotonic()), end, { background: true })
  }
}

function isBefore({ entry: left, ticket }: Waiting, { entry: right, ticket: other }: Waiting): boolean {
  if (left.info.priority !== right.info.priority) return left.info.priority > right.info.priority
  if (left.sinceMs !== right.sinceMs) return left.sinceMs < right.sinceMs
  return ticket < other
}

function isCurrent({ entry, ticket }: Waiting, place: Place): boolean {
  return entry.place === place && entry.ticket === ticket
}

function next(heap: Heap<Waiting>, place: Place): QueuedPod | undefined {
  for (let first = heap.pop(); first !== undefined; first = heap.pop()) if (isCurrent(first, place)) return first.entry
  return undefined
}
