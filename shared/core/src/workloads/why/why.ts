import { matchesLabels, toLabelRequirements } from '../../selectors/labels.ts'
import type { Autoscaler } from '../autoscaler/decide.ts'
import type { Budget } from '../disruption/budget.ts'
import type { Service } from '../endpoints/endpoint-pods.ts'
import { isReadyPod, type Pod } from '../pods.ts'
import { conditionOf, deletionWaits, type Finding, shortened, type Wait, type World } from './finding.ts'
import { cronJobFinding, daemonSetFinding, deploymentFinding, jobFinding, replicaSetFinding, statefulSetFinding } from './members.ts'
import { claimFinding, podFinding } from './pod.ts'

interface Named {
  readonly metadata: { readonly name?: string | undefined; readonly uid?: string | undefined }
}

type Explainer = (name: string, world: World) => Finding | undefined

/** Finds an object by name, and makes its finding. */
function explainer<T extends Named>(listOf: (world: World) => readonly T[], findingOf: (object: T, world: World) => Finding): Explainer {
  return (name, world) => {
    const object = listOf(world).find(({ metadata }) => metadata.name === name)
    return object === undefined ? undefined : findingOf(object, world)
  }
}

const explainers: Readonly<Record<string, Explainer>> = {
  CronJob: explainer(({ cronJobs }) => cronJobs, cronJobFinding),
  DaemonSet: explainer(({ daemonSets }) => daemonSets, daemonSetFinding),
  Deployment: explainer(({ deployments }) => deployments, deploymentFinding),
  HorizontalPodAutoscaler: explainer(({ autoscalers }) => autoscalers, autoscalerFinding),
  Job: explainer(({ jobs }) => jobs, jobFinding),
  PersistentVolumeClaim: explainer(({ claims }) => claims, claimFinding),
  Pod: explainer(({ pods }) => pods, podFinding),
  PodDisruptionBudget: explainer(({ budgets }) => budgets, budgetFinding),
  ReplicaSet: explainer(({ replicaSets }) => replicaSets, replicaSetFinding),
  ReplicationController: explainer(
    ({ replicationControllers }) => replicationControllers,
    (set, world) => replicaSetFinding(set, world, 'ReplicationController'),
  ),
  Service: explainer(({ services }) => services, serviceFinding),
  StatefulSet: explainer(({ statefulSets }) => statefulSets, statefulSetFinding),
}

/** Kinds whose waiting can be explained. */
export const explainedKinds: readonly string[] = Object.keys(explainers)

/**
 * Explains why an object makes no progress: its state, its own reasons, and those of the objects below it. Budgets for its Pods and
 * autoscalers that scale it come last. Undefined if the object does not exist.
 *
 *   why('Deployment', 'web', world)   { state: '1 of 3 available', parts: [{ kind: 'ReplicaSet', parts: [{ kind: 'Pod', waits: … }] }] … }
 */
export function why(kind: string, name: string, world: World): Finding | undefined {
  const finding = Object.hasOwn(explainers, kind) ? explainers[kind]?.(name, world) : undefined
  if (finding === undefined) return undefined
  const scalers = world.autoscalers.filter(({ spec: { scaleTargetRef: of } }) => of.kind === kind && of.name === name)
  const pods = podsBelow(kind, name, world)
  const holders = kind === 'PodDisruptionBudget' ? [] : world.budgets.filter((budget) => pods.some((pod) => isHeld(budget, pod)))
  const beside = [
    ...scalers.map((scaler) => autoscalerFinding(scaler)),
    ...holders.map((budget) => budgetFinding(budget)).filter(({ waits }) => waits.length > 0),
  ]
  return beside.length === 0 ? finding : { ...finding, parts: [...finding.parts, ...beside] }
}

