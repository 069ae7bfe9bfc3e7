import { type Change, type ChangesPart, type ChangesRequest, resourcePrefix, type Stream } from '@orch/core/contracts'
import { getOrMake } from '@orch/core/memo'
import type { Revision } from '@orch/core/meta'
import { onAbort } from '@orch/platform'

/** The part of the state that streams of changes read. */
export interface StateReader {
  readonly epoch: string
  readonly revision: Revision
  readonly compacted: Revision
  changesAfter(after: Revision): Promise<ChangesRead>
}

/** Waits for changes. */
interface Waiter {
  /** The resources whose changes wake it, such as `core/pods`; '' is for all. */
  readonly resources: readonly string[]
  /** True if the waiter lacks this position. */
  wantsPosition(revision: Revision): boolean
  /** Called once at a wake-up, with the revision up to which no wanted change is missing. */
  wake(seen: Revision): void
}

/** Wakes streams for changes and for positions. */
export class Notifier {
  /** By wanted resource, so that a commit finds the streams that want it. */
  readonly #waiting = new Map<string, Set<Waiter>>()
  /** Called once before each tick, when a position becomes due: the revision may have moved, or a stream that waits lacks it. */
  onMoved: (() => void) | undefined
  #isDue = false
  /** Counts the moments at which positions were due. */
  ticks = 0
  /** True during a restore: streams read its changes in vain, as it ends them. */
  isSilent = false

