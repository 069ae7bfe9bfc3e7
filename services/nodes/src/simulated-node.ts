import { type Client, EventRecorder } from '@orch/client'
import { type ApiObject, printMicroTime, StatusError, toInstant } from '@orch/core/meta'
import { domainGroup } from '@orch/core/names'
import type { PodEvent } from '@orch/core/pod-life'
import type { Node, Pod } from '@orch/core/workloads'
import { type Clock, type Log, sleep, type Timer } from '@orch/platform'
import {
  isHealthy,
  type NodeIdentity,
  nodeAddress,
  nodeLabels,
  nodeLease,
  nodeObject,
  nodeStatus,
  podRange,
  startReasons,
} from './node-object.ts'

export interface SimulatedNodeOptions extends NodeIdentity {
  /** A client that acts as this node. */
  readonly client: Client
  /** The Node as the API has it. Undefined: it has none. */
  readonly read: () => Node | undefined
  readonly clock: Clock
  /** A number in [0, 1). */
  readonly random: () => number
  readonly log: Log
  readonly signal: AbortSignal
}

const renewMs = 10_000
/** A status that does not change is written this often. */
const reportMs = 300_000
/** Spreads the renewals of numbered nodes evenly. */
const goldenRatio = 0.618_033_988_749_895

const nodes = { group: '', version: 'v1', plural: 'nodes', namespaced: false } as const

/** One simulated kubelet: its Node, its Lease, the addresses of its Pods, and its events. */
export class SimulatedNode {
  readonly name: string
  readonly address: string
  readonly client: Client
  /** Admitted Pods that have not finished, by uid. */
  readonly pods = new Map<string, Pod>()
  readonly #options: SimulatedNodeOptions
  readonly #recorder: EventRecorder
  /** Last numbers of addresses that Pods have, by the uid of the Pod. */
  readonly #addresses = new Map<string, number>()
  readonly #timers = new Set<Timer>()
  #isRunning = false

