import { type EventDraft, type InformerEvent, isOfEndingNamespace, unlessGone } from '@orch/client'
import { type ApiObject, StatusError } from '@orch/core/meta'
import {
  annotationNames,
  type Deployment,
  type DeploymentPlan,
  decideDeployment,
  isFinishedPod,
  type Pod,
  type ReplicaSet,
  type SetWrite,
  templateHashesAt,
} from '@orch/core/workloads'
import type { Controller } from '../controller.ts'
import { aboutObject, controllerOf, keyOf } from '../informers/object-keys.ts'
import { reconciler } from '../reconciler/reconciler.ts'
import { type Caches, type Mapped, mapped, own, ownedBy } from '../reconciler/watches.ts'
import { done, type Pass, type Result, requeueAfter, type World } from '../reconciler/world.ts'
import { adoptable, claimActions, mayAdopt, referenceTo, requirementsOf, retriesMax, selectingAll, workloadBackoff } from './claims.ts'
import type { ServedLevel } from './replica-controllers.ts'

const kind = { apiVersion: 'apps/v1', kind: 'Deployment' }
const deployments = own<Deployment>('apps/v1', 'deployments')
const sets = ownedBy<ReplicaSet>('apps/v1', 'replicasets', { isLazy: true })
const orphans = adoptable<ReplicaSet, Deployment>('apps/v1', 'replicasets', deployments, ({ spec }) => spec.selector)

/** Rolls out the templates of Deployments by ReplicaSets. */
export function deploymentController(served: ServedLevel): Controller {
  const templates = templateHashesAt(served.level)
  const hasTerminatingReplicas = served.level >= 33 && served.isGateOn('DeploymentReplicaSetTerminatingReplicas')
  /** The end of an old Pod may allow the new ReplicaSet to start; below 1.37, only the end of the last Pod causes a pass. */
  const pods: Mapped<Pod> = mapped<Pod>(
    'v1',
    'pods',
    (event, caches) => {
      const deployment = recreatedDeployment(event, caches)
      const hasPods = ({ metadata: { uid } }: ReplicaSet) => [...caches.read(pods).controlledBy(uid)].length > 0
      const isHeld = served.level < 37 && [...caches.read(sets).controlledBy(deployment?.metadata.uid)].some(hasPods)
      return deployment === undefined || isHeld ? [] : [keyOf(deployment)]
    },
    { isLazy: true },
  )
  return reconciler<Deployment>('deployment', ({ names }) => ({
    watches: [deployments, sets, orphans, pods],
    backoff: { ...workloadBackoff, retriesMax },
    reconcile: async ({ object: deployment, world, clock, signal }) => {
      const selector = requirementsOf(deployment.spec.selector)
      if (selector === undefined) return done
      if (selector.length === 0) return refuseSelectingAll(deployment, world)
      const { uid, namespace } = deployment.metadata
      const cached = world.read(sets)
      const plan = decideDeployment(
        {
          deployment,
          selector,
          sets: [...cached.controlledBy(uid), ...cached.uncontrolled(namespace)],
          templates,
          hasTemplate: (set) => templates.areEqual(deployment.spec.template, set.spec.template ?? {}),
          annotations: annotationNames(names),
          hasTerminatingReplicas,
          cutsLongNames: served.level >= 34,
          hasRunningPods: ({ metadata }) => [...world.read(pods).controlledBy(metadata.uid)].some((pod) => !isFinishedPod(pod)),
        },
        clock.now(),
      )
      return runPass({ deployment, world, plan, level: served.level, areEqual: templates.areEqual, written: new Map(), signal })
    },
  }))
}

/** The Deployment of a removed Pod, if its strategy is Recreate. */
function recreatedDeployment({ kind: what, object }: InformerEvent<Pod>, caches: Caches): Deployment | undefined {
  const reference = controllerOf(object)
  if (what !== 'deleted' || reference === undefined) return undefined
  const { namespace } = object.metadata
  const set = caches.read(sets).get(`${namespace}/${reference.name}`)
  const owner = set?.metadata.uid === reference.uid ? controllerOf(set) : undefined
  const deployment = caches.read(deployments).get(`${namespace}/${owner?.name}`)
  return deployment?.metadata.uid === owner?.uid && deployment?.spec.strategy?.type === 'Recreate' ? deployment : undefined
}

/** The API refuses an empty selector, which older servers stored. */
async function refuseSelectingAll(deployment: Deployment, world: World): Promise<Result> {
  const { generation = 0 } = deployment.metadata
  world.record(aboutObject(kind, deployment), selectingAll('deployment'))
  if ((deployment.status.observedGeneration ?? 0) >= generation) return done
  return world.writeStatus(deployment, { ...deployment.status, observedGeneration: generation })
}

type AreEqual = (one: Deployment['spec']['template'], other: Deployment['spec']['template']) => boolean

