import { type EventDraft, type InformerEvent, isRefusal, unlessGone } from '@orch/client'
import { type ApiObject, parseApiVersion, printTime, toInstant } from '@orch/core/meta'
import { matchesLabels } from '@orch/core/selectors'
import {
  type Budget,
  decideBudget,
  type ExpectedScale,
  failedStatus,
  needsScale,
  type Pod,
  staleDisruptionMs,
  unmanagedMessage,
} from '@orch/core/workloads'
import { messageOf } from '@orch/platform'
import { type Controller, loopsTogether } from '../controller.ts'
import { aboutObject, controllerOf, keyOf } from '../informers/object-keys.ts'
import { type ReconcilerSpec, reconciler, type Waking } from '../reconciler/reconciler.ts'
import { type Mapped, mapped, own } from '../reconciler/watches.ts'
import { done, type Pass, type Result, requeueAfter } from '../reconciler/world.ts'
import { requirementsOf, workloadBackoff } from './claims.ts'
import { rootOf } from './kind-resources.ts'
import type { ServedLevel } from './replica-controllers.ts'

const component = 'controllermanager'
const podKind = { apiVersion: 'v1', kind: 'Pod' }
/** First level that enqueues budgets by Pods, as evictions set no condition before 1.26. */
const conditionsSince = 26
/** First level with an event about Pods without a controller. */
const unmanagedSince = 27

interface Scaled extends ApiObject {
  readonly spec?: { readonly replicas?: number }
}

/** Counts the allowed evictions of each budget. */
export function disruptionController({ level }: ServedLevel): Controller {
  const budgets = reconciler<Budget>('disruption', (_, loop) => followedBudgets(level, loop))
  const stale = reconciler('disruption', () => staleConditions())
  return level < conditionsSince ? budgets : loopsTogether(budgets, stale)
}

function followedBudgets(level: number, loop: Waking): ReconcilerSpec<Budget> {
  const budgets = own<Budget>('policy/v1', 'poddisruptionbudgets')
  const pods = mapped<Pod>(
    'v1',
    'pods',
    (event, caches) => budgetOfPod(event, [...caches.read(budgets).inNamespace(event.object.metadata.namespace)], loop),
    {
      isLazy: true,
    },
  )
  // A change of replicas enqueues no budget; changes of Pods do.
  const scaled = (groupVersion: string, plural: string) => mapped<Scaled>(groupVersion, plural, () => [], { isLazy: true })
  const owners: Owners = {
    sets: scaled('apps/v1', 'replicasets'),
    deployments: scaled('apps/v1', 'deployments'),
    statefulSets: scaled('apps/v1', 'statefulsets'),
    replicationControllers: scaled('v1', 'replicationcontrollers'),
  }
  return {
    watches: [budgets, pods, ...Object.values(owners)],
    component,
    backoff: workloadBackoff,
    reconcile: async ({ object: budget, world, clock, signal }) => {
      const nowMs = clock.now()
      const matching = [...world.read(pods).inNamespace(budget.metadata.namespace)].filter((pod) => isMatching(budget, pod))
      return runPass({ budget, world, owners, level, signal }, matching, nowMs)
    },
  }
}

/** Of the budgets that match a Pod, the first by name is enqueued. */
function budgetOfPod({ object: pod }: InformerEvent<Pod>, budgets: readonly Budget[], loop: Waking): string[] {
  const matching = budgets.filter((budget) => isMatching(budget, pod)).toSorted((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1))
  const [first] = matching
  if (first === undefined) return []
  if (matching.length > 1) {
    const { namespace, name } = pod.metadata
    const message = `Pod "${namespace}"/"${name}" matches multiple PodDisruptionBudgets.  Chose "${nameOf(first)}" arbitrarily.`
    loop.record(aboutObject(podKind, pod), { type: 'Warning', reason: 'MultiplePodDisruptionBudgets', message })
  }
  return [keyOf(first)]
}

/** An absent selector matches nothing, an empty one everything. */
function isMatching({ spec: { selector } }: Budget, pod: Pod): boolean {
  const requirements = selector == null ? undefined : requirementsOf(selector)
  return requirements !== undefined && matchesLabels(requirements, pod.metadata.labels)
}

function nameOf({ metadata: { name = '' } }: ApiObject): string {
  return name
}

interface Owners {
  readonly sets: Mapped<Scaled>
  readonly deployments: Mapped<Scaled>
  readonly statefulSets: Mapped<Scaled>
  readonly replicationControllers: Mapped<Scaled>
}

/** One pass over one budget. */
interface BudgetPass extends Pass {
  readonly budget: Budget
  readonly owners: Owners
}

async function runPass(parts: BudgetPass, pods: readonly Pod[], nowMs: number): Promise<Result> {
  const { budget, world } = parts
  if (pods.length === 0) record(parts, { type: 'Normal', reason: 'NoPods', message: 'No matching pods found' })
  let scale: ExpectedScale = { replicas: 0, hasUnmanaged: false }
  try {
    if (needsScale(budget)) scale = await sumScales(parts, pods)
  } catch (error) {
    const message = messageOf(error)
    const event = `Failed to calculate the number of expected pods: ${message}`
    record(parts, { type: 'Warning', reason: 'CalculateExpectedPodCountFailed', message: event })
    return world.writeStatus(budget, failedStatus(budget, message, nowMs))
  }
  const plan = decideBudget({ budget, pods, scale }, nowMs)
  if (plan.hasUnmanaged && parts.level >= unmanagedSince)
    record(parts, { type: 'Warning', reason: 'UnmanagedPods', message: unmanagedMessage(budget.spec.selector) })
  const { namespace } = budget.metadata
  for (const pod of plan.notDeleted) {
    // Upstream prints the namespace twice.
    const message = `Pod was expected by PDB ${namespace}/${namespace} to be deleted but it wasn't`
    world.record(aboutObject(podKind, pod), { type: 'Warning', reason: 'NotDeleted', message })
  }
  if (plan.isDue) await world.replaceStatus(budget, plan.status)
  return plan.waitMs === undefined ? done : requeueAfter(plan.waitMs + 1)
}

