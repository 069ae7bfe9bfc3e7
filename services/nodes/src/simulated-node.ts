import { type Client, EventRecorder, unlessRefused } from '@orch/client'
import { type ApiObject, printMicroTime, toInstant } from '@orch/core/meta'
import { domainGroup } from '@orch/core/names'
import {
  hasStatusChanged,
  healthy,
  hostAddresses,
  hostNetworkAddresses,
  type NodeHealth,
  type PodEvent,
  type Refusal,
  refusalOf,
  registrationPatch,
  resizeRefusalOf,
  shuttingDown,
} from '@orch/core/pod-life'
import type { Node, Pod } from '@orch/core/workloads'
import { onAbort, sleep, type Timer } from '@orch/platform'
import type { Following } from './following.ts'
import {
  csiNode,
  type NodeIdentity,
  nodeAddresses,
  nodeLease,
  nodeObject,
  nodeReport,
  podRanges,
  startReasons,
  usualCapacity,
  withReport,
} from './node-object.ts'
import { nodes } from './requests.ts'
import { type NodeTurns, untilTurn } from './turns.ts'

export interface SimulatedNodeOptions extends NodeIdentity, Pick<Following, 'clock' | 'random' | 'log' | 'signal'> {
  readonly client: Client
  /** The current Node in the API. Undefined if absent. */
  readonly read: () => Node | undefined
  /** True with simulated volumes, for which it has a driver. */
  readonly hasVolumes: boolean
  readonly turns: NodeTurns
  /** Retries the pending resizes of these Pods after resources of the node became free. */
  retryResizes(podsOfNode: Iterable<Pod>): void
}

/** Interval of writing an unchanged status. */
const reportMs = 300_000

/** One simulated kubelet: its Node, its Lease, the addresses of its Pods, and its events. */
export class SimulatedNode {
  readonly name: string
  readonly client: Client
  /** Admitted Pods that have not finished, by uid. */
  readonly pods = new Map<string, Pod>()
  readonly #options: SimulatedNodeOptions
  readonly #recorder: EventRecorder
  /** The last numbers of Pod addresses, by the uid of the Pod. */
  readonly #addresses = new Map<string, number>()
  readonly #timers = new Set<Timer>()
  #isRunning = false
  #health = healthy
  #identity: NodeIdentity
  /** The Node whose CSINode is not written yet. */
  #withoutDriver: Node | undefined
  /** The Node of the last check without differences. */
  #correct: Node | undefined

