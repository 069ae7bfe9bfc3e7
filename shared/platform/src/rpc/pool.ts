import { serviceUnavailable, timeout } from '@orch/core/meta'
import { onAbort } from '../abort.ts'
import type { Timer } from '../clock.ts'
import { type Lookup, type RpcAddress, resolveTargets, type Target } from './address.ts'
import { rpcLimits } from './limits.ts'
import { Replica, type ReplicaOptions } from './replica.ts'

/** The addresses of a service's replicas, and the options of their connections. */
export interface PoolOptions extends Pick<ReplicaOptions, 'service' | 'credentialsFor' | 'clock' | 'random' | 'log'> {
  readonly addresses: readonly RpcAddress[]
  readonly lookup: Lookup
}

/** The wait of a call for a replica. */
export interface Patience {
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** Calls and streams are balanced separately. */
export type Load = keyof Replica['inFlight']

interface Waiting {
  readonly load: Load
  resolve(replica: Replica): void
}

/** The replicas of one service. A call goes to the replica with the fewest open calls of its kind; doubtful ones are used only if all are. */
export class Pool {
  readonly #options: PoolOptions
  readonly #replicas = new Map<string, Replica>()
  readonly #waiting = new Set<Waiting>()
  readonly #resolving: Timer | undefined
  readonly #reached = Promise.withResolvers<void>()
  #ready: readonly Replica[] = []
  #closed = false

  constructor(options: PoolOptions) {
    this.#options = options
    void this.#resolve()
    if (options.addresses.every(({ kind }) => kind === 'one')) return
    this.#resolving = options.clock.every(rpcLimits.resolveMs, () => void this.#resolve())
  }

  /** True if a replica accepts calls now. */
  get isReady(): boolean {
    return this.#ready.length > 0
  }

  /** Resolves when a replica accepts calls for the first time. */
  get reached(): Promise<void> {
    return this.#reached.promise
  }

  /** A replica that accepts calls now, or undefined. */
  pick(load: Load): Replica | undefined {
    let best: Replica | undefined
    // A random start shares the calls among equally loaded replicas.
    const offset = this.#ready.length > 1 ? Math.floor(this.#options.random() * this.#ready.length) : 0
    for (let index = 0; index < this.#ready.length; index += 1) {
      const replica = this.#ready[(index + offset) % this.#ready.length]
      if (replica === undefined) continue
      if (best === undefined || isBetter(replica, best, load)) best = replica
    }
    return best
  }

  /** True if a replica accepts calls and is not doubtful. */
  get hasUndoubted(): boolean {
    return this.#ready.some(({ isDoubtful }) => !isDoubtful)
  }

  /** Like `pick`, but waits for a replica if none accepts calls. */
  async wait(load: Load, { timeoutMs = Number.POSITIVE_INFINITY, signal }: Patience): Promise<Replica> {
    const { service, clock } = this.#options
    const unreachable = () => serviceUnavailable(`no replica of ${service} can be reached`, { retryAfterSeconds: 1 })
    if (signal?.aborted) throw timeout('the call was cancelled')
    if (this.#closed || this.#waiting.size >= rpcLimits.waitingCallsMax) throw unreachable()
    return new Promise((resolve, reject) => {
      const stop = () => {
        timer.cancel()
        this.#waiting.delete(waiting)
        signal?.removeEventListener('abort', cancel)
      }
      const cancel = () => {
        stop()
        reject(timeout('the call was cancelled'))
      }
      const waiting: Waiting = {
        load,
        resolve(replica) {
          stop()
          resolve(replica)
        },
      }
      const timer = clock.after(Math.min(timeoutMs, rpcLimits.waitMsMax), () => {
        stop()
        reject(unreachable())
      })
      this.#waiting.add(waiting)
      onAbort(signal, cancel)
    })
  }

  close(): void {
    this.#closed = true
    this.#resolving?.cancel()
    for (const replica of this.#replicas.values()) replica.close()
  }

  async #resolve(): Promise<void> {
    const { addresses, lookup, log, service } = this.#options
    const found = await Promise.allSettled(addresses.map((address) => resolveTargets(address, lookup)))
    if (this.#closed) return
    const targets = found.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
    for (const target of targets) this.#add(target)
    const failure = found.find((result) => result.status === 'rejected')
    // A failed lookup does not affect known replicas.
    if (failure !== undefined) log.warn({ err: failure.reason, service }, 'the addresses of a service cannot be looked up')
    else this.#keepOnly(new Set(targets.map(({ address }) => address)))
  }

  #add(target: Target): void {
    if (this.#replicas.has(target.address)) return
    const onReadiness = () => this.#onReadiness()
    this.#replicas.set(target.address, new Replica({ ...this.#options, target, onReadiness, hasOther: () => this.hasUndoubted }))
  }

  #keepOnly(addresses: ReadonlySet<string>): void {
    for (const [address, replica] of this.#replicas) {
      if (addresses.has(address)) continue
      this.#replicas.delete(address)
      replica.close()
    }
  }

  #onReadiness(): void {
    this.#ready = [...this.#replicas.values()].filter(({ isReady }) => isReady)
    if (this.isReady) this.#reached.resolve()
    for (const waiting of this.#waiting) {
      const replica = this.pick(waiting.load)
      if (replica !== undefined) waiting.resolve(replica)
    }
  }
}

function isBetter(one: Replica, other: Replica, load: Load): boolean {
  return one.isDoubtful === other.isDoubtful ? one.inFlight[load] < other.inFlight[load] : other.isDoubtful
}
