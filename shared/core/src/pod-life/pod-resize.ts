import { jsonEqual } from '../json/index.ts'
import type { Pod } from '../workloads/pods.ts'
import { infeasible, type Refusal } from './admission.ts'
import type { PodCondition } from './conditions.ts'
import { printMs } from './container-status.ts'
import type { LifeStep } from './life-step.ts'
import type { PodContainer } from './phase.ts'

type Resources = NonNullable<PodContainer['resources']>

/** First level whose nodes resize Pods in place (KEP-1287). */
const resizeSince = 33
/** First level whose nodes report events of a resize and the generation of their conditions. */
const reportsSince = 34

interface ResizeStep extends Pick<LifeStep, 'pod' | 'nowMs' | 'level' | 'report'> {
  /** The reason why the node lacks the resources; undefined if it has them. */
  admit(pod: Pod): Refusal | undefined
}

/** The resources that a node has allocated to the containers of a Pod. They follow the spec if the node has them (KEP-1287). */
export class PodResize {
  readonly #allocated = new Map<string, Resources>()
  /** The last result of allocatedPod, as each of a thousand containers asks for it. */
  #last: { readonly of: Pod; readonly pod: Pod } | undefined
  #pending: PodCondition | undefined
  #inProgress: PodCondition | undefined

  constructor(pod: Pod) {
    const { initContainerStatuses, containerStatuses, conditions } = pod.status
    const known = new Map([...(initContainerStatuses ?? []), ...(containerStatuses ?? [])].map(({ name, resources }) => [name, resources]))
    for (const { name, resources } of containersOf(pod)) this.#allocated.set(name, known.get(name) ?? resources ?? {})
    this.#pending = conditions?.find(({ type }) => type === 'PodResizePending')
    this.#inProgress = conditions?.find(({ type }) => type === 'PodResizeInProgress')
  }

  get isPending(): boolean {
    return this.#pending !== undefined
  }

  get conditions(): readonly PodCondition[] {
    return [this.#pending, this.#inProgress].filter((condition) => condition !== undefined)
  }

  allocatedTo(container: PodContainer): PodContainer {
    const resources = this.#allocated.get(container.name)
    return resources === undefined ? container : { ...container, resources }
  }

  /** Allocates the resources of the spec if the node has them. */
  allocate(step: ResizeStep): void {
    const { pod, level, admit, report } = step
    if (level < resizeSince) return
    const changed = containersOf(pod).filter(({ name, resources }) => !jsonEqual(this.#allocated.get(name) ?? {}, resources ?? {}))
    const refusal = changed.length === 0 ? undefined : admit(pod)
    if (refusal !== undefined) return void this.#refuse(refusal, step)
    this.#pending = undefined
    if (changed.length === 0) return
    for (const { name, resources } of changed) this.#allocated.set(name, resources ?? {})
    this.#last = undefined
    this.#inProgress = conditionOf('PodResizeInProgress', step)
    if (level >= reportsSince) report({ type: 'Normal', reason: 'ResizeStarted', message: `Pod resize started: ${summary(pod)}` })
  }

  #refuse({ reason: why, message }: Refusal, step: ResizeStep): void {
    const { pod, level, report } = step
    const before = this.#pending
    const reason = why === infeasible ? why : 'Deferred'
    const isSame = before?.reason === reason
    const isNews = !isSame || before.observedGeneration !== step.pod.metadata.generation
    const condition = { ...conditionOf('PodResizePending', step), reason, message }
    this.#pending = isSame
      ? { ...condition, lastTransitionTime: before.lastTransitionTime, lastProbeTime: before.lastProbeTime }
      : condition
    if (!isNews || level < reportsSince) return
    report({ type: 'Warning', reason: `Resize${reason}`, message: `Pod resize ${why}: ${summary(pod, { error: message })}` })
  }

  /** Ends the resize in progress when the containers have their allocated resources. */
  complete({ pod, level, report }: Pick<ResizeStep, 'pod' | 'level' | 'report'>): void {
    if (this.#inProgress === undefined) return
    const generation = this.#inProgress.observedGeneration
    this.#inProgress = undefined
    if (level < reportsSince) return
    report({
      type: 'Normal',
      reason: 'ResizeCompleted',
      message: `Pod resize completed: ${summary(this.allocatedPod(pod), { generation })}`,
    })
  }

  allocatedPod(pod: Pod): Pod {
    if (this.#last?.of === pod) return this.#last.pod
    const allocated = (list: readonly PodContainer[] | null | undefined) => list?.map((container) => this.allocatedTo(container))
    const { initContainers, containers } = pod.spec
    const made = { ...pod, spec: { ...pod.spec, initContainers: allocated(initContainers), containers: allocated(containers) ?? [] } }
    this.#last = { of: pod, pod: made }
    return made
  }

  /** A Pod that ends is not resized. */
  forget(): void {
    this.#pending = undefined
    this.#inProgress = undefined
  }
}

/** True if a container must restart to take these resources. */
export function restartsForResize({ resources, resizePolicy }: PodContainer, { resources: after }: PodContainer): boolean {
  return (resizePolicy ?? []).some(
    ({ resourceName, restartPolicy }) =>
      restartPolicy === 'RestartContainer' &&
      (resources?.requests?.[resourceName] !== after?.requests?.[resourceName] ||
        resources?.limits?.[resourceName] !== after?.limits?.[resourceName]),
  )
}

function containersOf({ spec }: Pod): readonly PodContainer[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? [])]
}

function conditionOf(type: string, { pod, nowMs, level }: ResizeStep): PodCondition {
  const { generation } = pod.metadata
  const time = printMs(nowMs)
  const observed = level >= reportsSince && generation !== undefined ? { observedGeneration: generation } : {}
  return { type, ...observed, status: 'True', lastProbeTime: time, lastTransitionTime: time }
}

/** The resources of a Pod as JSON, in the order of a kubelet. */
function summary(
  { spec, metadata }: Pod,
  { generation = metadata.generation, error }: { generation?: number; error?: string } = {},
): string {
  const print = (list: readonly PodContainer[] | null | undefined) =>
    list?.length ? list.map(({ name, resources }) => ({ name, resources: inOrder(resources) })) : undefined
  return JSON.stringify({ initContainers: print(spec.initContainers), containers: print(spec.containers), generation, error })
}

function inOrder({ limits, requests, claims }: Resources = {}): Resources {
  return { ...(limits && { limits: sortedKeys(limits) }), ...(requests && { requests: sortedKeys(requests) }), ...(claims && { claims }) }
}

function sortedKeys(amounts: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(amounts).sort(([one], [other]) => (one < other ? -1 : 1)))
}
