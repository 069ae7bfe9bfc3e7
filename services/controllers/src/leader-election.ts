import { isRefusal, type ResourceAddress, unlessGone } from '@orch/client'
import { domainGroup } from '@orch/core/names'
import type { BuiltIn } from '@orch/core/schema'
import { type Clock, sleep } from '@orch/platform'
import type { Surroundings } from './surroundings.ts'

export interface LeaderElectionOptions extends Surroundings {
  /** Name of the Lease, in the system namespace. */
  readonly lease: string
  /** The holder in the Lease while this replica leads, unique for each replica. */
  readonly identity: string
  /** Runs while this replica leads, until its signal is aborted. */
  readonly lead: (signal: AbortSignal) => Promise<void>
}

/** Time without a renewal after which others take over, by their own clocks. */
const leaseDurationMs = 15_000
/** Time without a renewal after which a leader stops, well before others may start. */
const renewDeadlineMs = 10_000
const retryIntervalMs = 2_000
/** Maximum duration of a request to the gateways, so that a hanging request does not delay the election. */
const answerTimeoutMs = 5_000
/** The number of consecutive failures after which one is logged. */
const loggedFailures = 3

type Lease = BuiltIn<'coordination/v1.Lease'>

/** The last observed Lease, and the time of its last change by the local clock. Times in the Lease come from other clocks and are not used. */
interface Seen {
  readonly resourceVersion: string
  readonly sinceMs: number
}

/** Takes part in an election until the signal is aborted: at most one replica leads. */
export async function runWhileLeading(options: LeaderElectionOptions): Promise<void> {
  const { clock, random, log, identity, signal } = options
  const lease = new HeldLease(options)
  while (!signal.aborted) {
    if (await within(answerTimeoutMs, clock, (late) => lease.tryAcquire(late))) {
      log.info({ identity }, 'leading')
      await leadWhileRenewed(lease, options)
      log.info({ identity }, 'no longer leading')
    }
    await sleep(clock, retryIntervalMs * (1 + random() / 5), signal, { background: true })
  }
}

async function leadWhileRenewed(lease: HeldLease, { clock, log, signal, lead }: LeaderElectionOptions): Promise<void> {
  const ending = new AbortController()
  const over = AbortSignal.any([signal, ending.signal])
  // A leader without its task resigns: this replica or another one starts the task again.
  const leading = lead(over)
    .catch((error: unknown) => log.error({ err: error }, 'a task of the leader has failed'))
    .then(() => ending.abort())
  let renewedMs = clock.monotonic()
  const leftMs = () => renewDeadlineMs - (clock.monotonic() - renewedMs)
  while (!over.aborted && !lease.isLost && leftMs() > 0) {
    await sleep(clock, Math.min(retryIntervalMs, leftMs()), over, { background: true })
    if (over.aborted || leftMs() <= 0) break
    // Others see the time of the write, which is not before the request.
    const askedMs = clock.monotonic()
    if (await within(Math.min(answerTimeoutMs, leftMs()), clock, (late) => lease.renew(late))) renewedMs = askedMs
  }
  ending.abort()
  await leading
  await within(answerTimeoutMs, clock, (late) => lease.release(late))
}

