import { EventBudget, type InformerEvent } from '@orch/client'
import type { Catalogue } from '@orch/core/catalogue'
import { jsonEqual } from '@orch/core/json'
import {
  type ClaimUse,
  Cluster,
  choose,
  claimNeeds,
  claimOfEarlierAttempt,
  compareDevices,
  type Decision,
  type FilterName,
  freeableClaim,
  mayUseDevices,
  type Node,
  noNodesMessage,
  type Pod,
  type PodInfo,
  planDevices,
  planVolumes,
  podInfoOf,
  preempt,
  refusalMessage,
  type SchedulerProfiles,
  type SchedulingRules,
  schedulingRules,
  type VolumePlan,
} from '@orch/core/scheduling'
import { claimNameOf, type ResourceClaim } from '@orch/core/workloads'
import { aborted, messageOf, TurnBudget } from '@orch/platform'
import type { Controller, ControllerContext } from '../controller.ts'
import { ClaimBindings } from './claim-bindings.ts'
import { ClusterInformers } from './cluster-informers.ts'
import { PodWriter } from './pod-writer.ts'
import { type QueuedPod, SchedulingQueue } from './scheduling-queue.ts'
import { VolumeBindings } from './volume-bindings.ts'

/** Volumes of a Pod on its node, before they are bound or provisioned. */
interface PlannedVolumes {
  readonly plan: VolumePlan
  readonly bindings: VolumeBindings
}

/** Device claims of a Pod on its node, before they are allocated or reserved. */
interface PlannedDevices {
  readonly uses: readonly ClaimUse[]
  readonly bindings: ClaimBindings
}

export interface SchedulerOptions extends Pick<Catalogue, 'level' | 'isGateOn'> {
  /** Name of this host, for events. */
  readonly host: string
  /** A unique id for the share of a device. */
  readonly newUid: () => string
  readonly profiles?: SchedulerProfiles | undefined
}

/** Pending bindings and reports. */
const writesMax = 32
/** Nodes that are looked at in one turn of the event loop: some milliseconds. */
const nodesPerTurn = 2_000
/** Looks at each node for a Pod that fits nowhere: preemption tries nodes again, with fewer Pods. */
const refusedLooks = 4
/** Looks at nodes that take as long as the comparison of one slice of devices with a claim. */
const looksPerSlice = 1_000
/** The name of the work in progress, for clocks that wait for it. */
const work = 'scheduler'

/** Assigns a fitting node to each Pod without one. */
export function schedulerController({ level, isGateOn, profiles, ...options }: SchedulerOptions): Controller {
  return {
    name: 'scheduler',
    async run(context) {
      await context.untilNeeded?.({ kind: 'objects', own: undefined, watched: undefined }, context.signal)
      if (context.signal.aborted) return
      await new Scheduler(context, schedulingRules({ names: context.names, level, isGateOn, profiles }), options).run()
    },
  }
}

class Scheduler {
  readonly #context: ControllerContext
  readonly #rules: SchedulingRules
  readonly #newUid: () => string
  readonly #informers: ClusterInformers
  readonly #cluster: Cluster
  readonly #queue: SchedulingQueue
  readonly #writer: PodWriter
  /** Pods assumed on a node before the server shows it, by key (SCHED-10). */
  readonly #assumed = new Map<string, PodInfo>()
  /** End the waits of Pods for their volumes and devices, by key. */
  readonly #preparing = new Map<string, AbortController>()
  readonly #budget = new TurnBudget(nodesPerTurn)
  readonly #eventBudget = new EventBudget()
  readonly #writes = new Set<Promise<void>>()
  /** Pods that wait for their volumes and devices. */
  readonly #waits = new Set<Promise<void>>()
  #startAt = 0
  #isSynced = false
  #ended: Promise<void> = Promise.resolve()
  #working: Promise<void> | undefined

  constructor(context: ControllerContext, rules: SchedulingRules, { host, newUid }: Pick<SchedulerOptions, 'host' | 'newUid'>) {
    this.#context = context
    this.#newUid = newUid
    this.#rules = rules
    this.#informers = new ClusterInformers(context)
    this.#cluster = new Cluster(this.#informers.objects)
    this.#queue = new SchedulingQueue({ clock: context.clock, rules, onReady: () => this.#startTrying() })
    this.#writer = new PodWriter(context, { rules, host })
  }