  /** Wakes the streams that want one of the changes, and the unfiltered streams. */
  notify(changes: readonly Pick<Change, 'key' | 'previous'>[]): void {
    if (this.isSilent) return
    const seen = changes[0]?.previous ?? 0
    for (const resource of ['', ...changes.map(({ key }) => resourcePrefix(key))])
      for (const waiter of this.#waiting.get(resource) ?? []) this.#wake(waiter, seen)
    this.#move()
  }

  /** Positions are due: each waiting stream has received all changes up to this revision that it wants. */
  tick(revision: Revision): void {
    this.#isDue = false
    this.ticks++
    // During a restore, waiting streams lack its changes.
    const seen = this.isSilent ? 0 : revision
    for (const waiters of this.#waiting.values()) for (const waiter of waiters) if (waiter.wantsPosition(revision)) this.#wake(waiter, seen)
  }

  /** Wakes every stream. */
  notifyAll(seen: Revision = 0): void {
    for (const waiters of this.#waiting.values()) for (const waiter of waiters) this.#wake(waiter, seen)
    this.#move()
  }

  #move(): void {
    if (this.#isDue || this.onMoved === undefined) return
    this.#isDue = true
    this.onMoved()
  }

  /** Wakes the waiter at the next change or position that it wants. `revision` is its own. */
  add(waiter: Waiter, revision: Revision): void {
    this.#add(waiter)
    if (waiter.wantsPosition(revision)) this.#move()
  }

  #add(waiter: Waiter): void {
    for (const resource of waiter.resources) getOrMake(this.#waiting, resource, () => new Set()).add(waiter)
  }

  /** Resolves at the next wake-up of any kind, or when the signal aborts. */
  async waitUntil(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiter = { resources: everything, wantsPosition: () => true, wake: () => resolve() }
    const stop = () => this.wake(waiter)
    onAbort(signal, stop)
    this.#add(waiter)
    await promise
    signal.removeEventListener('abort', stop)
  }

  /** Ends a wait. It has no effect on a waiter that does not wait. */
  wake(waiter: Waiter): void {
    if (waiter.resources.some((resource) => this.#waiting.get(resource)?.has(waiter))) this.#wake(waiter, 0)
  }

  #wake(waiter: Waiter, seen: Revision): void {
    for (const resource of waiter.resources) this.#waiting.get(resource)?.delete(waiter)
    waiter.wake(seen)
  }
}

const everything: readonly string[] = ['']

/** The common dependencies of streams of changes. */
export interface ChangeStreamParts {
  readonly state: StateReader
  readonly notifier: Notifier
  /** Called when a stream is closed. */
  readonly onClose: (stream: ChangeStream) => void
}

type Step = IteratorResult<ChangesPart, undefined>

/**
 * The changes after a revision, and then later ones. A stream stores only its position: it uses no memory while it is not read, and resumes from memory
 * or from the store. A waiting stream is woken only for changes of its resources. Each server has dozens, so a waiting stream is one object and a promise,
 * without a generator. One `next` at a time.
 */
export class ChangeStream implements Stream<ChangesPart>, AsyncIterator<ChangesPart, undefined>, Waiter {
  readonly #parts: ChangeStreamParts
  readonly #signal: AbortSignal | undefined
  readonly resources: readonly string[]
  /** Prefixes of the wanted keys; all keys if it is empty. */
  readonly #prefixes: readonly string[]
  #epoch: string
  #after: Revision
  /** The last position that the reader has received. */
  #told: Revision | undefined
  /** The interval of the last position; undefined before the first read. */
  #ticks: number | undefined
  #isClosed = false
  readonly #onAbort = () => this.close()
  /** Ends the wait of `next`. */
  #resolve: (() => void) | undefined

  constructor({ after, epoch, resources }: ChangesRequest, parts: ChangeStreamParts, signal: AbortSignal | undefined) {
    this.#parts = parts
    this.#signal = signal
    // A scope may have a namespace, such as `core/pods/default`.
    this.resources = resources.length === 0 ? everything : [...new Set(resources.map(resourcePrefix))]
    this.#prefixes = resources.map((resource) => `${resource}/`)
    this.#after = after
    this.#epoch = epoch
    onAbort(signal, this.#onAbort)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    const { notifier, onClose } = this.#parts
    this.#signal?.removeEventListener('abort', this.#onAbort)
    notifier.wake(this)
    onClose(this)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Step> {
    const { state, notifier } = this.#parts
    if (this.#ticks === undefined) {
      this.#ticks = notifier.ticks
      if (this.#epoch === '') this.#epoch = state.epoch
    }
    if (this.#isClosed) return Promise.resolve(end)
    if (state.epoch !== this.#epoch) return Promise.resolve(this.#expire())
    if (this.#after < state.revision) return this.#read()
    if (this.#ticks !== notifier.ticks) {
      this.#ticks = notifier.ticks
      if (this.#after === state.revision && this.wantsPosition(state.revision)) {
        this.#told = this.#after
        return Promise.resolve(partOf({ kind: 'position', revision: this.#after, epoch: this.#epoch }))
      }
    }
    const woken = new Promise<void>((resolve) => {
      this.#resolve = resolve
      notifier.add(this, this.#after)
    })
    // Registered before the wake-up, so that the next step belongs to the reader's request and not to the one that wakes it.
    return woken.then(() => this.next())
  }

  /** Each position is sent once, so that an idle server wakes no stream. */
  wantsPosition(revision: Revision): boolean {
    return this.#told !== revision
  }

  /** Reads in a later step, together with the changes until then. */
  wake(seen: Revision): void {
    this.#after = Math.max(this.#after, seen)
    this.#resolve?.()
  }

  return(): Promise<Step> {
    this.close()
    return Promise.resolve(end)
  }

  async #read(): Promise<Step> {
    const read = await this.#parts.state.changesAfter(this.#after)
    if (read.kind === 'expired') return this.#expire()
    this.#after = read.upTo
    const changes = this.resources === everything ? read.changes : read.changes.filter(({ key }) => this.#wantsKey(key))
    return changes.length === 0 ? this.next() : partOf({ kind: 'changes', changes, epoch: this.#epoch })
  }

  #wantsKey(key: string): boolean {
    for (const prefix of this.#prefixes) if (key.startsWith(prefix)) return true
    return false
  }

  #expire(): Step {
    if (this.#isClosed) return end
    const { epoch, compacted } = this.#parts.state
    this.close()
    return partOf({ kind: 'expired', oldest: compacted, epoch })
  }
}

const end: Step = { done: true, value: undefined }

function partOf(value: ChangesPart): Step {
  return { done: false, value }
}

/** The result of reading the past for a stream. */
export type ChangesRead =
  /** All changes after the requested revision, up to `upTo`. */
  { readonly kind: 'changes'; readonly changes: readonly Change[]; readonly upTo: Revision } | { readonly kind: 'expired' }
