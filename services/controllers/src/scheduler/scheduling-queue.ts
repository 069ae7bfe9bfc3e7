import { type ClusterChange, type FilterName, type PodInfo, type SchedulingRules, wakes } from '@orch/core/scheduling'
import { type Clock, Heap, type HeapItem, type Timer } from '@orch/platform'

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
export interface QueuedPod extends HeapItem {
  readonly key: string
  /** The latest state of the Pod. */
  info: PodInfo
  place: Place
  /** Sequence number of its arrival among the active Pods. */
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
  readonly #active = new Heap<QueuedPod>(
    (one, other) => other.info.priority - one.info.priority || one.sinceMs - other.sinceMs || one.ticket - other.ticket,
  )
  readonly #backoff = new Heap<QueuedPod>((one, other) => one.backoffEndMs - other.backoffEndMs)
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
      index: -1,
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
    this.#active.remove(entry)
    this.#backoff.remove(entry)
    entry.place = 'taken'
  }

  /** The next active Pod. It is not returned again until the attempt has failed. */
  take(): QueuedPod | undefined {
    this.#endBackoffs()
    const entry = this.#active.first ?? this.#firstRefused()
    if (entry === undefined) return undefined
    this.#active.remove(entry)
    this.#backoff.remove(entry)
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
    this.#backoff.add(entry)
    if (this.#options.rules.triesPodsInBackoff && !entry.hasError) this.#options.onReady()
    this.#setTimer()
  }

  #activatePod(entry: QueuedPod): void {
    entry.place = 'active'
    entry.ticket = ++this.#tickets
    this.#active.add(entry)
    this.#options.onReady()
  }

  /** The first Pod in back-off that a plugin has refused, if such Pods may be tried. */
  #firstRefused(): QueuedPod | undefined {
    if (!this.#options.rules.triesPodsInBackoff) return undefined
    const { first } = this.#backoff
    return first?.hasError === true ? this.#backoff.firstWhere(({ hasError }) => !hasError) : first
  }

  #endBackoffs(): void {
    const nowMs = this.#options.clock.monotonic()
    for (let { first } = this.#backoff; first !== undefined && first.backoffEndMs <= nowMs; first = this.#backoff.first) {
      this.#backoff.remove(first)
      this.#activatePod(first)
    }
    this.#setTimer()
  }

  #setTimer(): void {
    const { clock, onReady } = this.#options
    const { first } = this.#backoff
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
