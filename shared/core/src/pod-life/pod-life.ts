import type { Names } from '../names.ts'
import type { Pod } from '../workloads/pods.ts'
import type { Refusal } from './admission.ts'
import { containersReady, hasRun, initialized, isOfNodes, mergeConditions, type PodCondition, ready, type Verdict } from './conditions.ts'
import { ContainerLife } from './container-life.ts'
import { printMs } from './container-status.ts'
import type { LifeStep, PodEvent, ReadLog, Role } from './life-step.ts'
import { type ContainerStatus, isSidecar, type PodContainer, podPhase } from './phase.ts'
import { PodResize } from './pod-resize.ts'
import type { MountProblem } from './pod-sources.ts'
import { scriptOf } from './script.ts'
import type { ScriptLayer } from './script-model.ts'

export type PodStatus = Pod['status']

export interface PodLifeOptions {
  readonly pod: Pod
  readonly names: Pick<Names, 'simulationDomain'>
  readonly level: number
  readonly addresses: readonly string[]
  readonly hostAddresses: readonly string[]
  /** Script layers of the Pod; later ones override earlier ones. */
  readonly layers?: readonly ScriptLayer[]
  /** Objects that the Pod needs, read at each advance. Default: none. */
  readonly sources?: PodSources
  /** The reason why the node lacks the resources of a resized Pod. Default: it has them. */
  admitResize?(pod: Pod): Refusal | undefined
  /** The log of a failed container, for its termination message. By default it is empty. */
  readonly readLog?: ReadLog
  onRun?(container: string): void
  /** Returns 64 new hexadecimal digits. */
  newId(): string
  /** Returns 64 hexadecimal digits that depend on the text. */
  digestOf(text: string): string
}

/** Objects that a Pod needs before its containers start. */
export interface PodSources {
  /** The reason why a container cannot be created; undefined if it can. */
  configProblem(container: string, pod: Pod): string | undefined
  mountProblems(): readonly MountProblem[]
  /** True while volumes are being attached to the node. */
  isAttaching(): boolean
}

/** Pauses between attempts to mount a volume. */
const mountRetry = { firstMs: 500, maxMs: 122_000 } as const

/** The changes of one moment. */
export interface Advance {
  readonly events: readonly PodEvent[]
  /** The time of the next change; undefined if there is none. `isHopeless` marks an endless failure, to which no automatic clock should advance. */
  readonly due: { readonly atMs: number; readonly isHopeless: boolean } | undefined
  /** True if the Pod is being deleted and all its containers have ended. */
  readonly isGone: boolean
}

/** Reasons why no more containers start. */
type Ending = 'deleted' | 'completed' | 'failed'

/** The reason why a node ends a Pod. */
interface Failure {
  readonly reason: string
  readonly message: string
}

const late: Failure = { reason: 'DeadlineExceeded', message: 'Pod was active on the node longer than the specified deadline' }
const evictedReason = 'Evicted'
const shutdown: Failure = { reason: 'Terminated', message: 'Pod was terminated in response to imminent node shutdown.' }
/** Reasons that are disruptions of the Pod. */
const disruptions: readonly (string | undefined)[] = [evictedReason, shutdown.reason]
/** First level at which an evicted Pod has the condition DisruptionTarget. */
const disruptionSince = 26
/**
 * A Pod on a node, from its binding to its end, without clock and network: containers start in order, run by their scripts, are probed,
 * restarted and stopped as by a kubelet. `advance` makes all due changes; `status` is what the API should show afterwards.
 *
 *   two containers without delays   advance(0): both run and are ready, due: undefined
 *   a Job's container, run-for 1s   advance(0): runs, due: 1,000   advance(1000): Succeeded
 */
export class PodLife {
  readonly #options: PodLifeOptions
  readonly #containers = new Map<string, ContainerLife>()
  #pod: Pod
  #startedMs: number | undefined
  #ending: Ending | undefined
  /** Defined if the node ends the Pod. */
  #failure: Failure | undefined
  /** The grace period that a shutdown of the node leaves. */
  #shutdownMs: number | undefined
  /** True when the volumes are mounted. */
  #isMounted: boolean
  #mountFailures = 0
  #mountMs = 0
  #events: PodEvent[] = []
  readonly #resize: PodResize

  constructor(options: PodLifeOptions) {
    this.#options = options
    this.#pod = options.pod
    this.#resize = new PodResize(options.pod)
    const { startTime } = options.pod.status
    if (startTime) this.#startedMs = Date.parse(startTime)
    const problems = this.#addContainers(this.allocatedPod)
    this.#events = problems.map((message) => ({ type: 'Warning', reason: 'InvalidSimulation', message }))
    const { status } = options.pod
    const statuses = [status.initContainerStatuses, status.containerStatuses, status.ephemeralContainerStatuses].flatMap(
      (list) => list ?? [],
    )
    for (const known of statuses) this.#containers.get(known.name)?.resume(known)
    if (status.phase === 'Failed' || status.phase === 'Succeeded') this.#ending = 'completed'
    this.#isMounted = options.sources === undefined || [...this.#containers.values()].some(({ isWaiting }) => !isWaiting)
  }

