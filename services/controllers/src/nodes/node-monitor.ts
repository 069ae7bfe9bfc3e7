import { type InformerEvent, unlessGone } from '@orch/client'
import { getOrMake } from '@orch/core/memo'
import { printTime, toInstant } from '@orch/core/meta'
import { domainGroup } from '@orch/core/names'
import {
  type HealthLook,
  hasTaint,
  isExcluded,
  type Lease,
  lookAtHealth,
  type NodeHealth,
  noExecuteOf,
  type ReadyStatus,
  renewedHealth,
  silentHealth,
  stepZones,
  TaintQueue,
  type ZoneOptions,
  type ZoneStates,
  zoneKeyOf,
} from '@orch/core/node-lifecycle'
import type { Node, Pod } from '@orch/core/workloads'
import type { ControllerContext } from '../controller.ts'
import { done, keyOf, mapped, type ReconcilerSpec, type Result, requeueAfter, type Waking, type World } from '../reconciler/index.ts'
import { changeTaints, writeNode } from './node-writes.ts'
import { nodeNameOf, PodsByNode } from './pods-by-node.ts'
import { settleAll } from './settle-all.ts'

export interface NodeMonitorOptions extends ZoneOptions {
  /** Interval of checks after the start. */
  readonly monitorPeriodMs: number
  /** Maximum silence of a node. */
  readonly graceMs: number
  /** Maximum silence of a new node before its first report. */
  readonly startupGraceMs: number
  /** True to read a lease again before its node counts as silent. */
  readonly checksLeases: boolean
}

/** Checks that have no result while nodes report. */
const watching = { watches: 'node reports' } as const

/** Keys other than those of Pods, which contain a slash. */
const [allNodes, allTaints] = ['nodes', 'taints']

/** The Ready status of a node before and after a check. */
type Seen = Pick<HealthLook, 'observed' | 'current' | 'expiresMs'>

/**
 * Evaluates the health of nodes: sets the conditions of silent nodes to Unknown, adds a NoExecute taint to nodes that are not ready at the rate of their
 * zone, and sets their Pods not ready. A check runs only when an event, or the end of a grace period, makes a difference.
 */
export class NodeMonitor {
  readonly #options: NodeMonitorOptions
  readonly #context: ControllerContext
  readonly #loop: Waking
  readonly #startMs: number
  readonly #bound = new PodsByNode()
  readonly #pods = mapped<Pod>('v1', 'pods', (event) => this.#keysOfPod(event))
  readonly #nodes = mapped<Node>('v1', 'nodes', (event) => this.#showNode(event))
  readonly #leases
  /** Nodes with a registration event, by uid. */
  readonly #known = new Map<string, string>()
  readonly #health = new Map<string, NodeHealth>()
  readonly #queues = new Map<string, TaintQueue>()
  /** Nodes whose Pods could not all be marked. */
  readonly #unmarked = new Set<string>()
  #states: ZoneStates = new Map()

