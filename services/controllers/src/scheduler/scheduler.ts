import type { InformerEvent } from '@orch/client'
import type { Catalogue } from '@orch/core/catalogue'
import type { ApiObject } from '@orch/core/meta'
import {
  Cluster,
  choose,
  type Decision,
  type FilterName,
  type Labels,
  type Node,
  noNodesMessage,
  type Pod,
  type PodInfo,
  podInfoOf,
  refusalMessage,
  type SchedulingRules,
  schedulingRules,
} from '@orch/core/scheduling'
import { messageOf, TurnBudget } from '@orch/platform'
import type { Controller, ControllerContext } from '../controller.ts'
import { keyOf } from '../informers/object-keys.ts'
import { type SharedInformer, SharedInformers } from '../informers/shared-informers.ts'
import { unlessGone } from '../unless-refused.ts'
import { type SchedulingEvent, SeriesRecorder } from './event-series.ts'
import { isSchedulingChange } from './pod-change.ts'
import { conditionPatch } from './pod-condition.ts'
import { type QueuedPod, SchedulingQueue } from './scheduling-queue.ts'

export interface SchedulerOptions extends Pick<Catalogue, 'level' | 'isGateOn'> {
  /** Name of this host, for events. */
  readonly host: string
}

/** The scheduler's name in Pods. */
const schedulerName = 'default-scheduler'

/** Bindings and reports in flight. */
const writesMax = 32
/** Nodes that are looked at in one turn of the event loop: some milliseconds. */
const nodesPerTurn = 2_000
/** The name of the work in progress, for clocks that wait for it. */
const work = 'scheduler'

const nodesAddress = { group: '', version: 'v1', plural: 'nodes', namespaced: false }
const podsAddress = { group: '', version: 'v1', plural: 'pods', namespaced: true }
const namespacesAddress = { group: '', version: 'v1', plural: 'namespaces', namespaced: false }

/** Gives each Pod that has no node one that fits. */
export function schedulerController({ level, isGateOn, host }: SchedulerOptions): Controller {
  return {
    name: 'scheduler',
    run: (context) => new Scheduler(context, schedulingRules({ names: context.names, level, isGateOn }), { host, isGateOn }).run(),
  }
}

/** One run of the scheduler. */
class Scheduler {
  readonly #context: ControllerContext
  readonly #rules: SchedulingRules
  readonly #hasObservedGeneration: boolean
  readonly #cluster: Cluster
  readonly #queue: SchedulingQueue
  readonly #recorder: SeriesRecorder
  readonly #pods: SharedInformer<Pod>
  readonly #nodes: SharedInformer<Node>
  readonly #namespaces: SharedInformer<ApiObject>
  /** Pods that count on a node before the server says so, by key (SCHED-10). */
  readonly #assumed = new Map<string, PodInfo>()
  readonly #budget = new TurnBudget(nodesPerTurn)
  readonly #writes = new Set<Promise<void>>()
  #startAt = 0
  #isSynced = false
  #working: Promise<void> | undefined

  constructor(context: ControllerContext, rules: SchedulingRules, { host, isGateOn }: Pick<SchedulerOptions, 'host' | 'isGateOn'>) {
    this.#context = context
    this.#rules = rules
    this.#hasObservedGeneration = isGateOn('PodObservedGenerationTracking')
    const { client, clock } = context
    const informers = context.informers ?? new SharedInformers(context)
    this.#pods = informers.open<Pod>({ resource: podsAddress }, client)
    this.#nodes = informers.open<Node>({ resource: nodesAddress }, client)
    this.#namespaces = informers.open<ApiObject>({ resource: namespacesAddress }, client)
    this.#cluster = new Cluster({ namespaceLabels: (name) => this.#labelsOf(name) })
    this.#queue = new SchedulingQueue({ clock, rules, onReady: () => this.#pump() })
    this.#recorder = new SeriesRecorder({ ...context, host })
  }