  /** Adds the containers of a Pod. Returns the errors of the script. */
  #addContainers(pod: Pod): readonly string[] {
    const { names, digestOf, layers } = this.#options
    const { spec } = pod
    const script = scriptOf(pod, names, layers)
    const add = (container: PodContainer, role: Role) => {
      const own = script.containers.get(container.name)
      if (own === undefined || this.#containers.has(container.name)) return
      const imageDigest = digestOf(container.image ?? '')
      this.#containers.set(container.name, new ContainerLife({ container, role, script: own, imageDigest }))
    }
    for (const container of spec.initContainers ?? []) add(container, isSidecar(container) ? 'sidecar' : 'init')
    for (const container of spec.containers ?? []) add(container, 'main')
    for (const container of spec.ephemeralContainers ?? []) add(container, 'ephemeral')
    return script.problems
  }

  /** Takes the current Pod from the API, which may be deleted, or have new ephemeral containers, images and resources. */
  observe(pod: Pod): void {
    this.#pod = pod
    if (pod.spec.ephemeralContainers?.some(({ name }) => !this.#containers.has(name))) this.#addContainers(pod)
  }

  /** Changes of a container are for the next advance. */
  container(name: string): ContainerLife | undefined {
    return this.#containers.get(name)
  }

  get names(): readonly string[] {
    return [...this.#containers.keys()]
  }

  get pod(): Pod {
    return this.#pod
  }

  /** The last observed Pod with the resources that its node has allocated to it. */
  get allocatedPod(): Pod {
    return this.#resize.allocatedPod(this.#pod)
  }

  /** True while volumes are being attached to its node. */
  get isAttaching(): boolean {
    return !this.#isMounted
  }

  /** True while the node lacks the resources that its spec asks for. */
  get isResizePending(): boolean {
    return this.#resize.isPending
  }

  /** True while a container has not started yet. */
  get isStarting(): boolean {
    const { spec } = this.#pod
    return [...this.#containers.values()].some((container) => !container.isRunning && !container.isDone(spec))
  }

  /** The node shuts down: the containers have at most this grace period, from the next advance on. */
  shutDown(graceMs: number): void {
    if (this.#ending === undefined) this.#shutdownMs = graceMs
  }

  advance(nowMs: number): Advance {
    this.#startedMs ??= nowMs
    this.#updateContainers(nowMs)
    while (this.#step(nowMs));
    if (this.#ending !== undefined) this.#resize.forget()
    else if ([...this.#containers.values()].every(({ isStopping }) => !isStopping)) this.#resize.complete(this.#lifeStep(nowMs))
    const events = this.#events
    this.#events = []
    const isGone = this.#pod.metadata.deletionTimestamp != null && this.#hasStopped()
    return { events, due: isGone ? undefined : this.#due(), isGone }
  }

  #updateContainers(nowMs: number): void {
    const { spec, metadata } = this.#pod
    if (this.#ending !== undefined || metadata.deletionTimestamp != null) return
    const step = this.#lifeStep(nowMs)
    const { admitResize = () => undefined, digestOf } = this.#options
    this.#resize.allocate({ ...step, admit: admitResize })
    for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
      this.#containers
        .get(container.name)
        ?.update({ container: this.#resize.allocatedTo(container), imageDigest: digestOf(container.image ?? '') }, step)
    }
  }

  #due(): Advance['due'] {
    const dues = [...this.#containers.values()].flatMap((container) => container.due() ?? [])
    const deadlineMs = deadlineOf(this.#pod, this.#startedMs)
    if (deadlineMs !== undefined && this.#ending === undefined) dues.push({ atMs: deadlineMs, isHopeless: false })
    if (this.#mountMs > 0 && this.#ending === undefined) dues.push({ atMs: this.#mountMs, isHopeless: true })
    if (dues.length === 0) return undefined
    return { atMs: Math.min(...dues.map(({ atMs }) => atMs)), isHopeless: dues.every(({ isHopeless }) => isHopeless) }
  }

  /** Makes one change; false if none is due. */
  #step(nowMs: number): boolean {
    if (this.#beginEnding(nowMs)) return true
    const step = this.#lifeStep(nowMs)
    let hasChanged = false
    for (const container of this.#containers.values()) hasChanged = container.step(step) || hasChanged
    if (this.#ending === undefined) return (this.#isMounted || this.#mount(nowMs)) && (this.#startNext(step) || hasChanged)
    return this.#stopNext(step) || hasChanged
  }

  /** Mounts the volumes; false if that is not possible yet. */
  #mount(nowMs: number): boolean {
    const { sources } = this.#options
    const problems = sources?.mountProblems() ?? []
    if (problems.length === 0) {
      this.#mountMs = 0
      this.#isMounted = sources?.isAttaching() !== true
      return this.#isMounted
    }
    if (nowMs < this.#mountMs) return false
    for (const { message } of problems) this.#events.push({ type: 'Warning', reason: 'FailedMount', message })
    this.#mountMs = nowMs + Math.min(mountRetry.maxMs, mountRetry.firstMs * 2 ** this.#mountFailures)
    this.#mountFailures += 1
    return false
  }

  #lifeStep(nowMs: number): LifeStep {
    const { level, addresses, newId, sources, readLog = () => [], onRun = () => {} } = this.#options
    const report = (event: PodEvent) => void this.#events.push(event)
    return {
      pod: this.#pod,
      nowMs,
      level,
      address: addresses[0] ?? '',
      isEnding: this.#ending !== undefined,
      newId,
      report,
      readLog,
      onRun,
      configProblem: (name) => sources?.configProblem(name, this.#pod),
    }
  }

  #beginEnding(nowMs: number): boolean {
    const { metadata } = this.#pod
    if (this.#ending === 'deleted') return false
    if (metadata.deletionTimestamp != null) {
      this.#ending = 'deleted'
      return true
    }
    if (this.#ending !== undefined) return false
    if (this.#shutdownMs !== undefined) return this.#fail(shutdown)
    if (nowMs >= (deadlineOf(this.#pod, this.#startedMs) ?? Number.POSITIVE_INFINITY)) return this.#fail(late, 'Normal')
    for (const container of this.#containers.values()) {
      const message = container.evictionAt(nowMs)
      if (message !== undefined) return this.#fail({ reason: evictedReason, message }, 'Warning')
    }
    if (!this.#isCompleted()) return false
    this.#ending = 'completed'
    return true
  }

  #fail(failure: Failure, type?: PodEvent['type']): true {
    this.#ending = 'failed'
    this.#failure = failure
    if (type !== undefined) this.#events.push({ type, ...failure })
    return true
  }

  /** True if all containers have ended for good, or an init container has failed for good. */
  #isCompleted(): boolean {
    const { spec } = this.#pod
    if (this.#of('init').some((container) => container.exitCode !== 0 && container.isDone(spec))) return true
    const main = this.#of('main')
    return main.length > 0 && main.every((container) => container.isDone(spec))
  }

  #of(...roles: readonly Role[]): ContainerLife[] {
    return [...this.#containers.values()].filter(({ role }) => roles.includes(role))
  }

  /** Init containers start one after another; the others start together when init containers have completed and sidecars have started. */
  #startNext(step: LifeStep): boolean {
    const begin = (containers: readonly ContainerLife[]) => {
      const waiting = containers.filter(({ isWaiting }) => isWaiting)
      for (const container of waiting) container.begin(step)
      return waiting.length > 0
    }
    const isDone = (container: ContainerLife) => (container.role === 'init' ? container.exitCode === 0 : container.isStarted)
    let hasBegunOne = begin(this.#of('ephemeral'))
    const isInitialized = this.#of('main').some(({ isWaiting }) => !isWaiting)
    for (const container of isInitialized ? [] : this.#of('init', 'sidecar')) {
      if (isDone(container)) continue
      hasBegunOne = begin([container]) || hasBegunOne
      // A run without duration ends immediately, so that a thousand of them need one pass.
      while (container.step(step));
      if (!isDone(container)) return hasBegunOne
    }
    return begin(this.#of('main')) || hasBegunOne
  }

  /** Sidecars stop after all other containers, in reverse order. */
  #stopNext(step: LifeStep): boolean {
    const graceMs = this.#graceMs()
    const others = this.#of('init', 'main', 'ephemeral').filter(({ isRunning }) => isRunning)
    const last = this.#of('sidecar').findLast(({ isRunning }) => isRunning)
    let hasChanged = false
    for (const container of others.length > 0 || last === undefined ? others : [last])
      hasChanged = container.stop(graceMs, step) || hasChanged
    return hasChanged
  }

  /** An eviction kills at once, a shutdown of the node soon. */
  #graceMs(): number {
    const { metadata, spec } = this.#pod
    if (this.#ending === 'failed' && this.#failure?.reason === evictedReason) return 0
    const ownMs = (metadata.deletionGracePeriodSeconds ?? spec.terminationGracePeriodSeconds ?? 30) * 1000
    return Math.min(ownMs, this.#shutdownMs ?? ownMs)
  }

  #hasStopped(): boolean {
    return this.#ending !== undefined && [...this.#containers.values()].every(({ isRunning }) => !isRunning)
  }

  /** The status that the API should show. Parts that belong to other clients are copied from `before`. */
  status(before: PodStatus, nowMs: number): PodStatus {
    const { level, addresses, hostAddresses } = this.#options
    const { spec, metadata } = this.#pod
    const waiting = (spec.initContainers ?? []).length > 0 ? 'PodInitializing' : 'ContainerCreating'
    const statusesOf = (...roles: readonly Role[]) => this.#of(...roles).map((container) => container.status(waiting, level))
    const init = statusesOf('init', 'sidecar')
    const main = statusesOf('main').sort((one, other) => (one.name < other.name ? -1 : 1))
    const ephemeral = statusesOf('ephemeral')
    const isOver = this.#hasStopped()
    const phase = this.#phase(before, [...init, ...main])
    const failure = phase !== before.phase && this.#ending === 'failed' ? this.#failure : undefined
    const generation = level >= 34 && metadata.generation !== undefined ? { observedGeneration: metadata.generation } : {}
    const statuses = [...init, ...main]
    return {
      ...before,
      ...generation,
      phase,
      ...failure,
      conditions: mergeConditions(
        this.#disrupted(before.conditions ?? [], generation, nowMs),
        this.#conditions({ before, statuses, phase, isOver, generation, nowMs }),
      ),
      hostIP: hostAddresses[0],
      ...(level >= 29 && { hostIPs: hostAddresses.map((ip) => ({ ip })) }),
      ...(this.#isMounted && { podIP: addresses[0], podIPs: addresses.map((ip) => ({ ip })) }),
      startTime: before.startTime ?? printMs(this.#startedMs ?? nowMs),
      ...(init.length > 0 && { initContainerStatuses: init }),
      containerStatuses: main,
      ...(ephemeral.length > 0 && { ephemeralContainerStatuses: ephemeral }),
    }
  }

  /** The phase. A finished phase stays, and is set when all containers have stopped. */
  #phase(before: PodStatus, statuses: readonly ContainerStatus[]): string {
    const { phase = 'Pending' } = before
    if (phase === 'Failed' || phase === 'Succeeded') return phase
    const { spec, metadata } = this.#pod
    const hasStopped = this.#hasStopped()
    const isDeleted = metadata.deletionTimestamp != null
    const isOver = hasStopped && (this.#options.level >= 27 || this.#ending === 'failed')
    const next = podPhase({ spec, statuses, isOver, hasStarted: hasRun(spec, statuses) })
    const isFinal = next === 'Failed' || next === 'Succeeded'
    if (this.#ending === 'failed') return hasStopped ? 'Failed' : phase
    if (isFinal && !hasStopped) return phase
    return !isFinal && isDeleted && isOver ? 'Failed' : next
  }

  /** The conditions, with that of a disruption. */
  #disrupted(conditions: readonly PodCondition[], generation: object, nowMs: number): readonly PodCondition[] {
    const type = 'DisruptionTarget'
    const { reason, message } = this.#failure ?? {}
    if (!disruptions.includes(reason) || this.#options.level < disruptionSince || conditions.some((one) => one.type === type))
      return conditions
    const times = { lastProbeTime: null, lastTransitionTime: printMs(nowMs) }
    return [...conditions, { type, ...generation, status: 'True', reason: 'TerminationByKubelet', message, ...times }]
  }

  #conditions({ before, statuses, phase, isOver, generation, nowMs }: ConditionsInput): PodCondition[] {
    const { spec } = this.#pod
    const { level } = this.#options
    const input = { spec, statuses, phase }
    const others = (before.conditions ?? []).filter((condition) => !isOfNodes(condition))
    const times = { lastProbeTime: null, lastTransitionTime: printMs(nowMs) }
    const toCondition = (type: string, verdict: Verdict): PodCondition => ({ type, ...generation, ...verdict, ...times })
    const sandbox: Verdict = { status: isOver || !this.#isMounted ? 'False' : 'True' }
    return [
      ...this.#resize.conditions,
      ...(level >= 29 ? [toCondition('PodReadyToStartContainers', sandbox)] : []),
      toCondition('Initialized', initialized(input)),
      toCondition('Ready', ready(input, others)),
      toCondition('ContainersReady', containersReady(input)),
      toCondition('PodScheduled', { status: 'True' }),
    ]
  }
}

/** The time at which a Pod that started at this time must end; undefined without a deadline. */
export function deadlineOf({ spec: { activeDeadlineSeconds } }: Pod, startedMs: number | undefined): number | undefined {
  return activeDeadlineSeconds == null || startedMs === undefined ? undefined : startedMs + activeDeadlineSeconds * 1000
}

interface ConditionsInput {
  readonly before: PodStatus
  readonly statuses: readonly ContainerStatus[]
  readonly phase: string
  readonly isOver: boolean
  readonly generation: { readonly observedGeneration?: number }
  readonly nowMs: number
}