  constructor(options: SimulatedNodeOptions) {
    const { settings, index, client, clock, random, log, signal } = options
    this.name = settings.name
    this.address = nodeAddress(index)
    this.client = client
    this.#options = options
    this.#recorder = new EventRecorder(
      { component: 'kubelet', host: settings.name },
      { client, random, log, signal, now: () => clock.now(), sleep: (delayMs, ending) => sleep(clock, delayMs, ending) },
    )
  }

  get index(): number {
    return this.#options.index
  }

  get isRunning(): boolean {
    return this.#isRunning
  }

  /** Registers the Node, or reports its status if it is there, and begins to renew the Lease. Undefined: nothing happens, as it runs and is registered. */
  async start(): Promise<Node | undefined> {
    if (this.#isRunning && this.#options.read() !== undefined) return undefined
    this.#cancelTimers()
    const { signal } = this.#options
    this.#isRunning = true
    const node = await this.#register()
    if (signal.aborted || !this.#isRunning) return undefined
    const firstMs = Math.ceil(((this.index * goldenRatio) % 1) * renewMs)
    this.#repeat(firstMs, renewMs, () => this.#renew())
    this.#repeat(firstMs + reportMs, reportMs, () => this.#reportStatus())
    signal.addEventListener('abort', () => this.#cancelTimers(), { once: true })
    return node
  }

  /** Makes the Lease and reports the start, after the registration. */
  announce(node: Node): void {
    this.#tryWork(this.#renewLease(node))
    this.#recordStart()
  }

  /** Ends all signs of life, as a machine that is switched off. */
  stop(): void {
    this.#isRunning = false
    this.#cancelTimers()
  }

  /** Resolves when its events are written. */
  async close(): Promise<void> {
    this.stop()
    await this.#recorder.settled()
  }

  async #register(): Promise<Node> {
    const { clock, signal } = this.#options
    const collection = this.client.resource<Node>(nodes)
    try {
      return await collection.create(nodeObject(this.#options, clock.now()), { signal })
    } catch (error) {
      if (!(error instanceof StatusError) || error.reason !== 'AlreadyExists') throw error
    }
    await collection.patch(this.name, { metadata: { labels: nodeLabels(this.#options) } }, { type: 'merge', signal })
    return this.#reportStatus()
  }

  /** One write, and one more if another client has changed the conditions. Nothing for a Node that was deleted: kubelets register at their start. */
  async #renew(): Promise<void> {
    const node = this.#options.read()
    if (node === undefined) return
    await this.#renewLease()
    if (!isHealthy(node)) await this.#reportStatus()
  }

  /** Writes the status of a healthy node. */
  async #reportStatus(): Promise<Node> {
    const { clock, signal } = this.#options
    const collection = this.client.resource<Node>(nodes)
    const { status } = await collection.get(this.name, { signal })
    const next = nodeStatus(this.#options, status.conditions ?? [], clock.now())
    return collection.patch(this.name, { status: next }, { type: 'strategic', subresource: 'status', signal })
  }

  /** One write. A Lease that is gone is made again as long as the Node is there. */
  async #renewLease(known?: Node): Promise<void> {
    const { names, clock, signal } = this.#options
    const leases = this.client.resource({ group: domainGroup(names, 'coordination'), version: 'v1', plural: 'leases', namespaced: true })
    const renewTime = printMicroTime(toInstant(clock.now()))
    const renew = () => leases.patch(this.name, { spec: { renewTime } }, { type: 'merge', namespace: names.nodeLeaseNamespace, signal })
    const create = (node: ApiObject) => leases.create(nodeLease(this.#options, node, clock.now()), { signal })
    const first = known === undefined ? unlessRefused('NotFound', renew) : unlessRefused('AlreadyExists', () => create(known))
    if ((await first) !== undefined) return
    if (known !== undefined) return void (await renew())
    const node = await unlessRefused('NotFound', () => this.client.resource<Node>(nodes).get(this.name, { signal }))
    if (node !== undefined) await unlessRefused('AlreadyExists', () => create(node))
  }

  #repeat(firstMs: number, intervalMs: number, work: () => Promise<unknown>): void {
    const { clock } = this.#options
    const arm = (delayMs: number) => {
      const timer = clock.after(
        delayMs,
        () => {
          this.#timers.delete(timer)
          arm(intervalMs)
          this.#tryWork(work())
        },
        { repeats: true, series: 'node reports' },
      )
      this.#timers.add(timer)
    }
    arm(firstMs)
  }

  /** A report that fails comes again with the next one. */
  #tryWork(work: Promise<unknown>): void {
    const { log, signal } = this.#options
    work.catch((err: unknown) => {
      if (!signal.aborted) log.debug({ err, node: this.name }, 'a node could not report')
    })
  }

  #cancelTimers(): void {
    for (const timer of this.#timers) timer.cancel()
    this.#timers.clear()
  }

  #recordStart(): void {
    const about = { apiVersion: 'v1', kind: 'Node', name: this.name, uid: this.name }
    const record = (reason: string, message: string) => this.#recorder.record(about, { type: 'Normal', reason, message })
    record('Starting', 'Starting kubelet.')
    for (const reason of startReasons) record(reason, `Node ${this.name} status is now: ${reason}`)
    record('NodeAllocatableEnforced', 'Updated Node Allocatable limit across pods')
  }

  /** Reports an event of a Pod. */
  record({ metadata }: Pod, { fieldPath, ...draft }: PodEvent): void {
    const { namespace, name = '', uid = '', resourceVersion } = metadata
    this.#recorder.record({ apiVersion: 'v1', kind: 'Pod', namespace, name, uid, resourceVersion, ...(fieldPath && { fieldPath }) }, draft)
  }

  /** Takes the address that a Pod has already, before another one is given it. */
  keepAddress({ metadata: { uid = '' }, spec, status }: Pod): void {
    if (spec.hostNetwork === true || this.#addresses.has(uid)) return
    const number = lastNumber(status.podIP, podRange(this.index))
    if (number !== undefined) this.#addresses.set(uid, number)
  }

  /** The address of a Pod: the one that it has, or the first free one. Undefined: all of the range are taken. */
  takeAddress({ metadata: { uid = '' }, spec, status }: Pod): string | undefined {
    if (spec.hostNetwork === true) return this.address
    const range = podRange(this.index)
    const taken = new Set(this.#addresses.values())
    const own = this.#addresses.get(uid) ?? lastNumber(status.podIP, range)
    let number = own !== undefined && (this.#addresses.get(uid) === own || !taken.has(own)) ? own : 2
    while (own !== number && taken.has(number)) number += 1
    if (number > 254) return undefined
    this.#addresses.set(uid, number)
    return `${range}.${number}`
  }

  releaseAddress(uid: string): void {
    this.#addresses.delete(uid)
  }
}

function lastNumber(address: string | undefined, range: string): number | undefined {
  if (!address?.startsWith(`${range}.`)) return undefined
  const number = Number(address.slice(range.length + 1))
  return number >= 2 && number <= 254 ? number : undefined
}

async function unlessRefused<T>(reason: string, request: () => Promise<T>): Promise<T | undefined> {
  try {
    return await request()
  } catch (error) {
    if (error instanceof StatusError && error.reason === reason) return undefined
    throw error
  }
}