  async run(): Promise<void> {
    const { signal } = this.#context
    const ended = new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve(), { once: true })
    })
    const informers = [this.#nodes, this.#namespaces, this.#pods]
    this.#nodes.subscribe({ applyEvent: (event) => this.#applyNode(event) })
    this.#pods.subscribe({ applyEvent: (event) => this.#applyPod(event) })
    await Promise.race([Promise.all(informers.map(({ synced }) => synced)), ended])
    this.#isSynced = true
    this.#pump()
    await ended
    await Promise.all(informers.map(({ done }) => done))
    this.#queue.close()
    await this.#working
    await Promise.all(this.#writes)
    await this.#recorder.close()
  }

  #labelsOf(namespace: string): Labels | undefined {
    const found = this.#namespaces.get(namespace)
    return found && (found.metadata.labels ?? {})
  }

  #applyNode(event: InformerEvent<Node>): void {
    const { kind, object } = event
    const { name = '' } = object.metadata
    if (kind === 'deleted') return void this.#cluster.removeNode(name)
    this.#cluster.setNode(object)
    const node = this.#cluster.node(name)
    if (node !== undefined) this.#queue.move({ kind: 'node', node, before: kind === 'updated' ? event.before : undefined })
  }

  #applyPod(event: InformerEvent<Pod>): void {
    const { kind, object: pod } = event
    const key = keyOf(pod)
    const { nodeName = '' } = pod.spec
    const isOver = kind === 'deleted' || pod.status.phase === 'Succeeded' || pod.status.phase === 'Failed'
    if (isOver) {
      this.#queue.delete(key)
      this.#assumed.delete(key)
      this.#cluster.nominate(podInfoOf(pod), undefined)
      if (this.#cluster.placeOf(key) === undefined) return
      this.#cluster.removePod(key)
      return void this.#queue.move({ kind: 'podGone' })
    }
    const info = podInfoOf(pod)
    if (nodeName !== '') {
      this.#queue.delete(key)
      this.#assumed.delete(key)
      this.#cluster.nominate(info, undefined)
      return void this.#cluster.addPod(info, nodeName)
    }
    if (this.#assumed.has(key) || pod.spec.schedulerName !== schedulerName) return
    this.#cluster.nominate(info, pod.status.nominatedNodeName || undefined)
    this.#queue.set(info, kind === 'updated' && isSchedulingChange(event.before, pod))
  }

  /** Tries Pods until none is left to be tried. */
  #pump(): void {
    const { clock, signal } = this.#context
    if (!this.#isSynced || this.#working !== undefined || signal.aborted) return
    clock.work?.begin(work)
    this.#working = this.#tryPods().finally(() => {
      this.#working = undefined
      clock.work?.end(work)
    })
  }

  async #tryPods(): Promise<void> {
    // Events that come together are seen together.
    await undefined
    for (let entry = this.#queue.take(); entry !== undefined; entry = this.#queue.take()) {
      this.#tryPod(entry)
      await this.#budget.take(Math.max(1, this.#cluster.nodes.length))
      while (this.#writes.size >= writesMax) await Promise.race(this.#writes)
      if (this.#context.signal.aborted) return
    }
  }

  #tryPod(entry: QueuedPod): void {
    const { info } = entry
    const { pod, key } = info
    if (info.isTerminating) {
      this.#queue.delete(key)
      return void this.#report(pod, failed(`skip schedule deleting pod: ${key}`))
    }
    const { random } = this.#context
    const decision = choose(info, this.#cluster, { rules: this.#rules, random, startAt: this.#startAt })
    switch (decision.kind) {
      case 'placed':
        this.#startAt = (this.#startAt + decision.lookedAt) % Math.max(1, this.#cluster.nodes.length)
        return void this.#place(entry, decision.node)
      case 'noNodes':
        this.#queue.putBack(entry)
        return void this.#refuse(pod, 'Unschedulable', noNodesMessage)
      case 'refused':
        this.#queue.putBack(entry, { refusedBy: pluginsOf(decision) })
        return void this.#refuse(pod, 'Unschedulable', refusalMessage(decision, this.#rules))
    }
  }

  /** The Pod counts on its node from now on; the binding is written beside further attempts (SCHED-11). */
  #place(entry: QueuedPod, node: string): void {
    const { info, key } = entry
    this.#assumed.set(key, info)
    this.#cluster.nominate(info, undefined)
    this.#cluster.addPod(info, node)
    this.#write(async () => {
      try {
        await this.#bind(info.pod, node)
      } catch (error) {
        if (!this.#context.signal.aborted) this.#forget(entry, error)
        return
      }
      this.#report(info.pod, { type: 'Normal', reason: 'Scheduled', action: 'Binding', note: `Successfully assigned ${key} to ${node}` })
    })
  }

  async #bind({ metadata: { name = '', namespace, uid } }: Pod, node: string): Promise<void> {
    const { client, signal } = this.#context
    const binding = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, namespace, uid },
      target: { kind: 'Node', name: node },
    }
    await client.resource<ApiObject>(podsAddress).create(binding, { subresource: 'binding', signal })
  }

  /** Takes back the assumption of a Pod whose binding has failed; it is tried again. */
  #forget(entry: QueuedPod, error: unknown): void {
    const { key, info } = entry
    if (this.#assumed.get(key) !== info) return
    this.#assumed.delete(key)
    this.#cluster.removePod(key)
    this.#context.log.debug({ pod: key, err: error }, 'a Pod could not be bound')
    const current = this.#pods.get(key)
    if (current !== undefined) entry.info = podInfoOf(current)
    this.#queue.putBack(entry, { hasError: true })
    this.#queue.move({ kind: 'podGone' })
    this.#refuse(entry.info.pod, 'SchedulerError', `binding rejected: ${messageOf(error)}`)
  }

  /** Writes the event and the condition of a Pod that has no node (SCHED-17). */
  #refuse(pod: Pod, reason: 'Unschedulable' | 'SchedulerError', message: string): void {
    this.#report(pod, failed(message))
    const { clock, client, signal, log } = this.#context
    const generation = this.#hasObservedGeneration ? pod.metadata.generation : undefined
    const draft = { type: 'PodScheduled', status: 'False', reason, message }
    const patch = conditionPatch(pod, draft, { nowMs: clock.now(), generation })
    if (patch === undefined) return
    const { name = '', namespace } = pod.metadata
    this.#write(async () => {
      try {
        const pods = client.resource<ApiObject>(podsAddress)
        await unlessGone(() => pods.patch(name, { status: patch }, { type: 'strategic', subresource: 'status', namespace, signal }))
      } catch (err) {
        if (!signal.aborted) log.warn({ pod: keyOf(pod), err }, 'the condition of a Pod could not be written')
      }
    })
  }

  #report(pod: Pod, event: Pick<SchedulingEvent, 'type' | 'reason' | 'action' | 'note'>): void {
    this.#recorder.record({ ...event, regarding: referenceTo(pod), reporter: schedulerName })
  }

  #write(send: () => Promise<void>): void {
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

function referenceTo({ metadata: { namespace, name = '', uid = '', resourceVersion } }: Pod) {
  return { apiVersion: 'v1', kind: 'Pod', namespace, name, uid, resourceVersion }
}