  constructor(options: SimulatedNodeOptions) {
    const { settings, client, clock, random, log, signal, turns } = options
    this.name = settings.name
    this.client = client
    this.#options = options
    this.#identity = options
    this.#recorder = new EventRecorder(
      { component: 'kubelet', host: settings.name },
      {
        client,
        random,
        log,
        signal,
        turns: turns.event,
        now: () => clock.now(),
        sleep: (delayMs, ending) => sleep(clock, delayMs, ending),
      },
    )
  }

  get index(): number {
    return this.#options.index
  }

  get isRunning(): boolean {
    return this.#isRunning
  }

  /** True for a Node created by a client. */
  get isAdopted(): boolean {
    return this.#options.isAdopted
  }

  get addresses(): readonly string[] {
    const { settings, read } = this.#options
    const reported = hostAddresses(read()?.status.addresses ?? [])
    return reported.length > 0 ? reported : (settings.addresses ?? nodeAddresses(this.#options))
  }

  /** The prefixes of its Pods' addresses: of the Node's ranges with 256 addresses or more, or else of the usual ranges. */
  get #podPrefixes(): readonly string[] {
    const given = (this.#options.read()?.spec.podCIDRs ?? []).flatMap(prefixOf)
    return given.length > 0 ? given : podRanges(this.#options).flatMap(prefixOf)
  }

  /** Registers the Node, or updates the status of an existing one, and starts to renew the Lease. Undefined if it already runs and is registered. */
  async start(): Promise<Node | undefined> {
    if (this.#timers.size > 0 && this.#options.read() !== undefined) return undefined
    const { signal, turns } = this.#options
    this.#isRunning = true
    await turns.starts.take(1)
    if (signal.aborted || !this.#isRunning) return undefined
    const node = await this.#register()
    if (signal.aborted || !this.#isRunning) return undefined
    const turnMs = () => untilTurn(this.index, this.#options.clock.now())
    this.#cancelTimers()
    this.#repeat(turnMs(), turnMs, () => this.#renew())
    this.#repeat(
      turnMs() + reportMs,
      () => reportMs,
      () => this.#writeReport(),
    )
    onAbort(signal, () => this.#cancelTimers())
    return node
  }

  /** Creates the Lease and the CSINode and reports the start, after the registration. */
  announce(node: Node): void {
    if (this.#options.hasVolumes) this.#withoutDriver = node
    this.#tryWork(this.#renewLease(node))
    this.#tryWork(this.#registerDriver())
    this.#recordStart()
  }

  /** Stops all heartbeats, like a machine that is switched off. */
  stop(): void {
    this.#isRunning = false
    this.#cancelTimers()
  }

  /** Resolves when its events are written. */
  async close(): Promise<void> {
    this.stop()
    await this.#recorder.settled()
  }

  async setHealth(health: NodeHealth): Promise<void> {
    if (isShuttingDown(health) && !isShuttingDown(this.#health)) this.#recordOwn('NodeShutdown', 'Shutdown manager detected shutdown event')
    this.#health = health
    this.#correct = undefined
    if (this.#isRunning) await this.#reportChange()
  }

  /** Reports other quantities of resources in addition to its own. A resource that has gone is 0, like the devices of a plugin that has left a kubelet. */
  async setCapacity(capacity: Readonly<Record<string, string>>): Promise<void> {
    const { settings } = this.#options
    const gone = Object.keys(this.#identity.settings.capacity ?? {}).filter((name) => !(name in usualCapacity))
    const none = Object.fromEntries(gone.map((name) => [name, '0']))
    this.#identity = { ...this.#options, settings: { ...settings, capacity: { ...none, ...settings.capacity, ...capacity } } }
    this.#correct = undefined
    if (this.#isRunning) await this.#reportChange()
  }

  async #register(): Promise<Node> {
    const { clock, names, signal } = this.#options
    const collection = this.client.resource<Node>(nodes)
    const wanted = nodeObject(this.#identity, this.#health, clock.now())
    const created = this.isAdopted ? undefined : await unlessRefused(['AlreadyExists'], () => collection.create(wanted, { signal }))
    if (created !== undefined) return created
    const patch = registrationPatch(await collection.get(this.name, { signal }), wanted, names)
    if (patch !== undefined) await collection.patch(this.name, patch, { type: 'merge', signal })
    return this.#writeReport()
  }

  /** One write, and another if the status has changed. Nothing for a deleted Node, as kubelets register only at their start. */
  async #renew(): Promise<void> {
    await this.#options.turns.renewals.take(1)
    if (this.#options.read() === undefined) return
    await this.#renewLease()
    await this.#registerDriver()
    await this.#reportChange()
  }

  async #reportChange(): Promise<void> {
    const { clock, read } = this.#options
    const node = read()
    if (node === undefined || node === this.#correct) return
    const { status: before } = node
    const { status, events } = nodeReport(this.#identity, { health: this.#health, before, nowMs: clock.now() })
    if (!hasStatusChanged(before, withReport(before, status))) {
      this.#correct = node
      return
    }
    await this.#writeReport()
    for (const reason of events) this.#recordStatus(reason)
  }

  async #writeReport(): Promise<Node> {
    const { clock, signal } = this.#options
    const collection = this.client.resource<Node>(nodes)
    const { status: before } = await collection.get(this.name, { signal })
    const { status } = nodeReport(this.#identity, { health: this.#health, before, nowMs: clock.now() })
    // Two addresses may have one type, which is their merge key.
    const addresses = [...(status.addresses ?? []), { $patch: 'replace' }]
    return collection.patch(this.name, { status: { ...status, addresses } }, { type: 'strategic', subresource: 'status', signal })
  }

  /** One write. A deleted Lease is created again while the Node exists. */
  async #renewLease(known?: Node): Promise<void> {
    const { names, clock, signal } = this.#options
    const leases = this.client.resource({ group: domainGroup(names, 'coordination'), version: 'v1', plural: 'leases', namespaced: true })
    const renewTime = printMicroTime(toInstant(clock.now()))
    const renew = () => leases.patch(this.name, { spec: { renewTime } }, { type: 'merge', namespace: names.nodeLeaseNamespace, signal })
    const create = (node: ApiObject) => leases.create(nodeLease(this.#options, node, clock.now()), { signal })
    const first = known === undefined ? unlessRefused(['NotFound'], renew) : unlessRefused(['AlreadyExists'], () => create(known))
    if ((await first) !== undefined) return
    if (known !== undefined) return void (await renew())
    const node = await unlessRefused(['NotFound'], () => this.client.resource<Node>(nodes).get(this.name, { signal }))
    if (node !== undefined) await unlessRefused(['AlreadyExists'], () => create(node))
  }

  /** The CSINode of an earlier Node is deleted with it. */
  async #registerDriver(): Promise<void> {
    const { names, signal } = this.#options
    const node = this.#withoutDriver
    if (node === undefined) return
    const csiNodes = this.client.resource({ group: domainGroup(names, 'storage'), version: 'v1', plural: 'csinodes', namespaced: false })
    const wanted = csiNode(this.#options, node)
    const created = await unlessRefused(['AlreadyExists'], () => csiNodes.create(wanted, { signal }))
    if (created === undefined) await csiNodes.patch(this.name, wanted, { type: 'merge', signal })
    if (this.#withoutDriver === node) this.#withoutDriver = undefined
  }

  #repeat(firstMs: number, nextMs: () => number, work: () => Promise<unknown>): void {
    const { clock } = this.#options
    const arm = (delayMs: number) => {
      const timer = clock.after(
        delayMs,
        () => {
          this.#timers.delete(timer)
          arm(nextMs())
          this.#tryWork(work())
        },
        { repeats: true, series: 'node reports' },
      )
      this.#timers.add(timer)
    }
    arm(firstMs)
  }

  /** A failed report is repeated with the next one. */
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
    this.#recordOwn('Starting', 'Starting kubelet.')
    for (const reason of startReasons) this.#recordStatus(reason)
    this.#recordOwn('NodeAllocatableEnforced', 'Updated Node Allocatable limit across pods')
  }

  #recordStatus(reason: string): void {
    this.#recordOwn(reason, `Node ${this.name} status is now: ${reason}`)
  }

  #recordOwn(reason: string, message: string): void {
    this.#recorder.record({ apiVersion: 'v1', kind: 'Node', name: this.name, uid: this.name }, { type: 'Normal', reason, message })
  }

  record({ metadata }: Pod, { fieldPath, ...draft }: PodEvent): void {
    const { namespace, name = '', uid = '', resourceVersion } = metadata
    this.#recorder.record({ apiVersion: 'v1', kind: 'Pod', namespace, name, uid, resourceVersion, ...(fieldPath && { fieldPath }) }, draft)
  }

  /** Reserves the existing address of a Pod before another one gets it. */
  keepAddress({ metadata: { uid = '' }, spec, status }: Pod): void {
    if (!status.podIP || spec.hostNetwork === true || this.#addresses.has(uid)) return
    const number = lastNumber(status.podIP, this.#podPrefixes)
    if (number !== undefined) this.#addresses.set(uid, number)
  }

  /** The addresses of a Pod: its existing ones, or the first free one. Undefined if all of the range are used. */
  takeAddresses({ metadata: { uid = '' }, spec, status }: Pod): readonly string[] | undefined {
    if (spec.hostNetwork === true)
      return hostNetworkAddresses(
        (status.podIPs ?? []).map(({ ip = '' }) => ip),
        this.addresses,
      )
    const prefixes = this.#podPrefixes
    const taken = new Set(this.#addresses.values())
    const own = this.#addresses.get(uid) ?? lastNumber(status.podIP, prefixes)
    let number = own !== undefined && (this.#addresses.get(uid) === own || !taken.has(own)) ? own : 2
    while (own !== number && taken.has(number)) number += 1
    if (number > 254) return undefined
    this.#addresses.set(uid, number)
    return prefixes.map((prefix) => printAddress(prefix, number))
  }

  /** The reason to refuse a new Pod; undefined if the node accepts it. */
  refusalOf(pod: Pod, node: Node): Refusal | undefined {
    const { names, level } = this.#options
    if (isShuttingDown(this.#health)) return { reason: 'NodeShutdown', message: 'Pod was rejected as the node is shutting down.' }
    return refusalOf({ pod, node, others: [...this.pods.values()], names, level })
  }

  /** The reason to refuse new resources to one of its Pods. Accepted resources count from now on. */
  admitResize(pod: Pod): Refusal | undefined {
    const { read, level, retryResizes } = this.#options
    const node = read()
    const refusal = node && resizeRefusalOf({ pod, node, others: [...this.pods.values()], level })
    if (refusal !== undefined) return refusal
    this.pods.set(pod.metadata.uid ?? '', pod)
    retryResizes(this.pods.values())
    return undefined
  }

  release(uid: string): void {
    if (this.pods.delete(uid)) this.#options.retryResizes(this.pods.values())
  }

  releaseAddress(uid: string): void {
    this.#addresses.delete(uid)
  }
}

const isShuttingDown = ({ problems }: NodeHealth) => problems.includes(shuttingDown)

/** `10.244.0.` of 10.244.0.0/24, `fd00:10:244:1::` of fd00:10:244:1::/64; none of a range without 256 such addresses. */
function prefixOf(range: string): string[] {
  const [, prefix, length] = /^((?:\d+\.){3})\d+\/(\d+)$/.exec(range) ?? /^((?:[\da-f]+:){1,6}:|::)\/(\d+)$/.exec(range) ?? []
  return prefix === undefined || Number(length) > (prefix.includes(':') ? 120 : 24) ? [] : [prefix]
}

function printAddress(prefix: string, number: number): string {
  return `${prefix}${number.toString(prefix.includes(':') ? 16 : 10)}`
}

function lastNumber(address: string | undefined, prefixes: readonly string[]): number | undefined {
  const prefix = prefixes.find((one) => address?.startsWith(one))
  if (prefix === undefined || address === undefined) return undefined
  const number = Number.parseInt(address.slice(prefix.length), prefix.includes(':') ? 16 : 10)
  return number >= 2 && number <= 254 && address === printAddress(prefix, number) ? number : undefined
}
