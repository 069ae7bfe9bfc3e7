import type { Revision } from '@orch/core/meta'
import type { ChangeWatch } from './change-watch.ts'
import { readSurely } from './client.ts'
import type { EtcdContext } from './context.ts'
import { unavailable } from './errors.ts'

/** Asks etcd for its latest revision. One question is under way at a time; callers that come meanwhile share the next one. */
export class LatestRevision {
  readonly #context: EtcdContext
  readonly #watch: ChangeWatch
  #asking: Promise<Revision> | undefined
  #askingNext: Promise<Revision> | undefined

  constructor(context: EtcdContext, watch: ChangeWatch) {
    this.#context = context
    this.#watch = watch
  }

  /** A revision at or after every write that was acknowledged before the call. */
  ask(): Promise<Revision> {
    if (this.#asking === undefined) return this.#begin()
    this.#askingNext ??= this.#asking.then(
      () => this.#begin(),
      () => this.#begin(),
    )
    return this.#askingNext
  }

  #begin(): Promise<Revision> {
    this.#askingNext = undefined
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
    const request = { key: Buffer.from(layout.epoch), keys_only: true }
    // The watch may overtake the answer: etcd surely knew only what the watch had shown before the question.
    const shown = timeline.position
    const { header } = await readSurely(() => client.kv.range(request))
    const revision = Number(header.revision)
    // Restored to its past under an open watch: the lines are compared when the watch is opened again.
    if (revision < shown) this.#watch.restart('etcd is behind a revision that it has reported')
    await this.#watch.reopened()
    const { problem } = this.#watch
    if (problem !== '') throw unavailable(`the store can't be read at its latest: ${problem}`)
    if (isReliable) void this.#watch.expect(revision)
    return revision
  }
}
