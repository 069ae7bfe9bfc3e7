import type { Change, ChangesPart, ChangesRequest } from '@orch/core/contracts'
import type { Revision } from '@orch/core/meta'
import { onAbort } from '@orch/platform'

/** The part of the state that streams of changes read. */
export interface StateReader {
  readonly epoch: string
  readonly revision: Revision
  readonly compacted: Revision
  changesAfter(after: Revision): Promise<ChangesRead>
}

/** Wakes streams for changes and for positions. */
export class Notifier {
  readonly #waiting = new Set<Waiter>()
  /** Counts the intervals at which positions were due. */
  ticks = 0

  /** Wakes the streams that want one of the changes, and the unfiltered streams. */
  notify(changes: readonly Change[]): void {
    const seen = changes[0]?.previous ?? 0
    for (const waiter of this.#waiting) if (waiter.wants(changes)) this.#wake(waiter, seen)
  }

  /** Positions are due: each waiting stream has received all changes up to this revision that it wants. */
  tick(revision: Revision): void {
    this.ticks++
    this.notifyAll(revision)
  }

  /** Wakes every stream. */
  notifyAll(seen: Revision = 0): void {
    for (const waiter of this.#waiting) this.#wake(waiter, seen)
  }

  /** Resolves at a wake-up. The value is the revision up to which no wanted change is missing. */
  wait(waiter: Waiter): Promise<Revision> {
    return new Promise((resolve) => {
      waiter.resolve = resolve
      this.#waiting.add(waiter)
    })
  }

  /** Resolves at the next wake-up of any kind, or when the signal aborts. */
  async waitUntil(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    const waiter = new Waiter(undefined)
    const stop = () => this.wake(waiter)
    onAbort(signal, stop)
    await this.wait(waiter)
    signal.removeEventListener('abort', stop)
  }

  /** Ends a wait. It has no effect on a waiter that does not wait. */
  wake(waiter: Waiter): void {
    this.#wake(waiter, 0)
  }

  #wake(waiter: Waiter, seen: Revision): void {
    this.#waiting.delete(waiter)
    waiter.resolve(seen)
  }
}

/** Repeatedly waits for the notifier on behalf of one stream. */
export class Waiter {
  /** Undefined if the stream wants all changes. */
  readonly #wanted: ((key: string) => boolean) | undefined
  resolve: (seen: Revision) => void = () => {}

  constructor(wanted: ((key: string) => boolean) | undefined) {
    this.#wanted = wanted
  }

  /** True if the stream wants one of the changes. Each commit calls this for each waiting stream. */
  wants(changes: readonly Change[]): boolean {
    const wanted = this.#wanted
    if (wanted === undefined) return true
    for (const { key } of changes) if (wanted(key)) return true
    return false
  }
}

/**
 * Streams the changes after a revision, and then later ones. A stream stores only its position: it uses no memory while it is not read, and resumes
 * from memory or from the store. A waiting stream is woken only for changes that it wants.
 */
export async function* streamChanges(
  request: ChangesRequest,
  state: StateReader,
  notifier: Notifier,
  signal: AbortSignal,
): AsyncGenerator<ChangesPart, void, undefined> {
  const epoch = state.epoch
  if (request.epoch !== '' && request.epoch !== epoch) return yield expiredPart(state)
  const wanted = toFilter(request.resources)
  const waiter = new Waiter(wanted)
  onAbort(signal, () => notifier.wake(waiter))
  let after = request.after
  let ticks = notifier.ticks
  while (!signal.aborted) {
    if (state.epoch !== epoch) return yield expiredPart(state)
    if (after < state.revision) {
      const read = await state.changesAfter(after)
      if (read.kind === 'expired') return yield expiredPart(state)
      after = read.upTo
      const changes = wanted === undefined ? read.changes : read.changes.filter(({ key }) => wanted(key))
      if (changes.length > 0) yield { kind: 'changes', changes, epoch }
    } else if (ticks !== notifier.ticks) {
      ticks = notifier.ticks
      if (after <= state.revision) yield { kind: 'position', revision: after, epoch }
    } else {
      after = Math.max(after, await notifier.wait(waiter))
    }
  }
}

/** The result of reading the past for a stream. */
export type ChangesRead =
  /** All changes after the requested revision, up to `upTo`. */
  { readonly kind: 'changes'; readonly changes: readonly Change[]; readonly upTo: Revision } | { readonly kind: 'expired' }

function expiredPart({ epoch, compacted }: StateReader): ChangesPart {
  return { kind: 'expired', oldest: compacted, epoch }
}

function toFilter(resources: readonly string[]): ((key: string) => boolean) | undefined {
  if (resources.length === 0) return undefined
  const prefixes = resources.map((resource) => `${resource}/`)
  const only = prefixes.length === 1 ? prefixes[0] : undefined
  return only === undefined ? (key) => prefixes.some((prefix) => key.startsWith(prefix)) : (key) => key.startsWith(only)
}
