import { compileFunction } from 'node:vm'
import { type ApiObject, StatusError } from '@orch/core/meta'
import type { RunningServer, VirtualClock } from 'orch'
import { addressOf, pathOf } from './kinds.ts'
import { actionByItself, PlayedKubelet } from './kubelet.ts'
import { type Comparison, compare } from './loose.ts'
import { Names } from './names.ts'
import { type ExpectStep, isExpectStep, type Kubelet, listOf, type PodAction, type Scenario, type Step } from './scenario.ts'
import { type StoreChange, StoreChanges } from './store-changes.ts'
import { eventsOf, viewOf } from './view.ts'

/** A server with workload controllers, and its clock. */
export interface Stage {
  readonly server: RunningServer
  readonly clock: VirtualClock
}

/** The state at an `expect`. */
export interface Checkpoint extends Comparison {
  /** `ID NUMBER`, the name in lists of differences. */
  readonly id: string
  readonly about: string
}

type Expression = (view: Record<string, unknown>, events: readonly string[]) => unknown

/** Milliseconds without a change after which the recorder took the state, and before which it touched no Pod. */
const quietMs = 1_700
const pauseBeforePodsMs = 600
/** The longest step of the clock: a kubelet that acts by itself does so between two steps. */
const tickMs = 500
const untilMaxMs = 15_000
const settleMaxMs = 40_000
const namespace = 'scene'
const nodeNames = ['node-a', 'node-b', 'node-c']
/** Kinds that traces leave out; the last is a kind of this server. */
const untraced: ReadonlySet<string> = new Set(['Event', 'Node', 'Lease', 'ServiceAccount', 'ConfigMap', 'QuotaLedger'])

