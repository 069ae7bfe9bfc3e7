import type { Catalogue } from '@orch/core/catalogue'
import type { LabelRequirement } from '@orch/core/contracts'
import type { ApiObject } from '@orch/core/meta'
import { subdomainLabel } from '@orch/core/names'
import { type BuiltIn, requireType } from '@orch/core/schema'
import type { LabelSelector } from '@orch/core/selectors'
import { decideReplicas, type Pod, type ReplicaCondition, type ReplicasObserved, type ReplicasPlan } from '@orch/core/workloads'
import { messageOf, passTurns } from '@orch/platform'
import type { Controller } from '../controller.ts'
import type { ControllerName } from '../controller-names.ts'
import { controllerOf } from '../informers/object-keys.ts'
import type { Reader } from '../informers/shared-informers.ts'
import { type Action, done, type Own, own, ownedBy, type Result, reconciler, requeueAfter, type World } from '../reconciler/index.ts'
import { adoptable, claimActions, mayAdopt, referenceTo, requirementsOf, workloadBackoff } from './claims.ts'
import { PodActions } from './pod-actions.ts'

/** The part of the catalogue with the fields of terminating Pods. */
export type ServedLevel = Pick<Catalogue, 'level' | 'isGateOn'>

/** Maintains the number of Pods of each ReplicaSet. */
export function replicaSetController(served: ServedLevel): Controller {
  const hasTerminatingReplicas = served.level >= 33 && served.isGateOn('DeploymentReplicaSetTerminatingReplicas')
  return replicaController({
    name: 'replicaset',
    component: 'replicaset-controller',
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    plural: 'replicasets',
    read: (object) => {
      const { spec, status } = requireType('apps/v1.ReplicaSet', object)
      const { replicas, minReadySeconds, selector, template } = spec
      const hasStatus = status.observedGeneration !== undefined
      return { replicas, minReadySeconds, selector, template, conditions: status.conditions, hasStatus, hasTerminatingReplicas }
    },
  })
}

/** Maintains the number of Pods of each ReplicationController. */
export function replicationController(): Controller {
  return replicaController({
    name: 'replicationcontroller',
    component: 'replication-controller',
    apiVersion: 'v1',
    kind: 'ReplicationController',
    plural: 'replicationcontrollers',
    read: (object) => {
      const { spec, status } = requireType('core/v1.ReplicationController', object)
      const { replicas, minReadySeconds, selector: matchLabels = {}, template } = spec
      return {
        replicas,
        minReadySeconds,
        selector: { matchLabels },
        template,
        conditions: status.conditions,
        hasStatus: status.observedGeneration !== undefined,
        hasTerminatingReplicas: false,
      }
    },
  })
}

/** The parts of an owner that determine its Pods. */
interface ReplicaSpec {
  readonly replicas: number | undefined
  readonly minReadySeconds: number | undefined
  readonly selector: LabelSelector | null | undefined
  readonly template: BuiltIn<'core/v1.PodTemplateSpec'> | null | undefined
  readonly conditions: readonly ReplicaCondition[] | undefined
  /** True after the first write of the status. */
  readonly hasStatus: boolean
  readonly hasTerminatingReplicas: boolean
}

interface ReplicaKind {
  readonly name: ControllerName
  /** The component in events. */
  readonly component: string
  readonly apiVersion: string
  readonly kind: string
  readonly plural: string
  read(object: ApiObject): ReplicaSpec
}

const pods = ownedBy<Pod>('v1', 'pods', { isLazy: true })

function replicaController(kind: ReplicaKind): Controller {
  return reconciler(kind.name, () => {
    const owners = own(kind.apiVersion, kind.plural)
    const selectorOf = (owner: ApiObject) => kind.read(owner).selector
    return {
      watches: [owners, pods, adoptable<Pod, ApiObject>('v1', 'pods', owners, selectorOf)],
      component: kind.component,
      backoff: workloadBackoff,
      reconcile: ({ object, world, clock, signal }) => reconcileReplicas({ kind, owners, owner: object, world, signal }, clock.now()),
    }
  })
}

interface ReplicaPass {
  readonly kind: ReplicaKind
  readonly owners: Own<ApiObject>
  readonly owner: ApiObject
  readonly world: World
  readonly signal: AbortSignal
}

/** Pods of an owner for which it rests for one turn of the event loop after each pass: the next pass over many Pods sees many changes. */
const podsPerTurn = 500

async function reconcileReplicas(pass: ReplicaPass, nowMs: number): Promise<Result> {
  const { kind, owner, world } = pass
  const spec = kind.read(owner)
  const selector = requirementsOf(spec.selector)
  if (selector === undefined) return done
  const observed = observe(pass, spec, selector)
  const plan = decideReplicas(observed, nowMs)
  if (plan.adopted.length > 0 && !(await mayAdopt(owner, pass.owners, world, pass.signal))) return done
  const { adopted, released } = plan
  await world.perform(claimActions({ in: pods, owner, reference: referenceTo(kind, owner), adopted, released }))
  let failure: unknown
  await world.perform(replicaActions(pass, spec, plan)).catch((error: unknown) => {
    failure = error
  })
  // The events of these Pods lead to another pass, whose status counts them. The first status is written at once (WL-RS-11).
  const isCountedLater = failure === undefined && spec.hasStatus && plan.createCount + plan.deleted.length > 0
  if (!isCountedLater) await world.writeStatus(owner, plan.statusAfter(failure === undefined ? undefined : messageOf(failure)))
  if (failure !== undefined) throw failure
  await passTurns(Math.trunc(observed.pods.length / podsPerTurn))
  return plan.waitMs === undefined ? done : requeueAfter(plan.waitMs)
}

function observe({ owner, owners, world }: ReplicaPass, spec: ReplicaSpec, selector: readonly LabelRequirement[]): ReplicasObserved {
  const { uid, namespace } = owner.metadata
  const cached = world.read(pods)
  return {
    owner: owner.metadata,
    selector,
    replicas: spec.replicas ?? 1,
    minReadySeconds: spec.minReadySeconds ?? 0,
    templateLabels: spec.template?.metadata?.labels ?? {},
    conditions: spec.conditions ?? [],
    pods: [...cached.controlledBy(uid), ...cached.uncontrolled(namespace)],
    related: () => relatedPods(owner, world.read(owners), cached),
    costAnnotation: subdomainLabel(world.names, 'controller', 'pod-deletion-cost'),
    isPending: world.isPending,
    hasTerminatingReplicas: spec.hasTerminatingReplicas,
  }
}

/** The Pods of all owners with the same controller, such as the ReplicaSets of one Deployment. */
function relatedPods(owner: ApiObject, owners: Reader<ApiObject>, cached: Reader<Pod>): Pod[] {
  const controller = controllerOf(owner)
  return [...owners.controlledBy(controller?.uid)].flatMap(({ metadata }) => [...cached.controlledBy(metadata.uid)])
}

function replicaActions({ kind, owner, world }: ReplicaPass, { template }: ReplicaSpec, { createCount, deleted }: ReplicasPlan): Action[] {
  const actions = new PodActions({ kind, owner, world, pods })
  const create = actions.create(template)
  return [...Array.from({ length: createCount }, () => create), ...deleted.map((pod) => actions.remove(pod))]
}
