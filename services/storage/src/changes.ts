import type { Change, ChangesPart, ChangesRequest, Revision } from '@orch/core'
import type { StateReader } from './state.ts'

/** Rings for all streams at once: something changed, or it is time to say where the store stands. */
export class Bell {
  readonly #waiting = new Set<() => void>()
  /** Counts the times that positions were due. */
  ticks = 0

  get hasWaiting(): boolean {
    return this.#waiting.size > 0
  }

  ring(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const wake of waiting) wake()
  }

  tick(): void {
    this.ticks++
    this.ring()
  }

  /** Resolves at the next ring, or when the signal is raised. */
  wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const wake = () => {
        this.#waiting.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      this.#waiting.add(wake)
      signal.addEventListener('abort', wake, { once: true })
    })
  }
}

/**
 * Changes after a revision, then those to come. A stream is a place in the history and holds nothing else: one that does
 * not read costs nothing, and reads on where it stopped, from memory or, later, from the store.
 */
export async function* streamChanges(
  request: ChangesRequest,
  state: StateReader,
  bell: Bell,
  signal: AbortSignal,
): AsyncGenerator<ChangesPart, void, undefined> {
  const epoch = state.epoch
  if (request.epoch !== '' && request.epoch !== epoch) return yield expiredPart(state)
  const wanted = toFilter(request.resources)
  let after = request.after
  let ticks = bell.ticks
  while (!signal.aborted) {
    if (state.epoch !== epoch) return yield expiredPart(state)
    if (after < state.revision) {
      const read = await state.changesAfter(after)
      if (read.kind === 'expired') return yield expiredPart(state)
      after = read.upTo
      const changes = wanted === undefined ? read.changes : read.changes.filter(({ key }) => wanted(key))
      if (changes.length > 0) yield { kind: 'changes', changes, epoch }
    } else if (ticks !== bell.ticks) {
      ticks = bell.ticks
      if (after <= state.revision) yield { kind: 'position', revision: after, epoch }
    } else {
      await bell.wait(signal)
    }
  }
}

/** What a stream read of the past. */
export type ChangesRead =
  /** Everything after the asked revision, up to `upTo`. */
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
