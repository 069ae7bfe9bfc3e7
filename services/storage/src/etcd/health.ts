import { Listeners } from '@orch/platform'
import { limits } from '../limits.ts'
import type { ChangeWatch } from './change-watch.ts'
import type { EtcdContext } from './context.ts'
import { causeOf, isAway, sayFailure } from './errors.ts'

/** The reachability of etcd, the size of its database, and its alarms. */
export class EtcdHealth {
  readonly #context: EtcdContext
  readonly #watch: ChangeWatch
  /** Number of members. */
  readonly #servers: number
  readonly #listeners = new Listeners<boolean>()
  /** The error of the last check; '' if etcd was reachable. */
  #unreachable = ''
  #isReachable = true
  /** Number of times that the watch was opened. */
  #openings = 0
  /** The reason why etcd refuses writes. */
  #alarm = ''
  #sizes = { bytes: 0, freeBytes: 0 }
  #statusTimer: { cancel(): void } | undefined
  #checkTimer: { cancel(): void } | undefined

  constructor(context: EtcdContext, watch: ChangeWatch, servers: number) {
    this.#context = context
    this.#watch = watch
    this.#servers = servers
  }

  /** The reason why the store is unusable; '' if it is healthy. */
  get problem(): string {
    return this.#watch.problem || this.#unreachable || this.#alarm
  }

  /** Size of etcd's database, and its reusable part. */
  get sizes(): { readonly bytes: number; readonly freeBytes: number } {
    return this.#sizes
  }

  onReachable(listener: (isReachable: boolean) => void): () => void {
    return this.#listeners.add(listener)
  }

  /** Reads the status now and at intervals. */
  async beginStatus(): Promise<void> {
    this.#statusTimer = this.#context.clock.every(limits.etcdStatusIntervalMs, () => {
      void this.readStatus()
      if (this.#context.isReliable) this.#watch.askPosition()
    })
    await this.readStatus()
  }

  /** Checks at intervals whether etcd answers, because a dead connection may look open while there are few requests. */
  beginChecks(): void {
    if (this.#context.closing.aborted) return
    const pauseMs = this.#unreachable === '' ? limits.etcdCheckMs : limits.etcdReconnectDelayMsMax
    this.#checkTimer = this.#context.clock.after(pauseMs, () => void this.#check())
  }

  /** Called when the watch opens, which shows that etcd answers. */
  watchOpened(): void {
    this.#unreachable = ''
    this.#openings += 1
    this.report()
  }

  /** Notifies listeners when etcd becomes reachable or unreachable. */
  report(): void {
    const isReachable = this.#watch.problem === '' && this.#unreachable === ''
    if (isReachable === this.#isReachable) return
    this.#isReachable = isReachable
    this.#listeners.call(isReachable)
  }

  async readStatus(): Promise<void> {
    const { maintenance } = this.#context.client
    try {
      const { dbSize, dbSizeInUse } = await maintenance.status()
      this.#sizes = { bytes: Number(dbSize), freeBytes: Math.max(0, Number(dbSize) - Number(dbSizeInUse)) }
      const { alarms } = await maintenance.alarm({ action: 'Get' })
      const names = alarms.map(({ alarm }) => alarm).filter((alarm) => alarm !== 'None')
      this.#alarm = names.length === 0 ? '' : `etcd has an alarm: ${[...new Set(names)].join(', ')}`
    } catch (error) {
      this.#context.log.debug({ err: error }, 'the status of etcd could not be read')
    }
  }

  close(): void {
    this.#statusTimer?.cancel()
    this.#checkTimer?.cancel()
  }

  async #check(): Promise<void> {
    const openings = this.#openings
    try {
      await this.#ask()
      this.#unreachable = ''
    } catch (error) {
      // A refusal counts as an answer, and so does a watch that opened meanwhile.
      const isGone = isAway(error) && this.#openings === openings
      this.#unreachable = isGone ? `etcd: ${sayFailure(causeOf(error))}` : ''
    }
    this.report()
    this.beginChecks()
  }

  /** Tries once per member, because one of several may be unavailable. */
  async #ask(): Promise<void> {
    const { client, layout, isReliable, timeline } = this.#context
    for (let left = this.#servers; ; left -= 1) {
      try {
        const revision = await client.check(layout.epoch)
        if (isReliable && revision > timeline.position) {
          this.#watch.askPosition()
          void this.#watch.expect(revision)
        }
        return
      } catch (error) {
        if (left <= 1) throw error
      }
    }
  }
}
