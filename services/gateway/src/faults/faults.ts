import { faultsGroup, isControlPath } from '@orch/core/names'
import { type Chance, counter, declareMetrics, type Metrics, type MetricsOf } from '@orch/platform'
import type { Exchange } from '../exchange/exchange.ts'
import { limits } from '../limits.ts'
import { type GatewayRequest, queryBoolean, type RequestInfo } from '../request/index.ts'
import type { Surroundings } from '../surroundings.ts'
import { type Fault, type FaultHandle, FaultRule, type FaultyRequest } from './fault.ts'
import { FaultyCalls } from './faulty-calls.ts'
import { StaleReads } from './stale-reads.ts'
import { WatchFaults } from './watch-faults.ts'

const table = {
  orch_faults_injected_total: counter('Requests and calls that a fault of a test has hit, by name of the fault and its effect.', [
    'fault',
    'effect',
  ]),
}

/** The dependencies of faults. */
export interface FaultsOptions extends Pick<Surroundings, 'clock' | 'log'> {
  readonly chance: Chance
  /** Called for each hit; optional. */
  readonly onHit?: (request: GatewayRequest) => void
}

/** The faults of one server, in insertion order. */
export class Faults {
  readonly #options: FaultsOptions
  readonly #draw: () => number
  readonly watches: WatchFaults
  readonly reads = new StaleReads()
  /** The calls of the server, with their faults. */
  readonly calls: FaultyCalls
  /** Rules that may still hit requests. */
  readonly #rules = new Set<FaultRule>()
  /** Finished rules, oldest first, until they are removed or too many. */
  readonly #ended = new Set<FaultRule>()
  readonly #listeners = new Set<() => void>()
  /** Fingerprints of the client certificates of the test itself. */
  readonly #ownClients = new Map<string, { readonly isHarness: boolean }>()
  #metrics: MetricsOf<typeof table> | undefined
  #added = 0

  constructor(options: FaultsOptions) {
    this.#options = options
    this.#draw = options.chance.stream('faults').fraction
    this.watches = new WatchFaults({ clock: options.clock, onHit: (effect, request) => this.#note(effect, effect, request) })
    this.calls = new FaultyCalls({ clock: options.clock, onHit: (rule, to) => this.#noteCall(rule, to) })
  }

  /** Adds an active fault. An invalid one throws a TypeError or a RangeError. `onHit` is called for each hit. */
  add(fault: Fault, onHit?: () => void): FaultHandle {
    if (this.#rules.size + this.calls.rules.size >= limits.faultsMax)
      throw new RangeError(`there are ${limits.faultsMax} faults already: remove some`)
    this.#added += 1
    const rule = new FaultRule(fault, {
      name: fault.name ?? `fault-${this.#added}`,
      draw: this.#draw,
      clock: this.#options.clock,
      onHit,
      onEnd: (ended) => this.#end(ended),
    })
    if (rule.outgoing !== undefined) this.calls.rules.add(rule)
    else {
      this.#rules.add(rule)
      this.#changed()
    }
    return rule
  }

  /** All faults that were not removed, including finished ones; without dropped ones. */
  list(): readonly FaultRule[] {
    return [...this.#ended, ...this.#rules, ...this.calls.rules]
  }

  /** Removes all faults, also those of watches, and thaws all reads. */
  clear(): void {
    for (const rule of this.list()) rule.remove()
    this.reads.clear()
    this.watches.clear()
  }

  /** True if no rule matches requests. */
  get isEmpty(): boolean {
    return this.#rules.size === 0
  }

  /** True if every fault was removed, also of watches and reads. A finished one may still delay requests. */
  get isClear(): boolean {
    return this.list().length === 0 && this.watches.isClear
  }

  /** Calls back when faults were added or removed. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener)
  }

  /** Metrics of the server that include the faults. */
  countIn(metrics: Metrics): void {
    this.#metrics = declareMetrics(metrics, table)
  }

  /**
   * Registers a client of the test's own process by its certificate: its requests count as work before the server receives them. Only faults that name
   * its user apply to it.
   */
  addClient(sha256: string, how: { readonly isHarness: boolean }): void {
    this.#ownClients.set(sha256, how)
  }

  /** True if the client of an exchange counts its requests as work. */
  isCounted({ peer }: Exchange): boolean {
    return peer.kind === 'certificate' && this.#ownClients.has(peer.sha256)
  }

  /** True for requests of the server's own parts, of the test itself, and for control requests: only faults that name the user apply. */
  spares({ exchange: { peer }, info }: GatewayRequest): boolean {
    if (peer.kind === 'internal' || isOfControl(info)) return true
    return peer.kind === 'certificate' && this.#ownClients.get(peer.sha256)?.isHarness === true
  }

  /** The rules that may match a request, without its body. */
  rulesFor(request: GatewayRequest): readonly FaultRule[] | undefined {
    const { exchange, user, info, query } = request
    if (isOfControl(info)) return undefined
    const { peer } = exchange
    const isOwn = peer.kind === 'internal' || peer.kind === 'console'
    const isSpared = isOwn || (peer.kind === 'certificate' && this.#ownClients.get(peer.sha256)?.isHarness === true)
    const facts: FaultyRequest = {
      user: user.name,
      agent: exchange.header('user-agent') ?? '',
      info,
      get isDryRun() {
        return !query.isEmpty && queryBoolean(query, 'dryRun')
      },
      header: (name) => exchange.header(name),
    }
    let found: FaultRule[] | undefined
    for (const rule of this.#rules) {
      if ((isSpared && !rule.namesUser) || !rule.matches(facts)) continue
      found ??= []
      found.push(rule)
    }
    return found
  }

  /** Records a hit in the request, the log and the metrics. */
  note({ name, effect }: FaultRule, request: GatewayRequest): void {
    this.#note(name, effect.kind, request)
  }

  /** Records a read of the past. */
  noteStale(request: GatewayRequest): void {
    this.#note('staleRead', 'staleRead', request)
  }

  #note(fault: string, effect: string, request: GatewayRequest): void {
    request.fault = fault
    const { method, path, auditId, user } = request
    this.#options.log.info({ fault, effect, method, path, auditId, user: user.name }, 'a fault was injected')
    this.#options.onHit?.(request)
    this.#metrics?.orch_faults_injected_total.inc({ fault, effect })
  }

  #noteCall({ name: fault, effect: { kind: effect } }: FaultRule, to: string): void {
    this.#options.log.info({ fault, effect, to }, 'a fault was injected')
    this.#metrics?.orch_faults_injected_total.inc({ fault, effect })
  }

  #end(rule: FaultRule): void {
    if (rule.isRemoved) this.#ended.delete(rule)
    else this.#ended.add(rule)
    for (const oldest of this.#ended) {
      if (this.#ended.size <= limits.endedFaultsMax) break
      this.#ended.delete(oldest)
    }
    this.calls.rules.delete(rule)
    if (this.#rules.delete(rule)) this.#changed()
  }

  #changed(): void {
    for (const listener of this.#listeners) listener()
  }
}

/** Faults can always be removed, whatever they match. */
function isOfControl(info: RequestInfo): boolean {
  return info.kind === 'resource' ? info.group === faultsGroup : isControlPath(info.path)
}
