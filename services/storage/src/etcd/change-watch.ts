import type { Revision } from '@orch/core/meta'
import { onAbort, sleep } from '@orch/platform'
import { limits } from '../limits.ts'
import type { EtcdContext } from './context.ts'
import { causeOf, sayFailure } from './errors.ts'
import { type EtcdWatch, openWatch, type WatchEnd } from './watch.ts'
import type { EtcdEvent } from './wire.ts'

/** Receives the reports of a change watch. */
export interface ChangeWatchListener {
  /** The watch is about to open, for the first time or after a loss. */
  beforeOpen(): Promise<void>
  onOpened(): void
  onLost(): void
  /** Changes in complete revisions, in order. An error ends the watch, which then reopens. */
  onEvents(events: readonly EtcdEvent[]): void
  /** All changes up to this revision were delivered. */
  onPosition(revision: Revision): void
  /** etcd has compacted the changes after the position. */
  onCompacted(revision: Revision): Promise<void>
}

/** Watches the store's keys from the timeline's position on, and reopens the watch until the store is closed. */
export class ChangeWatch {
  readonly #context: EtcdContext
  readonly #random: () => number
  readonly #listener: ChangeWatchListener
  /** Callers that wait for the watch to reopen. */
  readonly #waiting = new Set<() => void>()
  #watch: EtcdWatch | undefined
  #problem = 'the watch of etcd is not open yet'
  /** The newest revision in etcd's other answers, which the watch must reach. */
  #expected: Revision = 0
  #isExpecting = false

  constructor(context: EtcdContext, random: () => number, listener: ChangeWatchListener) {
    this.#context = context
    this.#random = random
    this.#listener = listener
  }

  /** The reason why the watch is closed; '' if it is open. */
  get problem(): string {
    return this.#problem
  }

  /** Resolves when the watch first opens. */
  begin(): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = () => reject(new Error(`the watch of etcd could not be opened: ${this.#problem}`))
      const timer = this.#context.clock.after(limits.etcdStartWaitMs, giveUp)
      void this.#run(() => {
        timer.cancel()
        resolve()
      })
    })
  }

  /** Requests etcd's position; `onPosition` receives the answer. */
  askPosition(): void {
    this.#watch?.askPosition()
  }

  /** Waits briefly for a lost watch, because it mostly reopens before the caller has to be refused. */
  async reopened(): Promise<void> {
    if (this.#problem === '' || this.#context.closing.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = this.#context.clock.after(limits.etcdReopenWaitMs, resolve)
    this.#waiting.add(resolve)
    await promise
    timer.cancel()
    this.#waiting.delete(resolve)
  }

  /** Ends the watch. The source compares its timeline with etcd, and then opens a new watch. */
  restart(why: string): void {
    if (this.#problem !== '') return
    this.#problem = why
    this.#end(new Error(why))
  }

  /** Ends a silent watch although etcd has newer revisions: its member is stuck or isolated. */
  async expect(revision: Revision): Promise<void> {
    this.#expected = Math.max(this.#expected, revision)
    if (this.#isExpecting) return
    this.#isExpecting = true
    const { clock, closing, timeline } = this.#context
    while (timeline.position < this.#expected && !closing.aborted) {
      const before = timeline.position
      await sleep(clock, limits.etcdWatchPatienceMs, closing)
      // Events that arrived while this process was busy are read first.
      await sleep(clock, limits.etcdWatchLastLookMs, closing)
      if (timeline.position !== before || this.#problem !== '') continue
      this.#watch?.abandon()
      this.restart('the watch of etcd has fallen silent')
    }
    this.#isExpecting = false
  }

  /** Called after a restart of the timeline, because previously expected revisions may never arrive. */
  expectNothing(): void {
    this.#expected = this.#context.timeline.position
  }

  /** The caller must call this after the store's closing signal. */
  close(): void {
    this.#watch?.close()
    this.#releaseWaiting()
  }

  async #run(onOpened: () => void): Promise<void> {
    const { clock, log, closing } = this.#context
    for (let failures = 0; !closing.aborted; failures++) {
      try {
        if (this.#problem !== '') await this.#listener.beforeOpen()
        const end = await this.#watchOnce(() => {
          failures = 0
          this.#problem = ''
          this.#listener.onOpened()
          this.#releaseWaiting()
          onOpened()
        })
        if (closing.aborted) return
        if (end.kind === 'failed') throw end.error
        await this.#listener.onCompacted(end.revision)
      } catch (error) {
        this.#problem = `etcd: ${sayFailure(causeOf(error))}`
        this.#listener.onLost()
        if (failures === 0) log.warn({ reason: this.#problem }, 'the watch of etcd was lost')
        const delayMs = Math.min(limits.etcdReconnectDelayMsMax, 25 * 2 ** Math.min(failures, 6))
        await sleep(clock, delayMs * (0.5 + this.#random() / 2), closing)
      }
    }
  }

  #watchOnce(onCreated: () => void): Promise<WatchEnd> {
    const { client, layout, closing, timeline } = this.#context
    return new Promise((resolve) => {
      this.#end = (error) => {
        this.#watch?.close()
        resolve({ kind: 'failed', error })
      }
      this.#watch = openWatch(client, layout.all, timeline.position + 1, {
        onCreated,
        onEvents: (events) => {
          try {
            this.#listener.onEvents(events)
          } catch (error) {
            this.#end(error instanceof Error ? error : new Error(String(error)))
          }
        },
        onPosition: (revision) => this.#listener.onPosition(revision),
        onEnd: resolve,
      })
      onAbort(closing, () => resolve({ kind: 'failed', error: new Error('closed') }))
    })
  }

  #end: (error: Error) => void = () => {}

  #releaseWaiting(): void {
    for (const release of this.#waiting) release()
  }
}
