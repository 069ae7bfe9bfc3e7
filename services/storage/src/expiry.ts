import { at } from '@orch/core/json'
import type { Clock, Timer } from '@orch/platform'
import { limits } from './limits.ts'
import type { StoredObject } from './memory/stored-object.ts'

/** The dependencies of expiry. */
export interface ExpiryOptions {
  readonly clock: Clock
  /** Deletes the object unless it has changed. */
  readonly remove: (object: Due) => Promise<unknown>
  /** Expiries from another service's `due`; undefined for none. */
  readonly due?: readonly Due[] | undefined
}

/** The expiry of an object. */
export interface Due {
  readonly key: string
  readonly revision: number
  readonly expiresAtMs: number
}

/** Time until a refused deletion is repeated. */
const retryIntervalMs = 10_000

/** Deletes objects (Events) when they expire, each by an ordinary change. */
export class Expiry {
  readonly #options: ExpiryOptions
  /** Future expiries in a binary heap, the earliest first. */
  readonly #heap: Due[]
  #timer: Timer | undefined
  #isRemoving = false
  #isClosed = false

  constructor(options: ExpiryOptions) {
    this.#options = options
    this.#heap = options.due?.slice() ?? []
    this.#plan()
  }

  /** Future expiries, for another service. */
  get due(): readonly Due[] {
    return this.#heap.slice()
  }

  add({ key, revision, expiresAtMs }: StoredObject): void {
    push(this.#heap, { key, revision, expiresAtMs })
    if (at(this.#heap, 0).revision === revision) this.#plan()
  }

  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
  }

  #plan(): void {
    this.#timer?.cancel()
    const first = this.#heap[0]
    if (first === undefined || this.#isRemoving || this.#isClosed) return
    const { clock } = this.#options
    this.#timer = clock.after(Math.max(first.expiresAtMs - clock.now(), 0), () => void this.#removeDue(), { background: true })
  }

  async #removeDue(): Promise<void> {
    this.#isRemoving = true
    const nowMs = this.#options.clock.now()
    const due: Due[] = []
    while (due.length < limits.expiriesPerTurn && this.#heap.length > 0 && at(this.#heap, 0).expiresAtMs <= nowMs) due.push(pop(this.#heap))
    const results = await Promise.allSettled(due.map((one) => this.#options.remove(one)))
    // A store that cannot write now may be able to write later.
    for (const [index, { status }] of results.entries())
      if (status === 'rejected') push(this.#heap, { ...at(due, index), expiresAtMs: nowMs + retryIntervalMs })
    this.#isRemoving = false
    this.#plan()
  }
}

function push(heap: Due[], due: Due): void {
  let index = heap.length
  heap.push(due)
  while (index > 0) {
    const parent = (index - 1) >>> 1
    if (at(heap, parent).expiresAtMs <= due.expiresAtMs) break
    heap[index] = at(heap, parent)
    index = parent
  }
  heap[index] = due
}

function pop(heap: Due[]): Due {
  const first = at(heap, 0)
  const last = heap.pop()!
  if (heap.length === 0) return first
  let index = 0
  for (let child = 1; child < heap.length; child = 2 * index + 1) {
    if (child + 1 < heap.length && at(heap, child + 1).expiresAtMs < at(heap, child).expiresAtMs) child++
    if (at(heap, child).expiresAtMs >= last.expiresAtMs) break
    heap[index] = at(heap, child)
    index = child
  }
  heap[index] = last
  return first
}
