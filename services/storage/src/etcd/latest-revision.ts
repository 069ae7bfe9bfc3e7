import { setTimeout as delay } from 'node:timers/promises'
import type { Revision } from '@orch/core/meta'
import { limits } from '../limits.ts'
import type { ChangeWatch } from './change-watch.ts'
import { readSurely } from './client.ts'
import type { EtcdContext } from './context.ts'
import { unavailable } from './errors.ts'

/**
 * Requests etcd's latest revision. Only one request is pending at a time; callers that arrive meanwhile share the next one. If many callers share it,
 * the next request waits briefly for more, because a request costs etcd and this process more than the read itself.
 */
export class LatestRevision {
  readonly #context: EtcdContext
  readonly #watch: ChangeWatch
  #asking: Promise<Revision> | undefined
  #askingNext: Promise<Revision> | undefined
  /** Callers of the next request. */
  #callers = 0
  #restUntilMs = 0

  constructor(context: EtcdContext, watch: ChangeWatch) {
    this.#context = context
    this.#watch = watch
  }

  /** A revision at or after every write that was acknowledged before the call. */
  ask(): Promise<Revision> {
    this.#callers += 1
    if (this.#askingNext !== undefined) return this.#askingNext
    if (this.#asking === undefined && this.#context.clock.monotonic() >= this.#restUntilMs) return this.#begin()
    this.#askingNext = this.#beginNext(this.#asking)
    return this.#askingNext
  }

  async #beginNext(before: Promise<Revision> | undefined): Promise<Revision> {
    await before?.catch(() => undefined)
    const restMs = this.#restUntilMs - this.#context.clock.monotonic()
    if (restMs > 0) await delay(restMs)
    return this.#begin()
  }

  #begin(): Promise<Revision> {
    this.#askingNext = undefined
    this.#restUntilMs = this.#context.clock.monotonic() + pauseAfter(this.#callers)
    this.#callers = 0
    const asking = this.#read()
    this.#asking = asking
    const forget = () => {
      if (this.#asking === asking) this.#asking = undefined
    }
    asking.then(forget, forget)
    return asking
  }

  async #read(): Promise<Revision> {
    const { client, layout, isReliable, timeline } = this.#context
    // The watch may overtake the answer, so only revisions that the watch had reported before the request are certain.
    const shown = timeline.position
    const revision = await readSurely(() => client.latestRevision(Buffer.from(layout.epoch)))
    // etcd was restored to an earlier state under an open watch. The timelines are compared when the watch reopens.
    if (revision < shown) this.#watch.restart('etcd is behind a revision that it has reported')
    await this.#watch.reopened()
    const { problem } = this.#watch
    if (problem !== '') throw unavailable(`the store can't be read at its latest: ${problem}`)
    if (isReliable) void this.#watch.expect(revision)
    return revision
  }
}

/** Pause in ms before the next request, by the number of callers that shared the last one. */
function pauseAfter(callers: number): number {
  return callers < limits.latestSharersMany ? 0 : Math.min(callers * limits.latestPauseMsEach, limits.latestPauseMsMax)
}