interface PassParts extends Pass {
  readonly deployment: Deployment
  readonly plan: DeploymentPlan
  readonly areEqual: AreEqual
  /** The results of writes, as a ReplicaSet can be written twice in a step. */
  readonly written: Map<string, ReplicaSet>
}

async function runPass(parts: PassParts): Promise<Result> {
  const { deployment, world, plan, signal } = parts
  const { adopted, released, rollback, waitMs } = plan
  if (adopted.length > 0 && !(await mayAdopt(deployment, deployments, world, signal))) return done
  await world.perform(claimActions({ in: sets, owner: deployment, reference: referenceTo(kind, deployment), adopted, released }))
  for (const write of plan.writes) if (!(await writeSet(parts, write))) return done
  if (rollback !== undefined) {
    await world.collection(deployments).update(rollback.replacement, { signal })
    record(parts, rollback)
    return done
  }
  await writeStatus(parts, plan.statusAfter({ kind: 'written' }), plan.revision)
  return waitMs === undefined ? done : requeueAfter(waitMs)
}

/** False if the step ends here. */
async function writeSet(parts: PassParts, write: SetWrite): Promise<boolean> {
  const { world, signal } = parts
  switch (write.kind) {
    case 'create':
      return createSet(parts, write.set)
    case 'change':
      await changeSet(parts, write)
      return true
    case 'delete': {
      const { name = '', namespace } = write.set.metadata
      await unlessGone(() => world.collection(sets).delete(name, { namespace, signal }))
      return true
    }
  }
}

async function createSet(parts: PassParts, set: ReplicaSet): Promise<boolean> {
  const { deployment, world, signal, level } = parts
  const { status: _, ...rest } = set
  const metadata = { ...set.metadata, ownerReferences: [referenceTo(kind, deployment)] }
  const { name = '' } = metadata
  try {
    await world.client.resource<ApiObject>(sets.resource).unanswered.create({ ...rest, metadata }, { signal })
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    if (error.reason === 'AlreadyExists') return resolveCollision(parts, name, error)
    if (isOfEndingNamespace(error)) return false
    const message = `Failed to create new replica set "${name}": ${error.message}`
    record(parts, { type: 'Warning', reason: 'ReplicaSetCreateError', message })
    await writeStatus(parts, parts.plan.statusAfter({ kind: 'refused', message: error.message }))
    throw error
  }
  const to = set.spec.replicas ?? 0
  if (to > 0) scaled(parts, level >= 32 ? `Scaled up replica set ${name} from 0 to ${to}` : `Scaled up replica set ${name} to ${to}`)
  return true
}

/** The ReplicaSet exists but is not cached yet, or is another one: then the next hash has another collision count. */
async function resolveCollision(parts: PassParts, name: string, error: StatusError): Promise<boolean> {
  const { deployment, world, signal, areEqual, plan } = parts
  const { namespace, uid } = deployment.metadata
  const live = await unlessGone(() => world.collection(sets).get(name, { namespace, signal }))
  const template = live?.spec.template
  if (live === undefined || (controllerOf(live)?.uid === uid && template != null && areEqual(template, deployment.spec.template)))
    return false
  await writeStatus(parts, plan.statusAfter({ kind: 'collision' }))
  throw error
}

async function changeSet(parts: PassParts, { set, annotations, minReadySeconds, resize }: SetWrite & { kind: 'change' }): Promise<void> {
  const { world, signal, level } = parts
  const { name = '' } = set.metadata
  const latest = parts.written.get(name) ?? set
  const changed: ReplicaSet = {
    ...latest,
    metadata: { ...latest.metadata, annotations: { ...latest.metadata.annotations, ...annotations } },
    spec: {
      ...latest.spec,
      ...(resize !== undefined && { replicas: resize.to }),
      ...(minReadySeconds !== undefined && { minReadySeconds }),
    },
  }
  parts.written.set(name, await world.collection(sets).update(changed, { signal }))
  if (resize === undefined) return
  const { from, to } = resize
  const way = from < to ? 'up' : 'down'
  const sizes = level >= 32 ? `from ${from} to ${to}` : `to ${to} from ${from}`
  scaled(parts, `Scaled ${way} replica set ${name} ${sizes}`)
}

function scaled(parts: PassParts, message: string): void {
  record(parts, { type: 'Normal', reason: 'ScalingReplicaSet', message })
}

function record({ deployment, world }: PassParts, { type, reason, message }: EventDraft): void {
  world.record(aboutObject(kind, deployment), { type, reason, message })
}

/** The write of a status includes the revision, so that the generation does not grow. */
async function writeStatus({ deployment, world }: PassParts, status: object, revision?: string): Promise<void> {
  const name = annotationNames(world.names).revision
  const { annotations } = deployment.metadata
  if (revision === undefined || annotations?.[name] === revision) {
    await world.writeStatus(deployment, status)
    return
  }
  const metadata = { ...deployment.metadata, annotations: { ...annotations, [name]: revision } }
  await unlessGone(() => world.replaceStatus({ ...deployment, metadata }, status))
}