/** The Pods of an object, including those of its ReplicaSets and Jobs. */
function podsBelow(kind: string, name: string, world: World): Pod[] {
  if (kind === 'Pod') return world.pods.filter(({ metadata }) => metadata.name === name)
  const owners = new Set<string>([`${kind}/${name}`])
  for (const [member, objects] of [
    ['ReplicaSet', world.replicaSets],
    ['Job', world.jobs],
  ] as const)
    for (const { metadata } of objects) if (isOwned(metadata, owners)) owners.add(`${member}/${metadata.name}`)
  return world.pods.filter(({ metadata }) => isOwned(metadata, owners))
}

function isOwned({ ownerReferences = [] }: Pod['metadata'], owners: ReadonlySet<string>): boolean {
  return ownerReferences.some(({ controller, kind, name }) => controller === true && owners.has(`${kind}/${name}`))
}

function isHeld({ spec: { selector } }: Budget, { metadata }: Pod): boolean {
  if (selector == null) return false
  const reading = toLabelRequirements(selector)
  return reading.kind === 'selector' && matchesLabels(reading.requirements, metadata.labels)
}

/** A budget that currently allows no eviction. */
function budgetFinding(budget: Budget): Finding {
  const { metadata, status } = budget
  const { disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods } = status
  const failed = conditionOf(budget, 'DisruptionAllowed', 'False')
  const waits: Wait[] = deletionWaits(budget)
  if (disruptionsAllowed === 0) {
    const tail = failed?.message === undefined || failed.message === '' ? '' : `: ${failed.message}`
    const message = `it allows no eviction: ${currentHealthy} of ${expectedPods} Pods are healthy, and ${desiredHealthy} must be${tail}`
    waits.push({ cause: 'budget', message })
  }
  const state = `${disruptionsAllowed} disruptions allowed`
  return { kind: 'PodDisruptionBudget', name: metadata.name ?? '', namespace: metadata.namespace ?? '', state, waits, parts: [] }
}

/** An autoscaler that cannot scale, or that would exceed its bounds. */
function autoscalerFinding(autoscaler: Autoscaler): Finding {
  const { metadata, status } = autoscaler
  const conditions = [
    conditionOf(autoscaler, 'AbleToScale', 'False'),
    conditionOf(autoscaler, 'ScalingActive', 'False'),
    conditionOf(autoscaler, 'ScalingLimited', 'True'),
  ]
  return {
    kind: 'HorizontalPodAutoscaler',
    name: metadata.name ?? '',
    namespace: metadata.namespace ?? '',
    state: `${status.currentReplicas ?? 0} replicas, ${status.desiredReplicas ?? 0} wanted`,
    waits: [
      ...deletionWaits(autoscaler),
      ...conditions.flatMap((condition): Wait[] =>
        condition === undefined ? [] : [{ cause: 'autoscaler', message: condition.message ?? '' }],
      ),
    ],
    parts: [],
  }
}

/** A Service without ready Pods. */
function serviceFinding(service: Service, world: World): Finding {
  const { metadata, spec } = service
  const base = { kind: 'Service', name: metadata.name ?? '', namespace: metadata.namespace ?? '' }
  const selector = Object.entries(spec.selector ?? {})
  if (selector.length === 0) return { ...base, state: 'without a selector', waits: deletionWaits(service), parts: [] }
  const pods = world.pods.filter(({ metadata: { labels } }) => selector.every(([key, value]) => labels?.[key] === value))
  const ready = pods.filter(isReadyPod).length
  const printed = selector.map(([key, value]) => `${key}=${value}`).join(',')
  const waits: Wait[] = deletionWaits(service)
  if (pods.length === 0) waits.push({ cause: 'selector', message: `its selector ${printed} matches no Pod` })
  else if (ready === 0) waits.push({ cause: 'selector', message: `none of the ${pods.length} Pods of its selector ${printed} is ready` })
  return { ...base, state: `${ready} of ${pods.length} Pods ready`, waits, ...shortened(pods.map((pod) => podFinding(pod, world))) }
}
