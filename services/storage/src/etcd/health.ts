import { Listeners } from '@orch/platform'
import { etcdCheckMs, etcdReconnectDelayMsMax, etcdStatusIntervalMs } from '../limits.ts'
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
  /** Why etcd could not be reached in the last check. */
  #unreachable = ''
  #isReachable = true
  /** Number of times that the watch was opened. */
  #openings = 0
  /** Why etcd itself takes no writes. */
  #alarm = ''
  #sizes = { bytes: 0, freeBytes: 0 }
  #statusTimer: { cancel(): void } | undefined
  #checkTimer: { cancel(): void } | undefined

  constructor(context: EtcdContext, watch: ChangeWatch, servers: number) {
    this.#context = context
    this.#watch = watch
    this.#servers = servers
  }

  /** Why the store is of no use for now; '' where nothing is wrong. */
  get problem(): string {
    return this.#watch.problem || this.#unreachable || this.#alarm
  }

  /** Size of etcd's database, and the part of it that later writes can use. */
  get sizes(): { readonly bytes: number; readonly freeBytes: number } {
    return this.#sizes
  }

  onReachable(listener: (isReachable: boolean) => void): () => void {
    return this.#listeners.add(listener)
  }

  /** Reads the status now and regularly from now on. */
  async beginStatus(): Promise<void> {
    this.#statusTimer = this.#context.clock.every(etcdStatusIntervalMs, () => {
      void this.readStatus()
      if (this.#context.isReliable) this.#watch.askPosition()
    })
    await this.readStatus()
  }

  /** Checks regularly from now on whether etcd answers: a connection may be dead and look alive, and requests may be rare. */
  beginChecks(): void {
    if (this.#context.closing.aborted) return
    const pauseMs = this.#unreachable === '' ? etcdCheckMs : etcdReconnectDelayMsMax
    this.#checkTimer = this.#context.clock.after(pauseMs, () => void this.#check())
  }

  /** The watch was opened, so etcd has answered. */
  watchOpened(): void {
    this.#unreachable = ''
    this.#openings += 1
    this.report()
  }

  /** Tells listeners where etcd became reachable or unreachable. */
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
      // A refusal is an answer, and so is a watch that was opened meanwhile.
      const isGone = isAway(error) && this.#openings === openings
      this.#unreachable = isGone ? `etcd: ${sayFailure(causeOf(error))}` : ''
    }
    this.report()
    this.beginChecks()
  }

  /** Asks as often as there are members: one of several may be away. */
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