function record({ budget, world }: BudgetPass, draft: EventDraft): void {
  world.record(aboutObject({ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' }, budget), draft)
}

/** Each controller counts once. */
async function sumScales(parts: BudgetPass, pods: readonly Pod[]): Promise<ExpectedScale> {
  const scales = new Map<string, number>()
  let hasUnmanaged = false
  for (const pod of pods) {
    const reference = controllerOf(pod)
    if (reference !== undefined && scales.has(reference.uid)) continue
    const found = reference && (await scaleOf(parts, pod))
    if (found === undefined && reference !== undefined) throw new Error(`found no controllers for pod "${pod.metadata.name}"`)
    if (found === undefined) hasUnmanaged = true
    else scales.set(found.uid, found.replicas)
  }
  return { replicas: [...scales.values()].reduce((sum, replicas) => sum + replicas, 0), hasUnmanaged }
}

async function scaleOf(parts: BudgetPass, pod: Pod): Promise<{ readonly uid: string; readonly replicas: number } | undefined> {
  const { world, owners } = parts
  const reference = controllerOf(pod)
  if (reference === undefined) return undefined
  const [group] = reference.apiVersion.split('/')
  const cached = (watch: Mapped<Scaled>, { name, uid }: { readonly name: string; readonly uid: string }) => {
    const object = world.read(watch).get(keyOf({ ...pod, metadata: { namespace: pod.metadata.namespace, name } }))
    return object?.metadata.uid === uid ? object : undefined
  }
  const toScale = (object: Scaled | undefined) => object && { uid: object.metadata.uid ?? '', replicas: object.spec?.replicas ?? 1 }
  if (reference.kind === 'ReplicationController' && reference.apiVersion === 'v1')
    return toScale(cached(owners.replicationControllers, reference))
  if (reference.kind === 'StatefulSet' && group === 'apps') return toScale(cached(owners.statefulSets, reference))
  if (reference.kind === 'ReplicaSet' && group === 'apps') {
    const set = cached(owners.sets, reference)
    const deployment = set && controllerOf(set)
    return toScale(deployment?.kind === 'Deployment' ? cached(owners.deployments, deployment) : set)
  }
  return readScale(parts, pod)
}

/** The scale of a controller of another kind. */
async function readScale(parts: BudgetPass, pod: Pod): Promise<{ readonly uid: string; readonly replicas: number } | undefined> {
  const { world, signal } = parts
  const reference = controllerOf(pod)
  const version = reference && parseApiVersion(reference.apiVersion)
  if (reference === undefined || version === undefined) return undefined
  const root = rootOf(version)
  const resource = await findResource(parts, root, reference.kind)
  if (resource === undefined) throw new Error(`no matches for kind "${reference.kind}" in version "${reference.apiVersion}"`)
  const path = `${root}/namespaces/${pod.metadata.namespace}/${resource.plural}/${reference.name}/scale`
  try {
    const scale = await world.client.request<Scaled>({ method: 'GET', path, signal })
    return scale.metadata.uid === reference.uid ? { uid: reference.uid, replicas: scale.spec?.replicas ?? 0 } : undefined
  } catch (error) {
    if (!isRefusal(error, ['NotFound'])) throw error
    if (resource.hasScale) return undefined
    const { plural } = resource
    throw new Error(`${version.group === '' ? plural : `${plural}.${version.group}`} does not implement the scale subresource`)
  }
}

async function findResource(parts: BudgetPass, path: string, kind: string) {
  interface ResourceList {
    readonly resources?: readonly { readonly name: string; readonly kind: string }[]
  }
  const list = await unlessGone(() => parts.world.client.request<ResourceList>({ method: 'GET', path }))
  const plural = list?.resources?.find((resource) => resource.kind === kind && !resource.name.includes('/'))?.name
  if (plural === undefined) return undefined
  return { plural, hasScale: list?.resources?.some(({ name }) => name === `${plural}/scale`) === true }
}

/** Conditions of Pods that were to be deleted and still exist are reverted. */
function staleConditions(): ReconcilerSpec<ApiObject> {
  const pods = mapped<Pod>('v1', 'pods', ({ kind, object }) =>
    kind !== 'deleted' && staleDisruptionMs(object, 0) !== undefined ? [keyOf(object)] : [],
  )
  return {
    watches: [pods],
    queue: 'stale_pod_disruption',
    component,
    backoff: workloadBackoff,
    reconcile: async ({ key, world, clock, signal }) => {
      const pod = world.read(pods).get(key)
      const nowMs = clock.now()
      const waitMs = pod && staleDisruptionMs(pod, nowMs)
      if (pod === undefined || waitMs === undefined) return done
      if (waitMs > 0) return requeueAfter(waitMs)
      const { name = '', namespace, resourceVersion } = pod.metadata
      const condition = {
        type: 'DisruptionTarget',
        status: 'False',
        lastTransitionTime: printTime(toInstant(nowMs)),
        reason: null,
        message: null,
      }
      const patch = { metadata: { resourceVersion }, status: { conditions: [condition] } }
      await unlessGone(() => world.collection(pods).patch(name, patch, { type: 'strategic', subresource: 'status', namespace, signal }))
      return done
    },
  }
}