  constructor(options: NodeMonitorOptions, context: ControllerContext, loop: Waking) {
    const { names, clock } = context
    this.#options = options
    this.#context = context
    this.#loop = loop
    this.#startMs = clock.monotonic()
    this.#leases = mapped<Lease>(`${domainGroup(names, 'coordination')}/v1`, 'leases', (event) => this.#showLease(event), {
      select: { namespace: names.nodeLeaseNamespace },
    })
  }

  get spec(): ReconcilerSpec<undefined> {
    return {
      watches: [this.#nodes, this.#pods, this.#leases],
      keys: [allNodes],
      queue: 'node_lifecycle_controller_pods',
      component: 'node-controller',
      reconcile: async ({ key, world }) => {
        if (key === allNodes) return this.#lookAtAll(world)
        if (key === allTaints) return this.#taintNodes(world)
        const pod = world.read(this.#pods).get(key)
        const status = pod && this.#readyOf(pod)
        if (pod !== undefined && status !== undefined && status !== 'True') await this.#markPod(world, pod)
        return done
      },
    }
  }

  /** A Pod on a ready node needs no pass: when the node becomes unready, all of its Pods are marked. */
  #keysOfPod(event: InformerEvent<Pod>): string[] {
    this.#bound.showPod(event)
    const { kind, object: pod } = event
    const isBound = nodeNameOf(pod) !== '' && (kind === 'added' || (kind === 'updated' && nodeNameOf(event.before) === ''))
    return isBound && this.#readyOf(pod) !== 'True' ? [keyOf(pod)] : []
  }

  /** The Ready status of a Pod's node; undefined if the node has not been checked yet. */
  #readyOf(pod: Pod): ReadyStatus | undefined {
    return this.#health.get(nodeNameOf(pod))?.ready?.status
  }

  #showNode(event: InformerEvent<Node>): string[] {
    return this.#wakeAtTick(event.kind === 'updated' && this.#isHeartbeat(event.before, event.object))
  }

  /** A change that only affects the check of a silent node. */
  #isHeartbeat(before: Node, after: Node): boolean {
    const { names } = this.#context
    const partsOf = ({ metadata, spec, status }: Node) => {
      const ready = status.conditions?.find(({ type }) => type === 'Ready')?.status
      const taints = spec.taints?.map(({ key, effect }) => `${key}:${effect}`)
      return JSON.stringify([ready, taints, zoneKeyOf(names, metadata), isExcluded(names, metadata)])
    }
    return partsOf(before) === partsOf(after)
  }

  /** A renewal for a ready node counts now instead of at the next tick, which then needs no check. */
  #showLease({ kind, object: lease }: InformerEvent<Lease>): string[] {
    const { name = '' } = lease.metadata
    const health = this.#health.get(name)
    if (kind !== 'updated' || health?.renewTime === undefined || health.ready?.status !== 'True') return this.#wakeAtTick(true)
    this.#health.set(name, renewedHealth(health, lease, this.#context.clock.now() + this.#untilTickMs()))
    return []
  }

  #wakeAtTick(isHeartbeat: boolean): string[] {
    this.#loop.wake(allNodes, this.#untilTickMs(), isHeartbeat ? watching : {})
    return []
  }

  /** Time until the next tick after a given time, which is now by default. */
  #untilTickMs(atLeastMs = 0): number {
    const { monitorPeriodMs } = this.#options
    const sinceMs = this.#context.clock.monotonic() - this.#startMs
    const ticks = Math.max(Math.floor(sinceMs / monitorPeriodMs) + 1, Math.ceil((sinceMs + atLeastMs) / monitorPeriodMs))
    return ticks * monitorPeriodMs - sinceMs
  }

  async #lookAtAll(world: World): Promise<Result> {
    const { names, clock } = this.#context
    const nodes = [...world.read(this.#nodes).values()]
    await this.#registerNodes(world, nodes)
    const seen = new Map<Node, Seen>()
    await settleAll(nodes, async (node) => {
      const look = await this.#lookAt(world, node)
      if (look === undefined) return
      seen.set(node, look)
      await this.#followStatus(world, node, look)
    })
    const zones = new Map<string, (ReadyStatus | undefined)[]>()
    for (const [{ metadata }, { current }] of seen) {
      if (isExcluded(names, metadata)) continue
      const zone = zoneKeyOf(names, metadata)
      zones.set(zone, [...(zones.get(zone) ?? []), current])
    }
    await this.#judgeZones(world, nodes, zones)
    this.#loop.wake(allTaints)
    if (this.#unmarked.size > 0 || seen.size < nodes.length) return requeueAfter(this.#untilTickMs())
    const expiries = [...seen.values()].flatMap(({ expiresMs }) => (expiresMs === undefined ? [] : [expiresMs]))
    const isLeaseDue = nodes.some((node) => this.#isLeaseDue(world, node))
    if (expiries.length === 0 && !isLeaseDue) return done
    const waitMs = isLeaseDue ? 0 : Math.max(0, Math.min(...expiries) + 1 - clock.now())
    return requeueAfter(this.#untilTickMs(waitMs), watching)
  }

  /** A new lease counts at the next check. */
  #isLeaseDue(world: World, node: Node): boolean {
    return this.#leaseOf(world, node) !== undefined && this.#health.get(node.metadata.name ?? '')?.renewTime === undefined
  }

  #leaseOf(world: World, { metadata: { name } }: Node): Lease | undefined {
    return world.read(this.#leases).get(`${this.#context.names.nodeLeaseNamespace}/${name}`)
  }

  /** Reports added and removed nodes. */
  async #registerNodes(world: World, nodes: readonly Node[]): Promise<void> {
    const { names, clock } = this.#context
    const present = new Set(nodes.map(({ metadata }) => metadata.name ?? ''))
    for (const node of nodes) {
      const zone = zoneKeyOf(names, node.metadata)
      if (!this.#queues.has(zone)) this.#queues.set(zone, new TaintQueue(this.#options.evictionRate, clock.monotonic()))
    }
    const added = nodes.filter(({ metadata: { name = '' } }) => !this.#known.has(name))
    await settleAll(added, (node) => {
      const { name = '', uid = '' } = node.metadata
      this.#known.set(name, uid)
      this.#recordEvent(world, { name, uid }, 'RegisteredNode', `event: Registered Node ${name} in Controller`)
      return this.#markReachable(world, node)
    })
    for (const [name, uid] of this.#known) {
      if (present.has(name)) continue
      this.#recordEvent(world, { name, uid }, 'RemovingNode', `event: Removing Node ${name} from Controller`)
      for (const queue of this.#queues.values()) queue.remove(name)
      for (const memory of [this.#known, this.#health, this.#unmarked]) memory.delete(name)
    }
  }

  #recordEvent(world: World, { name, uid }: { readonly name: string; readonly uid: string }, reason: string, text: string): void {
    world.record({ apiVersion: 'v1', kind: 'Node', name, uid }, { type: 'Normal', reason, message: `Node ${name} ${text}` })
  }

  /** Undefined if the node is gone, or its health is unknown now. */
  async #lookAt(world: World, node: Node): Promise<Seen | undefined> {
    const { clock, signal } = this.#context
    const { name = '' } = node.metadata
    const nodes = world.collection(this.#nodes)
    let found: Seen | undefined
    const isWritten = await writeNode(node, { nodes, signal }, (current) => {
      const lease = this.#leaseOf(world, node)
      const look = lookAtHealth(this.#health.get(name), current, lease, { nowMs: clock.now(), ...this.#options })
      this.#health.set(name, look.health)
      found = look
      const { conditions } = look
      return (
        conditions &&
        this.#writeConditions(world, current, conditions, () => {
          this.#health.set(name, silentHealth(look.health, conditions, lease))
        }).then((isDone) => {
          if (!isDone) found = undefined
        })
      )
    })
    return isWritten ? found : undefined
  }

  /** False if the cached lease is outdated, so that nothing is known about the node. */
  async #writeConditions(world: World, node: Node, conditions: HealthLook['conditions'], succeeded: () => void): Promise<boolean> {
    const { names, signal } = this.#context
    const { name = '' } = node.metadata
    if (this.#options.checksLeases) {
      const namespace = names.nodeLeaseNamespace
      const live = await unlessGone(() => world.collection(this.#leases).get(name, { namespace, signal }))
      if (live !== undefined && live.metadata.resourceVersion !== this.#leaseOf(world, node)?.metadata.resourceVersion) return false
    }
    const status = { ...node.status, conditions }
    await world.collection(this.#nodes).update({ ...node, status }, { subresource: 'status', signal })
    succeeded()
    return true
  }

  /** Updates taints, events and Pods by the Ready status. */
  async #followStatus(world: World, node: Node, { observed, current }: Seen): Promise<void> {
    const { name = '', uid = '' } = node.metadata
    if (current !== undefined) {
      await this.#queueTaint(world, node, current)
      const isTurn = current !== 'True' && observed === 'True'
      if (isTurn) this.#recordEvent(world, { name, uid }, 'NodeNotReady', 'status is now: NodeNotReady')
      if (isTurn || (this.#unmarked.has(name) && observed !== 'True')) {
        this.#unmarked.add(name)
        const pods = [...this.#bound.keysOn(name)].flatMap((key) => world.read(this.#pods).get(key) ?? [])
        await settleAll(pods, (pod) => this.#markPod(world, pod))
      }
    }
    this.#unmarked.delete(name)
  }

  /** A node with the taint of another status gets the taint of this status at once; a ready node loses both. */
  async #queueTaint(world: World, node: Node, status: ReadyStatus): Promise<void> {
    if (status === 'True') return this.#markReachable(world, node)
    const { name = '' } = node.metadata
    const { wanted, opposite } = this.#taintsFor(status)
    if (hasTaint(node.spec.taints, opposite)) return void (await this.#swapTaints(world, node, status))
    const queue = this.#queueOf(node)
    if (!hasTaint(node.spec.taints, wanted)) queue.remove(name)
    queue.add(name)
  }

  #taintsFor(status: ReadyStatus) {
    const { notReady, unreachable } = noExecuteOf(this.#context.names)
    return status === 'Unknown' ? { wanted: unreachable, opposite: notReady } : { wanted: notReady, opposite: unreachable }
  }

  #queueOf({ metadata }: Node): TaintQueue {
    const { names, clock } = this.#context
    const zone = zoneKeyOf(names, metadata)
    return getOrMake(this.#queues, zone, () => new TaintQueue(this.#options.evictionRate, clock.monotonic()))
  }

  #swapTaints(world: World, node: Node, status: ReadyStatus): Promise<boolean> {
    const { clock, signal } = this.#context
    const { wanted, opposite } = this.#taintsFor(status)
    const change = { added: [wanted], removed: [opposite] }
    return changeTaints(node, change, clock.now(), { nodes: world.collection(this.#nodes), signal })
  }

  async #markReachable(world: World, node: Node): Promise<void> {
    const { names, clock, signal } = this.#context
    const { notReady, unreachable } = noExecuteOf(names)
    const removed = [notReady, unreachable].filter((taint) => hasTaint(node.spec.taints, taint))
    const nodes = world.collection(this.#nodes)
    if (removed.length > 0) await changeTaints(node, { added: [], removed }, clock.now(), { nodes, signal })
    this.#queueOf(node).remove(node.metadata.name ?? '')
  }

  async #judgeZones(world: World, nodes: readonly Node[], zones: ReadonlyMap<string, readonly (ReadyStatus | undefined)[]>): Promise<void> {
    const { clock } = this.#context
    const { states, rates, turn } = stepZones(this.#states, zones, this.#options)
    this.#states = states
    for (const [zone, rate] of rates) this.#queues.get(zone)?.setRate(rate, clock.monotonic())
    if (turn === 'stopped') await settleAll(nodes, (node) => this.#markReachable(world, node))
    if (turn !== 'resumed') return
    for (const [name, health] of this.#health) this.#health.set(name, { ...health, probeMs: clock.now() })
    this.#loop.wake(allNodes, this.#untilTickMs(), { background: true })
  }

  /** Adds the taint to the nodes that may get it now. */
  async #taintNodes(world: World): Promise<Result> {
    const { clock } = this.#context
    const waits: number[] = []
    for (const queue of this.#queues.values()) {
      for (let name = queue.take(clock.monotonic()); name !== undefined; name = queue.take(clock.monotonic())) {
        const node = world.read(this.#nodes).get(name)
        const status = this.#health.get(name)?.ready?.status
        if (node === undefined || status === undefined || status === 'True') continue
        let isSet = false
        try {
          isSet = await this.#swapTaints(world, node, status)
        } finally {
          if (!isSet) queue.putBack(name)
        }
      }
      const waitMs = queue.waitMs(clock.monotonic())
      if (waitMs !== undefined) waits.push(waitMs)
    }
    return waits.length === 0 ? done : requeueAfter(Math.min(...waits))
  }

  /** Sets the Pod not ready if its condition says ready. */
  async #markPod(world: World, pod: Pod): Promise<void> {
    const { clock, signal } = this.#context
    const { name = '', namespace, uid, resourceVersion } = pod.metadata
    const ready = pod.status.conditions?.find(({ type }) => type === 'Ready')
    if (ready === undefined || ready.status === 'False') return
    const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: printTime(toInstant(clock.now())) }]
    const patch = { metadata: { uid }, status: { conditions } }
    const options = { type: 'strategic', subresource: 'status', namespace, signal } as const
    const written = await unlessGone(() => world.collection(this.#pods).patch(name, patch, options))
    if (written === undefined) return
    const about = { apiVersion: 'v1', kind: 'Pod', namespace, name, uid, resourceVersion }
    world.record(about, { type: 'Warning', reason: 'NodeNotReady', message: 'Node is not ready' })
  }
}