  async run(): Promise<void> {
    const { fail, signal } = this.#context
    const ended = aborted(signal)
    const subscriptions = [
      this.#informers.nodes.subscribe({ applyEvent: (event) => this.#applyNode(event), fail }),
      this.#informers.pods.subscribe({ applyEvent: (event) => this.#applyPod(event), fail }),
    ]
    this.#ended = ended
    await Promise.race([this.#informers.synced(), ended])
    this.#isSynced = true
    this.#startTrying()
    await ended
    for (const end of subscriptions) end()
    await this.#informers.close()
    this.#queue.close()
    await this.#working
    await Promise.all([...this.#writes, ...this.#waits])
    await this.#writer.close()
  }

  #applyNode(event: InformerEvent<Node>): void {
    const { kind, object } = event
    const { name = '' } = object.metadata
    if (kind === 'deleted') {
      this.#cluster.removeNode(name)
      return void this.#queue.move({ kind: 'nodeGone' })
    }
    this.#cluster.setNode(object)
    const node = this.#cluster.node(name)
    const { objects } = this.#cluster
    if (node !== undefined) this.#queue.move({ kind: 'node', node, before: kind === 'updated' ? event.before : undefined, objects })
  }

  #applyPod(event: InformerEvent<Pod>): void {
    const { kind, object: pod } = event
    const info = podInfoOf(pod)
    const { key } = info
    if (info.volumes.some((volume) => claimNameOf(pod, volume) !== undefined)) {
      this.#informers.openStorage(this.#rules.level, () => this.#queue.move({ kind: 'storage' }))
    }
    if (this.#usesDevices(info)) this.#informers.openDevices(this.#rules.devices, (change) => this.#queue.move(change))
    const isOver = kind === 'deleted' || pod.status.phase === 'Succeeded' || pod.status.phase === 'Failed'
    if (isOver) return void this.#removePod(info)
    if ((pod.spec.nodeName ?? '') !== '') return void this.#applyPlaced(event, info)
    if (this.#assumed.has(key) || !this.#rules.profiles.has(pod.spec.schedulerName ?? '')) return
    // A nomination by this process may not be visible yet.
    const isNominationNews = kind === 'added' || event.before.status.nominatedNodeName !== pod.status.nominatedNodeName
    this.#cluster.nominate(info, isNominationNews ? pod.status.nominatedNodeName || undefined : this.#cluster.nominationOf(key))
    this.#queue.set(info, kind === 'updated' && isSchedulingChange(event.before, pod))
  }

  #removePod(info: PodInfo): void {
    const { key } = info
    this.#queue.delete(key)
    this.#assumed.delete(key)
    this.#preparing.get(key)?.abort()
    this.#cluster.nominate(info, undefined)
    if (this.#cluster.placeOf(key) === undefined) return
    this.#cluster.removePod(key)
    this.#queue.move({ kind: 'podGone' })
  }

  #applyPlaced(event: InformerEvent<Pod>, info: PodInfo): void {
    this.#queue.delete(info.key)
    this.#assumed.delete(info.key)
    this.#cluster.nominate(info, undefined)
    this.#cluster.addPod(info, info.pod.spec.nodeName ?? '')
    const before = event.kind === 'updated' ? podInfoOf(event.before) : undefined
    if (before !== undefined && hasShrunk(before, info)) this.#queue.move({ kind: 'podGone' })
    const isNews = (before?.pod.spec.nodeName ?? '') === '' || !jsonEqual(before?.labels, info.labels)
    if (!isNews) return
    this.#queue.move({ kind: 'podPlaced', pod: info, before, namespaceLabels: this.#cluster.objects.namespaceLabels(info.namespace) })
  }

  #startTrying(): void {
    if (this.#isSynced && !this.#context.signal.aborted) this.#working ??= this.#tryPods()
  }

  /** Tries Pods until the active queue is empty. */
  async #tryPods(): Promise<void> {
    const { clock, log, signal } = this.#context
    clock.work?.begin(work)
    // Events that arrive together are processed together.
    await undefined
    if (!this.#informers.isSynced) await Promise.race([this.#informers.synced(), this.#ended])
    for (let entry = this.#queue.take(); entry !== undefined && !signal.aborted; entry = this.#queue.take()) {
      try {
        await this.#compareDevices(entry)
        if (this.#queue.get(entry.key) === entry) await this.#budget.take(Math.max(1, this.#tryPod(entry)))
      } catch (err) {
        log.error({ err, pod: entry.key }, 'the placement of a Pod has failed')
        this.#queue.putBack(entry, { hasError: true })
      }
      while (this.#writes.size >= writesMax) await Promise.race(this.#writes)
      if (!this.#informers.isSynced) await Promise.race([this.#informers.synced(), this.#ended])
    }
    // No microtask runs between the last look at the queue and this line: it could make a Pod active that nothing tries.
    this.#working = undefined
    clock.work?.end(work)
  }

  /** A claim that matches none of many devices would hold the turn. */
  async #compareDevices({ info }: QueuedPod): Promise<void> {
    if (!this.#usesDevices(info)) return
    for (const _ of compareDevices(info, this.#cluster, this.#rules)) await this.#budget.take(looksPerSlice)
  }

  #usesDevices(info: PodInfo): boolean {
    return this.#rules.hasDevices && mayUseDevices(info, this.#rules.devices)
  }

  /** Looks for a node for a Pod. Returns the number of looks at nodes. */
  #tryPod(entry: QueuedPod): number {
    const { info } = entry
    if (info.isTerminating) {
      this.#queue.delete(info.key)
      this.#writer.report(info.pod, failed(`skip schedule deleting pod: ${info.key}`))
      return 0
    }
    const { random } = this.#context
    const nodesCount = this.#cluster.nodes.length
    const decision = choose(info, this.#cluster, { rules: this.#rules, random, startAt: this.#startAt })
    switch (decision.kind) {
      case 'placed':
        this.#startAt = (this.#startAt + decision.lookedAt) % Math.max(1, nodesCount)
        this.#placePod(entry, decision.node)
        return decision.lookedAt
      case 'noNodes':
        this.#queue.putBack(entry)
        this.#refusePod(info, 'Unschedulable', noNodesMessage, '')
        return 0
      case 'failed':
        this.#queue.putBack(entry, { hasError: true })
        this.#refusePod(info, 'SchedulerError', decision.message, '')
        return nodesCount
      case 'refused':
        if (decision.ofAll?.isSilent) this.#queue.putBack(entry, { refusedBy: pluginsOf(decision) })
        else this.#makeRoom(entry, decision)
        return nodesCount * refusedLooks
    }
  }

  /** The Pod is assumed on its node from now on; its volumes, devices and the binding are written concurrently with further attempts (SCHED-11). */
  #placePod(entry: QueuedPod, node: string): void {
    const { info } = entry
    const volumes = this.#volumesOn(info, node)
    const devices = this.#devicesOn(info, node)
    this.#assumed.set(info.key, info)
    this.#cluster.nominate(info, undefined)
    this.#cluster.addPod(info, node)
    if (volumes === undefined && devices === undefined) return void this.#writeLater(() => this.#bindPod(entry, node))
    volumes?.bindings.assume(volumes.plan)
    devices?.bindings.assume(devices.uses)
    const binding = this.#prepareAndBind(entry, node, volumes, devices).finally(() => this.#waits.delete(binding))
    this.#waits.add(binding)
  }

  /** The device claims to allocate or reserve for a Pod on a node; undefined for none. */
  #devicesOn(info: PodInfo, name: string): PlannedDevices | undefined {
    const { devices } = this.#informers
    const node = this.#cluster.node(name)
    if (devices === undefined || node === undefined || !this.#usesDevices(info)) return undefined
    const uses = planDevices(info, node, { cluster: this.#cluster, rules: this.#rules, newShareId: this.#newUid })
    return uses.length === 0 ? undefined : { uses, bindings: new ClaimBindings(this.#context, devices, this.#rules) }
  }

  /** The volumes to bind or provision for a Pod on a node; undefined for none. */
  #volumesOn(info: PodInfo, name: string): PlannedVolumes | undefined {
    const { storage } = this.#informers
    const node = this.#cluster.node(name)
    if (storage === undefined || node === undefined) return undefined
    const needs = claimNeeds(info, this.#cluster, this.#rules)
    if (needs.kind !== 'claims' || needs.delayed.length === 0) return undefined
    const plan = planVolumes(needs, node, this.#cluster, this.#rules)
    return { plan, bindings: new VolumeBindings(this.#context, storage, this.#rules) }
  }

  async #prepareAndBind(entry: QueuedPod, node: string, volumes?: PlannedVolumes, devices?: PlannedDevices): Promise<void> {
    let plugin = '"VolumeBinding": binding volumes'
    const ending = new AbortController()
    this.#preparing.set(entry.key, ending)
    const signal = AbortSignal.any([this.#context.signal, ending.signal])
    try {
      if (this.#rules.nominatesBindings) await this.#writer.nominate(entry.info.pod, node)
      await volumes?.bindings.bind(entry.info, node, volumes.plan, signal)
      plugin = '"DynamicResources"'
      await devices?.bindings.bind(entry.info.pod, devices.uses, signal)
      const unprepared = devices?.bindings.unprepared(devices.uses) ?? []
      if (unprepared.length > 0) {
        const note = `waiting for binding conditions for device on node ${node}`
        this.#writer.report(entry.info.pod, { type: 'Normal', reason: 'BindingConditionsPending', action: 'Scheduling', note })
        await devices?.bindings.prepare(unprepared, signal)
      }
    } catch (error) {
      volumes?.bindings.forget(volumes.plan)
      devices?.bindings.forget(devices.uses)
      if (signal.aborted) return
      await devices?.bindings.deleteCreated()
      return this.#forgetPod(entry, node, `running PreBind plugin ${plugin}: ${messageOf(error)}`)
    } finally {
      // A new Pod of this name may have its own wait.
      if (this.#preparing.get(entry.key) === ending) this.#preparing.delete(entry.key)
      // The client's listener would keep the signal until the scheduler ends.
      ending.abort()
    }
    // The Pod may have been deleted in the meantime.
    if (this.#assumed.get(entry.key) === entry.info) await this.#bindPod(entry, node)
  }

  async #bindPod(entry: QueuedPod, node: string): Promise<void> {
    const { info, key } = entry
    try {
      await this.#writer.bind(info.pod, node)
    } catch (error) {
      if (!this.#context.signal.aborted) this.#forgetPod(entry, node, `binding rejected: ${messageOf(error)}`)
      return
    }
    if (!this.#eventBudget.take(this.#context.clock.now())) return
    const note = `Successfully assigned ${key} to ${node}`
    this.#writer.report(info.pod, { type: 'Normal', reason: 'Scheduled', action: 'Binding', note })
  }

  /** Reverts the assumption of a Pod whose binding has failed; it is tried again. */
  #forgetPod(entry: QueuedPod, node: string, message: string): void {
    const { key, info } = entry
    if (this.#assumed.get(key) !== info) return
    this.#assumed.delete(key)
    this.#cluster.removePod(key)
    this.#context.log.debug({ pod: key, message }, 'a Pod could not be bound')
    const current = this.#informers.pods.get(key)
    if (current !== undefined) entry.info = podInfoOf(current)
    this.#queue.putBack(entry, { hasError: true })
    this.#queue.move({ kind: 'podGone' })
    // The informer may not show the nomination of this attempt yet.
    const { pod } = entry.info
    const nominated = this.#rules.nominatesBindings ? { ...pod, status: { ...pod.status, nominatedNodeName: node } } : pod
    this.#refusePod({ ...entry.info, pod: nominated }, 'SchedulerError', message, '')
  }

  /** A Pod without a fitting node waits; Pods of lower priority may be preempted. */
  #makeRoom(entry: QueuedPod, refused: Extract<Decision, { kind: 'refused' }>): void {
    const { info } = entry
    const { random } = this.#context
    const claim = refused.ofAll === undefined ? freeableClaim(info.pod, this.#cluster) : undefined
    if (claim !== undefined) return void this.#freeClaim(entry, refused, claim)
    const earlier = claimOfEarlierAttempt(info, this.#cluster, this.#rules)
    if (earlier !== undefined) return void this.#freeClaim(entry, refused, earlier, 'deletion')
    const budgets = [...this.#informers.budgets.values()]
    const preemption = preempt(info, this.#cluster, refused, { rules: this.#rules, random, budgets })
    this.#queue.putBack(entry, { refusedBy: pluginsOf(refused) })
    const message = refusalMessage(refused, this.#rules, preemption.message)
    if (preemption.kind === 'none') return void this.#refusePod(info, 'Unschedulable', message, preemption.clears ? '' : undefined)
    const { node } = preemption
    const victims = preemption.victims.filter(({ isTerminating }) => !(isTerminating && this.#rules.sparesTerminating))
    if (victims.length > 0) this.#clearNominations(info, node)
    this.#refusePod(info, 'Unschedulable', message, node)
    for (const victim of victims) {
      this.#writeLater(async () => {
        const isEvicted = await this.#writer.evict(victim.pod, info.pod, node)
        // Without the end of the victim no change would move the Pod.
        if (!isEvicted && this.#queue.get(entry.key) === entry) this.#queue.set(entry.info, true)
      })
    }
  }

  /** Clears the nominations of less important Pods for the node, so that they are tried on other nodes. */
  #clearNominations(info: PodInfo, node: string): void {
    for (const nominated of [...this.#cluster.nominatedTo(node)]) {
      if (nominated.priority >= info.priority || nominated.key === info.key) continue
      this.#cluster.nominate(nominated, undefined)
      this.#writeLater(() => this.#writer.setStatus(nominated.pod, { nominatedNodeName: null }))
    }
  }

  /** A claim allocated for an unsuitable node is deallocated or deleted, so that its devices can be allocated again. */
  #freeClaim(
    entry: QueuedPod,
    refused: Extract<Decision, { kind: 'refused' }>,
    claim: ResourceClaim,
    how: 'deallocation' | 'deletion' = 'deallocation',
  ): void {
    const { info } = entry
    const { devices } = this.#informers
    if (devices === undefined) return
    this.#queue.putBack(entry, { refusedBy: pluginsOf(refused) })
    const bindings = new ClaimBindings(this.#context, devices, this.#rules)
    this.#writeLater(() => (how === 'deletion' ? bindings.delete(claim) : bindings.free(claim)))
    const message = refusalMessage(refused, this.#rules, `${how} of ResourceClaim completed`)
    this.#refusePod(info, 'Unschedulable', message, undefined)
  }

  /** Reports an unscheduled Pod and its nominated node: none for an empty name; undefined for no change. */
  #refusePod(info: PodInfo, reason: 'Unschedulable' | 'SchedulerError', message: string, nominated: string | undefined): void {
    if (nominated !== undefined) this.#cluster.nominate(info, nominated || undefined)
    this.#writer.report(info.pod, failed(message))
    this.#writeLater(() => this.#writer.refuse(info.pod, { reason, message, nominated }))
  }

  #writeLater(send: () => Promise<void>): void {
    const writing = send().finally(() => this.#writes.delete(writing))
    this.#writes.add(writing)
  }
}

function failed(note: string) {
  return { type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling', note } as const
}

function pluginsOf({ refusals, ofAll }: Extract<Decision, { kind: 'refused' }>): ReadonlySet<FilterName> {
  const plugins = new Set<FilterName>(ofAll && [ofAll.plugin])
  for (const { plugin } of refusals.values()) plugins.add(plugin)
  return plugins
}

/** True if a Pod differs in more than its version, managedFields and status (SCHED-08), or has got device claims. */
function isSchedulingChange(before: Pod, after: Pod): boolean {
  const [made, madeNow] = [before.status.resourceClaimStatuses, after.status.resourceClaimStatuses]
  return !jsonEqual(made, madeNow) || !jsonEqual(before.spec, after.spec) || !jsonEqual(metadataOf(before), metadataOf(after))
}

/** True if a resize of a Pod has freed resources of its node. */
function hasShrunk({ requested: before }: PodInfo, { requested: after }: PodInfo): boolean {
  return after.cpu < before.cpu || after.memory < before.memory
}

function metadataOf({ metadata }: Pod): object {
  const { resourceVersion: _version, generation: _generation, managedFields: _fields, ...rest } = metadata
  return rest
}
