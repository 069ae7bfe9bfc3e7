import { jsonEqual } from '../json/index.ts'
import type { Pod } from '../workloads/pods.ts'
import { type ContainerStatus, isSidecar } from './phase.ts'

export type PodCondition = NonNullable<Pod['status']['conditions']>[number]

/** A condition without times. */
export interface Verdict {
  readonly status: 'True' | 'False'
  readonly reason?: string
  readonly message?: string
}

export interface ConditionInput {
  readonly spec: Pod['spec']
  /** Statuses of all containers except ephemeral ones; undefined before they exist. */
  readonly statuses: readonly ContainerStatus[] | undefined
  readonly phase: string
}

const fine: Verdict = { status: 'True' }
const unknown: Verdict = { status: 'False', reason: 'UnknownContainerStatuses' }

export function initialized({ spec, statuses, phase }: ConditionInput): Verdict {
  const initContainers = spec.initContainers ?? []
  if (statuses === undefined && initContainers.length > 0) return unknown
  const { unknowns, others } = sorted(initContainers, statuses, (status, container) =>
    isSidecar(container) ? status.started === true : status.ready,
  )
  if (phase === 'Succeeded' && unknowns.length === 0) return { ...fine, reason: 'PodCompleted' }
  if (hasRun(spec, statuses ?? [])) return fine
  return verdict('ContainersNotInitialized', ['unknown', unknowns], ['incomplete', others])
}

export function containersReady({ spec, statuses, phase }: ConditionInput): Verdict {
  if (statuses === undefined) return unknown
  const running = [...(spec.initContainers ?? []).filter(isSidecar), ...(spec.containers ?? [])]
  const { unknowns, others } = sorted(running, statuses, ({ ready }) => ready)
  if (phase === 'Succeeded' && unknowns.length === 0) return { status: 'False', reason: 'PodCompleted' }
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' }
  return verdict('ContainersNotReady', ['unknown', unknowns], ['unready', others])
}

/** The condition Ready: containers first, then readiness gates, which other clients set. */
export function ready(input: ConditionInput, conditions: readonly PodCondition[]): Verdict {
  const containers = containersReady(input)
  if (containers.status === 'False') return containers
  const messages = (input.spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const condition = conditions.find(({ type }) => type === conditionType)
    if (condition === undefined) return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`]
    return condition.status === 'True' ? [] : [`the status of pod readiness gate "${conditionType}" is not "True", but ${condition.status}`]
  })
  return messages.length === 0 ? fine : { status: 'False', reason: 'ReadinessGatesNotReady', message: messages.join(', ') }
}

type Containers = NonNullable<Pod['spec']['containers']>

function sorted(
  containers: Containers,
  statuses: readonly ContainerStatus[] = [],
  isFine: (status: ContainerStatus, container: Containers[number]) => boolean,
) {
  const byName = new Map(statuses.map((status) => [status.name, status]))
  const unknowns: string[] = []
  const others: string[] = []
  for (const container of containers) {
    const status = byName.get(container.name)
    if (status === undefined) unknowns.push(container.name)
    else if (!isFine(status, container)) others.push(container.name)
  }
  return { unknowns, others }
}

function verdict(reason: string, ...lists: readonly (readonly [word: string, names: readonly string[]])[]): Verdict {
  const messages = lists
    .filter(([, names]) => names.length > 0)
    .map(([word, names]) => `containers with ${word} status: [${names.join(' ')}]`)
  return messages.length === 0 ? fine : { status: 'False', reason, message: messages.join(', ') }
}

/** True if a container of `spec.containers` runs or has run. */
export function hasRun({ containers }: Pod['spec'], statuses: readonly ContainerStatus[]): boolean {
  const byName = new Map(statuses.map((status) => [status.name, status]))
  return (containers ?? []).some(({ name }) => {
    const { state, lastState } = byName.get(name) ?? {}
    return state?.running != null || state?.terminated != null || lastState?.terminated != null
  })
}

/** Conditions that nodes set. Others belong to other clients. */
const ofNodes: ReadonlySet<string> = new Set([
  ...['PodResizePending', 'PodResizeInProgress'],
  ...['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'],
])

export function isOfNodes({ type }: PodCondition): boolean {
  return ofNodes.has(type)
}

/** `before` without the node's conditions, followed by `after`. An unchanged status keeps its transition time. */
export function mergeConditions(before: readonly PodCondition[], after: readonly PodCondition[]): PodCondition[] {
  const kept = before.filter((condition) => !isOfNodes(condition))
  const own = after.filter(isOfNodes).map((condition) => {
    const last = before.find(({ type }) => type === condition.type)
    return last?.status === condition.status ? { ...condition, lastTransitionTime: last.lastTransitionTime } : condition
  })
  return [...kept, ...own]
}

/** The strategic merge patch between two statuses; undefined if they are equal. It contains the uid, so that it cannot change another Pod of the same name. */
export function statusPatch({ metadata: { uid }, status: before }: Pod, after: Pod['status']): object | undefined {
  const changed = Object.entries(after).filter(([field, value]) => !jsonEqual(Reflect.get(before, field), value))
  if (changed.length === 0) return undefined
  const status = Object.fromEntries(changed)
  if (!('conditions' in status)) return { metadata: { uid }, status }
  const order = (after.conditions ?? []).map(({ type }) => ({ type }))
  const gone = (before.conditions ?? []).filter(({ type }) => order.every((one) => one.type !== type))
  const conditions = [...(after.conditions ?? []), ...gone.map(({ type }) => ({ $patch: 'delete', type }))]
  return { metadata: { uid }, status: { '$setElementOrder/conditions': order, ...status, conditions } }
}