/** Creates the objects that every scenario finds: three Nodes and its namespace. */
export async function prepare({ server, clock }: Stage): Promise<void> {
  await server.client.objects.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const time = new Date(clock.now()).toISOString().replace(/\.\d+Z/, 'Z')
  const times = { lastHeartbeatTime: time, lastTransitionTime: time }
  const resources = { cpu: '16', memory: '64Gi', pods: '250' }
  const conditions = [
    { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'ok', ...times },
    ...['MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => ({ type, status: 'False', reason: 'ok', ...times })),
  ]
  for (const name of nodeNames) {
    const labels = { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': `z${name.at(-1)}` }
    await server.client.objects.create({ apiVersion: 'v1', kind: 'Node', metadata: { name, labels } })
    await server.client.request({
      method: 'PATCH',
      path: `/api/v1/nodes/${name}/status`,
      body: { status: { capacity: resources, allocatable: resources, conditions } },
      contentType: 'application/strategic-merge-patch+json',
    })
  }
  await clock.advance(0)
}

/** Plays a scenario in the namespace of `prepare` and returns both sides of each `expect`. The caller must restore the server after it. */
export async function play(scenario: Scenario, stage: Stage): Promise<Checkpoint[]> {
  return new Play(scenario, stage).run()
}

class Play {
  readonly #scenario: Scenario
  readonly #server: RunningServer
  readonly #clock: VirtualClock
  readonly #changes: StoreChanges
  readonly #names: Names
  readonly #kubelet = new PlayedKubelet()
  /** `KIND/NAME` of cluster-scoped objects that belong to the scenario. */
  readonly #atClusterScope = new Set<string>()
  /** Pods for which the kubelet has no work left: `UID`, or `UID deleted`. */
  readonly #done = new Set<string>()
  #mode: Kubelet
  /** The usage of each Pod. Absent: it is not measured. */
  #usage: Readonly<Record<string, string>> | undefined
  readonly #measured = new Set<string>()
  #trace: string[] = []

  constructor(scenario: Scenario, { server, clock }: Stage) {
    this.#scenario = scenario
    this.#server = server
    this.#clock = clock
    this.#changes = new StoreChanges(server)
    this.#names = new Names(namespace, scenario.group)
    this.#mode = scenario.kubelet ?? 'manual'
  }

  async run(): Promise<Checkpoint[]> {
    await this.#changes.read()
    const checkpoints: Checkpoint[] = []
    for (const [index, given] of this.#scenario.steps.entries()) {
      if (isExpectStep(given)) checkpoints.push(await this.#checkpoint(given, checkpoints.length + 1))
      else await this.#take(JSON.parse(JSON.stringify(given).replaceAll('$NS', namespace)), index)
    }
    return checkpoints
  }

  async #checkpoint(step: ExpectStep, number: number): Promise<Checkpoint> {
    await this.#settle(step)
    const trace = this.#trace.splice(0)
    const state = { objects: this.#view(), events: this.#events(), trace }
    return { id: `${this.#scenario.id} ${number}`, about: step.expect, ...compare(step, state, this.#scenario.group) }
  }

  /** Waits for the state of the checkpoint, and then for a time without changes. */
  async #settle({ until, max = untilMaxMs, extra = 0 }: ExpectStep): Promise<void> {
    await this.#pass(0)
    const beganMs = this.#clock.now()
    const passedMs = () => this.#clock.now() - beganMs
    if (until !== undefined) await this.#passUntil(until, () => passedMs() >= max)
    let isQuiet = false
    // The recorder renewed samples continuously, so it was never quiet.
    while ((!isQuiet || this.#usage !== undefined) && passedMs() < Math.max(settleMaxMs, max))
      isQuiet = !(await this.#pass(quietMs + extra))
  }

  /** Moves the clock until the expression holds. Views cost much, so the expression is evaluated again only after a change. */
  async #passUntil(expression: string, isLate: () => boolean): Promise<void> {
    const holds = compileFunction(`return (${expression})`, ['v', 'e']) as Expression
    for (let seen = -1; !isLate(); await this.#pass(tickMs)) {
      const { revision } = this.#changes
      if (revision !== seen && this.#holds(holds)) return
      seen = revision
    }
  }

  #holds(expression: Expression): boolean {
    try {
      return Boolean(expression(this.#view(), this.#events()))
    } catch {
      // An object in the expression does not exist yet.
      return false
    }
  }

  /** Moves the clock; true: the state has changed. */
  async #pass(durationMs: number): Promise<boolean> {
    let hasChanged = false
    const stepMs = this.#mode === 'auto' || this.#usage !== undefined ? tickMs : Math.max(tickMs, durationMs)
    for (let leftMs = durationMs; ; leftMs -= stepMs) {
      await this.#clock.advance(Math.max(0, Math.min(stepMs, leftMs)))
      while (await this.#follow()) {
        hasChanged = true
        await this.#clock.advance(0)
      }
      if (leftMs <= stepMs) return hasChanged
    }
  }

  /** Reads the store's changes and lets the kubelet act on one change; true: there were changes. */
  async #follow(): Promise<boolean> {
    const changes = (await this.#changes.read()).filter(({ object }) => this.#isMine(object))
    for (const change of changes) {
      if (change.kind === 'added') this.#names.learn(change.object)
      this.#traceChange(change)
    }
    const hasActed = (await this.#measure()) || (this.#mode === 'auto' && (await this.#actByItself()))
    return hasActed || changes.some(({ object }) => object.kind !== 'Node')
  }

  /** Takes the first sample of each new Pod; true: there was a new Pod. */
  async #measure(): Promise<boolean> {
    if (this.#usage === undefined) return false
    const fresh = this.#objects('Pod').filter(({ metadata }) => !this.#measured.has(metadata.uid ?? ''))
    for (const { metadata } of fresh) {
      this.#measured.add(metadata.uid ?? '')
      await this.#server.metrics.set(`${namespace}/${metadata.name}`, this.#usage)
    }
    return fresh.length > 0
  }

  async #actByItself(): Promise<boolean> {
    for (const pod of this.#objects('Pod')) {
      const { uid = '', deletionTimestamp } = pod.metadata
      const what = deletionTimestamp == null ? uid : `${uid} deleted`
      if (this.#done.has(what)) continue
      this.#done.add(what)
      await this.#act(pod, actionByItself(pod))
      return true
    }
    return false
  }

  #isMine(object: ApiObject): boolean {
    const { kind, metadata } = object
    if (metadata.namespace === namespace || this.#atClusterScope.has(`${kind}/${metadata.name}`)) return true
    const { spec, involvedObject } = object as {
      readonly spec?: { readonly claimRef?: { readonly namespace?: string } }
      readonly involvedObject?: { readonly kind: string; readonly name: string }
    }
    if (kind === 'PersistentVolume') return spec?.claimRef?.namespace === namespace
    return kind === 'Event' && this.#atClusterScope.has(`${involvedObject?.kind}/${involvedObject?.name}`)
  }

  #traceChange({ kind: what, object, before }: StoreChange): void {
    const { kind = '', metadata } = object
    if (untraced.has(kind)) return
    const name = `${kind}/${this.#names.of(kind, metadata.name ?? '')}`
    if (what === 'added') this.#trace.push(`+ ${name}`)
    else if (what === 'deleted') this.#trace.push(`- ${name}`)
    else {
      if (metadata.deletionTimestamp != null && before?.metadata.deletionTimestamp == null) this.#trace.push(`terminating ${name}`)
      const [replicas, replicasBefore] = [replicasOf(object), replicasOf(before)]
      if (replicas !== undefined && replicas !== replicasBefore) this.#trace.push(`${name} replicas ${replicasBefore}→${replicas}`)
    }
  }

  #objects(kind?: string): ApiObject[] {
    return [...this.#changes.values()].filter((object) => (kind === undefined || object.kind === kind) && this.#isMine(object))
  }

  #view(): Record<string, unknown> {
    return viewOf(this.#objects(), this.#names, this.#scenario)
  }

  #events(): string[] {
    return eventsOf(this.#objects('Event'), this.#names, this.#scenario)
  }

  async #take(step: Step, index: number): Promise<void> {
    const { create, patch, delete: deleted, pods, patchRS, rollback, kubelet, wait, usage, memory = '20Mi' } = step
    if ([create, patch, deleted, pods, patchRS, rollback, kubelet, wait, usage].every((part) => part === undefined))
      throw new Error(`${this.#scenario.id}: the player does not know the step ${index}: ${Object.keys(step)}`)
    for (const object of listOf(create)) await this.#create(object)
    for (const one of listOf(patch)) {
      const [kind = '', name = ''] = one.of.split('/')
      await this.#patch(kind, this.#names.original(kind, name), one)
    }
    for (const one of listOf(deleted)) await this.#delete(typeof one === 'string' ? { of: one } : one)
    if (pods !== undefined) await this.#pass(pauseBeforePodsMs)
    for (const action of listOf(pods)) await this.#actOnAll(action)
    if (patchRS !== undefined) await this.#patch('ReplicaSet', this.#newestReplicaSet(patchRS.of), patchRS)
    if (rollback !== undefined) await this.#rollBack(rollback.of, rollback.to)
    if (kubelet !== undefined) this.#mode = kubelet
    if (usage !== undefined) {
      this.#usage = { cpu: usage, memory }
      await this.#measure()
    }
    if (wait !== undefined) await this.#pass(wait * 1000)
  }

  async #create(object: ApiObject & { readonly status?: unknown }): Promise<void> {
    const { kind = '', metadata, status } = object
    const { groupVersion, isClusterScoped } = addressOf(kind)
    if (isClusterScoped === true) this.#atClusterScope.add(`${kind}/${metadata.name}`)
    const isCreated = await this.#send('POST', pathOf(kind, { namespace }), { body: { ...object, apiVersion: groupVersion } })
    if (status !== undefined && isCreated)
      await this.#patch(kind, metadata.name ?? '', { of: '', type: 'merge', sub: 'status', body: { status } })
    if (kind === 'Node' && isCreated) await this.#admitNode(object)
  }

  /** The recorded cluster had a controller that removes the taint from new nodes when they are ready. */
  async #admitNode({ metadata, ...rest }: ApiObject): Promise<void> {
    const { taints = null } = (rest as { readonly spec?: { readonly taints?: unknown } }).spec ?? {}
    await this.#patch('Node', metadata.name ?? '', { of: '', body: { spec: { taints } } })
  }

  async #patch(kind: string, name: string, patch: { type?: string; sub?: string; body: unknown; of: string }): Promise<void> {
    const path = pathOf(kind, { namespace, name, subresource: patch.sub })
    const contentType = patchTypes[patch.type ?? 'merge']
    await this.#send('PATCH', path, { body: patch.body, ...(contentType !== undefined && { contentType }) })
  }

  async #delete({ of, propagation, grace }: { of: string; propagation?: string; grace?: number }): Promise<void> {
    const [kind = '', name = ''] = of.split('/')
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: propagation, gracePeriodSeconds: grace }
    await this.#send('DELETE', pathOf(kind, { namespace, name: this.#names.original(kind, name) }), { body })
  }

  #newestReplicaSet(of: string): string {
    const sets = this.#objects('ReplicaSet').filter(({ metadata }) => metadata.name?.startsWith(`${of}-`) === true)
    const byTime = sets.toSorted((left, right) => Number(right.metadata.resourceVersion) - Number(left.metadata.resourceVersion))
    const byCreation = byTime.toSorted((left, right) => createdMs(right) - createdMs(left))
    return byCreation[0]?.metadata.name ?? ''
  }

  async #rollBack(of: string, to: number): Promise<void> {
    const set = this.#objects('ReplicaSet').find(
      ({ metadata }) => metadata.annotations?.['deployment.kubernetes.io/revision'] === String(to),
    )
    const { template } = structuredClone(set?.['spec']) as { template: { metadata: { labels: Record<string, string> } } }
    delete template.metadata.labels['pod-template-hash']
    await this.#patch('Deployment', of, { of, type: 'json', body: [{ op: 'replace', path: '/spec/template', value: template }] })
  }

  async #actOnAll(action: PodAction): Promise<void> {
    const { of = '', first, terminating, ages, nodes } = action
    const pattern = new RegExp(of)
    const normal = ({ metadata }: ApiObject) => this.#names.of('Pod', metadata.name ?? '')
    const pods = this.#objects('Pod')
      .filter((pod) => pattern.test(normal(pod)))
      .sort((left, right) => normal(left).localeCompare(normal(right), 'en', { numeric: true }))
      .slice(0, first)
      .filter(({ metadata }) => terminating === undefined || (metadata.deletionTimestamp != null) === terminating)
    for (const [index, pod] of pods.entries()) {
      const age = ages?.[index % ages.length] ?? action.age
      const node = nodes?.[index % nodes.length] ?? action.node
      await this.#act(pod, { ...action, ...(age !== undefined && { age }), ...(node !== undefined && { node }) })
    }
  }

  async #act(pod: ApiObject, action: PodAction): Promise<void> {
    const { name } = pod.metadata
    for (const { method, subresource, ...rest } of this.#kubelet.requests(pod, action, this.#clock.now()))
      await this.#send(method, pathOf('Pod', { namespace, name, subresource }), rest)
  }

  /** True: the server accepted the request. Refusals are part of the trace. */
  async #send(method: string, path: string, rest: { readonly body?: unknown; readonly contentType?: string }): Promise<boolean> {
    try {
      await this.#server.client.request({ method, path, ...rest })
      return true
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      const { code, reason, message } = error
      if (method !== 'DELETE' || code !== 404)
        this.#trace.push(`! ${method} ${this.#names.text(path)} → ${code} ${reason}: ${this.#names.text(message)}`)
      return false
    }
  }
}

const patchTypes: Readonly<Record<string, string>> = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
}

function replicasOf(object: ApiObject | undefined): number | undefined {
  return (object?.['spec'] as { readonly replicas?: number } | undefined)?.replicas
}

function createdMs({ metadata }: ApiObject): number {
  return Date.parse(metadata.creationTimestamp ?? '')
}