/** Sends a request, and aborts it without an answer in time. */
async function within<T>(timeoutMs: number, clock: Clock, ask: (late: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController()
  const timer = clock.after(timeoutMs, () => late.abort(new DOMException('no answer in time', 'TimeoutError')))
  try {
    return await ask(late.signal)
  } finally {
    timer.cancel()
  }
}

class HeldLease {
  readonly #options: LeaderElectionOptions
  readonly #resource: ResourceAddress
  #held: Lease | undefined
  #seen: Seen | undefined
  /** Time since the last successful read or renewal. */
  #failures = 0

  constructor(options: LeaderElectionOptions) {
    this.#options = options
    this.#resource = { group: domainGroup(options.names, 'coordination'), version: 'v1', plural: 'leases', namespaced: true }
  }

  /** Another replica holds it, to our knowledge. */
  get isLost(): boolean {
    return this.#held === undefined
  }

  async tryAcquire(signal: AbortSignal): Promise<boolean> {
    try {
      const live = await this.#readLease(signal)
      this.#failures = 0
      const { clock, identity } = this.#options
      if (live === undefined) this.#held = await this.#leases.create(this.#filledLease(undefined), { signal })
      else if (this.#mayTake(live)) this.#held = await this.#leases.update(this.#filledLease(live), { signal })
      else return false
      this.#seen = { resourceVersion: this.#held.metadata.resourceVersion ?? '', sinceMs: clock.monotonic() }
      return this.#held.spec?.holderIdentity === identity
    } catch (error) {
      this.#reportFailure(error)
      return false
    }
  }

  async renew(signal: AbortSignal): Promise<boolean> {
    if (this.#held === undefined) return false
    try {
      this.#held = await this.#leases.update(this.#filledLease(this.#held), { signal })
      this.#failures = 0
      return true
    } catch (error) {
      this.#reportFailure(error)
      // Another replica has written the Lease: its holder is read now.
      if (isRefusal(error, [409])) await this.#lookAtLease(signal)
      return false
    }
  }

  /** Lets another replica start at once. */
  async release(signal: AbortSignal): Promise<void> {
    const held = this.#held
    this.#held = undefined
    if (held === undefined) return
    try {
      const { holderIdentity: _holder, ...spec } = held.spec ?? {}
      await this.#leases.update({ ...held, spec: { ...spec, leaseDurationSeconds: 1 } }, { signal })
    } catch (error) {
      this.#reportFailure(error)
    }
  }

  get #leases() {
    return this.#options.client.resource<Lease>(this.#resource)
  }

  async #lookAtLease(signal: AbortSignal): Promise<void> {
    try {
      const live = await this.#readLease(signal)
      this.#held = live?.spec?.holderIdentity === this.#options.identity ? live : undefined
    } catch (error) {
      this.#reportFailure(error)
    }
  }

  #readLease(signal: AbortSignal): Promise<Lease | undefined> {
    return unlessGone(() => this.#leases.get(this.#options.lease, { namespace: this.#options.names.systemNamespace, signal }))
  }

  #mayTake({ metadata, spec }: Lease): boolean {
    const holder = spec?.holderIdentity ?? ''
    if (holder === '' || holder === this.#options.identity) return true
    const nowMs = this.#options.clock.monotonic()
    const resourceVersion = metadata.resourceVersion ?? ''
    if (this.#seen?.resourceVersion !== resourceVersion) this.#seen = { resourceVersion, sinceMs: nowMs }
    return nowMs - this.#seen.sinceMs > leaseDurationMs
  }

  #filledLease(live: Lease | undefined): Lease {
    const { names, lease, identity, clock } = this.#options
    const now = new Date(clock.now()).toISOString().replace('Z', '000Z')
    const isOurs = live?.spec?.holderIdentity === identity
    return {
      apiVersion: `${this.#resource.group}/v1`,
      kind: 'Lease',
      metadata: live?.metadata ?? { name: lease, namespace: names.systemNamespace },
      spec: {
        holderIdentity: identity,
        leaseDurationSeconds: leaseDurationMs / 1_000,
        renewTime: now,
        acquireTime: (isOurs ? live?.spec?.acquireTime : undefined) ?? now,
        leaseTransitions: (live?.spec?.leaseTransitions ?? 0) + (live === undefined || isOurs ? 0 : 1),
      },
    } as Lease
  }

  /** One or two failures are normal when services start together and another replica was first. */
  #reportFailure(error: unknown): void {
    this.#failures += 1
    const { log, lease } = this.#options
    log[this.#failures === loggedFailures ? 'warn' : 'debug']({ err: error, lease }, 'the lease could not be read or written')
  }
}
