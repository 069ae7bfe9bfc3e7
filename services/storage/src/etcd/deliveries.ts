import type { Revision } from '@orch/core/meta'
import { limits } from '../limits.ts'
import { unknownOutcome } from './commit.ts'
import type { EtcdContext } from './context.ts'

interface Waiter {
  readonly revision: Revision
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Callers that wait until listeners have received every change up to a revision. */
export class Deliveries {
  readonly #context: EtcdContext
  readonly #expect: (revision: Revision) => void
  #waiters: Waiter[] = []

  /** `expect` is called with each awaited revision. */
  constructor(context: EtcdContext, expect: (revision: Revision) => void) {
    this.#context = context
    this.#expect = expect
  }

  /** Resolves when listeners have received all changes up to a revision. */
  upTo(revision: Revision): Promise<void> {
    if (revision <= this.#context.timeline.position) return Promise.resolve()
    this.#expect(revision)
    return new Promise((resolve, reject) => {
      const giveUp = () => waiter.reject(unknownOutcome('the watch of etcd is behind'))
      const timer = this.#context.clock.after(limits.etcdDeliveryWaitMs, giveUp)
      const waiter: Waiter = {
        revision,
        resolve: () => {
          timer.cancel()
          resolve()
        },
        reject: (error) => {
          timer.cancel()
          this.#waiters = this.#waiters.filter((other) => other !== waiter)
          reject(error)
        },
      }
      this.#waiters.push(waiter)
    })
  }

  /** Called when listeners have received all changes up to this revision. */
  reached(position: Revision): void {
    const due = this.#waiters.filter(({ revision }) => revision <= position)
    this.#waiters = this.#waiters.filter(({ revision }) => revision > position)
    for (const { resolve } of due) resolve()
  }

  rejectAll(why: string): void {
    for (const { reject } of [...this.#waiters]) reject(unknownOutcome(why))
  }
}
