import { type EventDraft, type InformerEvent, isOfEndingNamespace, unlessGone } from '@orch/client'
import { jsonEqual } from '@orch/core/json'
import { StatusError } from '@orch/core/meta'
import {
  type ControllerRevision,
  chooseRevision,
  claim,
  decideStatefulSet,
  inRevisionOrder,
  newRevision,
  ordinalOf,
  type Pod,
  printSorted,
  type RevisionChoice,
  revisionData,
  revisionHash,
  revisionLabel,
  type StatefulSet,
  type StatefulSetPlan,
  type StatefulSetStep,
  statefulSetLabels,
  surplusRevisions,
  templateOfRevision,
  type VolumeClaim,
} from '@orch/core/workloads'
import type { Controller } from '../controller.ts'
import { aboutObject, keyOf, revisionOf } from '../informers/object-keys.ts'
import { reconciler } from '../reconciler/reconciler.ts'
import { inGrowingBatches } from '../reconciler/slow-start.ts'
import { type Caches, mapped, own, ownedBy } from '../reconciler/watches.ts'
import { type Action, done, type Result, requeueAfter, type World } from '../reconciler/world.ts'
import { adoptable, claimActions, mayAdopt, referenceTo, requirementsOf, workloadBackoff } from './claims.ts'
import type { ServedLevel } from './replica-controllers.ts'
import { claimRevisions, createRevision, deleteRevisions, raiseRevision, revisions } from './revisions.ts'

const kind = { apiVersion: 'apps/v1', kind: 'StatefulSet' }
const sets = own<StatefulSet>('apps/v1', 'statefulsets')
const pods = ownedBy<Pod>('v1', 'pods', { isLazy: true })
const orphans = adoptable<Pod, StatefulSet>('v1', 'pods', sets, ({ spec }) => spec.selector)
/** A Pod may wait for the deletion of an earlier Pod's claims. */
const claims = mapped<VolumeClaim>('v1', 'persistentvolumeclaims', setsOfEndedClaim, { isLazy: true })

function setsOfEndedClaim({ kind: what, object }: InformerEvent<VolumeClaim>, caches: Caches): string[] {
  if (what !== 'deleted') return []
  const { name = '', namespace } = object.metadata
  const isOf = ({ metadata, spec }: StatefulSet) =>
    spec.volumeClaimTemplates?.some((template) => ordinalOf(`${template.metadata.name}-${metadata.name}`, name) !== undefined) === true
  return [...caches.read(sets).inNamespace(namespace)].filter(isOf).map(keyOf)
}

/** Runs numbered Pods with stable names and claims, one after another, and keeps the revisions of their template. */
export function statefulSetController(served: ServedLevel): Controller {
  return reconciler<StatefulSet>('statefulset', ({ names }) => {
    const labels = statefulSetLabels(names)
    /** Revisions of the last written statuses, by key. */
    const written = new Map<string, number>()
    return {
      watches: [sets, pods, orphans, revisions, ...(readsClaims(served) ? [claims] : [])],
      backoff: workloadBackoff,
      absent: async ({ key }) => {
        written.delete(key)
        return done
      },
      reconcile: async ({ key, object: set, world, clock, signal }) => {
        // The events of earlier writes cause another pass.
        if (world.isPending || revisionOf(set) < (written.get(key) ?? 0)) return done
        const onWrite = (after: StatefulSet) => void written.set(key, revisionOf(after))
        return runPass({ set, world, labels, served, signal, onWrite }, clock.now())
      },
    }
  })
}

/** Before 1.27 the controller may not list claims; it reads the claims of a Pod that it creates. */
function readsClaims({ level }: ServedLevel): boolean {
  return level >= 27
}

interface PassParts {
  readonly set: StatefulSet
  readonly world: World
  readonly labels: ReturnType<typeof statefulSetLabels>
  readonly served: ServedLevel
  readonly signal: AbortSignal
  onWrite(set: StatefulSet): void
}

async function runPass(parts: PassParts, nowMs: number): Promise<Result> {
  const { set, world, signal, served, labels } = parts
  const selector = requirementsOf(set.spec.selector)
  if (selector === undefined) return done
  if (set.spec.updateStrategy?.type === 'Recreate' && !served.isGateOn('StatefulSetRecreateStrategy')) {
    const { namespace, name } = set.metadata
    const message = `statefulset ${namespace}/${name} uses Recreate strategy but feature gate StatefulSetRecreateStrategy is disabled`
    record(parts, { type: 'Warning', reason: 'UnknownStrategy', message })
    throw new Error(message)
  }
  const claimed = await claimRevisions({ owner: set, owners: sets, kind, selector, world, signal })
  const members = claimed && (await claimPods(parts, selector))
  if (claimed === undefined || members === undefined) return done
  const known = inRevisionOrder(claimed)
  const chosen = await chooseRevisions(parts, known)
  const plan = decideStatefulSet(
    {
      set,
      pods: members,
      claimNamed: (name) => (readsClaims(served) ? world.read(claims).get(`${set.metadata.namespace}/${name}`) : undefined),
      ...chosen,
      labels,
      hasIndexLabel: served.isGateOn('PodIndexLabel'),
      hasRetention: readsClaims(served) && served.isGateOn('StatefulSetAutoDeletePVC'),
      hasMaxUnavailable: served.isGateOn('MaxUnavailableStatefulSet'),
      level: served.level,
    },
    nowMs,
  )
  const { failure, outdatedCount } = await performPlan(parts, plan)
  await writeStatus(parts, plan.statusAfter(outdatedCount))
  const live = new Set([chosen.current.name, chosen.update.name])
  for (const { metadata } of members) live.add(metadata.labels?.[revisionLabel] ?? '')
  await deleteRevisions(surplusRevisions(known, { live, limit: set.spec.revisionHistoryLimit ?? 10 }), world, signal)
  if (failure !== undefined) throw failure
  return plan.waitMs === undefined ? done : requeueAfter(plan.waitMs)
}

/** The Pods of the set, including newly adopted ones. Undefined if it may not adopt. */
async function claimPods(
  { set, world, signal }: PassParts,
  selector: NonNullable<ReturnType<typeof requirementsOf>>,
): Promise<readonly Pod[] | undefined> {
  const { uid, namespace, name = '', deletionTimestamp } = set.metadata
  const cached = world.read(pods)
  const isMember = ({ metadata }: Pod) => ordinalOf(name, metadata.name) !== undefined
  const controlled = [...cached.controlledBy(uid)]
  const free = [...cached.uncontrolled(namespace)].filter((pod) => isMember(pod) && pod.metadata.deletionTimestamp == null)
  const { owned, adopted, released } = claim([...controlled.filter(isMember), ...free], { owner: set.metadata, selector })
  const strangers = deletionTimestamp == null ? controlled.filter((pod) => !isMember(pod)) : []
  if (adopted.length > 0 && !(await mayAdopt(set, sets, world, signal))) return undefined
  const reference = referenceTo(kind, set)
  await world.perform(claimActions({ in: pods, owner: set, reference, adopted, released: [...released, ...strangers] }))
  return [...owned, ...adopted]
}

/** The revisions of the status and of the template; the latter is created if it is new and the set is not being deleted. */
async function chooseRevisions(parts: PassParts, known: readonly ControllerRevision[]) {
  const { set, served } = parts
  const { template } = set.spec
  const { currentRevision = '', updateRevision = '', collisionCount } = set.status
  const data = revisionData(template, served.level)
  const choice = chooseRevision(known, (revision) => isEqualRevision(parts, revision, data, revision === known.at(-1)))
  if (set.metadata.deletionTimestamp != null && choice.kind !== 'keep')
    return {
      current: { name: currentRevision, template },
      update: { name: updateRevision, template },
      collisionCount: collisionCount ?? 0,
    }
  const made = await makeNewest(parts, choice, data)
  const update = { name: made.name, template }
  const former = known.find(({ metadata }) => metadata.name === currentRevision && metadata.name !== update.name)
  const current = former === undefined ? update : { name: currentRevision, template: templateOfRevision(former) ?? template }
  return { current, update, collisionCount: made.collisionCount }
}

/** True if the revision has this data. Since 1.34 the newest revision is also equal if its template has the same meaning (WL-HASH-19). */
function isEqualRevision(parts: PassParts, revision: ControllerRevision, data: string, isNewest: boolean): boolean {
  const { level, isGateOn } = parts.served
  const template = templateOfRevision(revision)
  if (template === undefined) return false
  const isSemantic = isNewest && isGateOn('StatefulSetSemanticRevisionComparison')
  return printSorted(revision.data) === data || (isSemantic && revisionData(template, level) === data)
}

/** Makes the selected revision the newest; returns its name. */
async function makeNewest(
  { set, world, labels, signal }: PassParts,
  choice: RevisionChoice,
  data: string,
): Promise<{ readonly name: string; readonly collisionCount: number }> {
  const { collisionCount: counted } = set.status
  if (choice.kind !== 'create') {
    if (choice.kind === 'raise') await raiseRevision(choice.revision, choice.to, world, signal)
    return { name: choice.revision.metadata.name ?? '', collisionCount: counted ?? 0 }
  }
  for (let collisionCount = counted ?? 0; ; collisionCount++) {
    const hash = revisionHash(data, collisionCount)
    const { template } = set.spec
    const { number } = choice
    const draft = newRevision({ owner: set.metadata, template, hash, number, data, hashLabel: labels.revisionHash })
    const made = await createRevision(draft, referenceTo(kind, set), world, signal)
    if (made !== undefined) return { name: made.metadata.name ?? '', collisionCount }
  }
}

async function writeStatus({ set, world, onWrite }: PassParts, status: StatefulSet['status']): Promise<void> {
  if (jsonEqual(set.status, status)) return
  const after = await unlessGone(() => world.replaceStatus(set, status))
  if (after !== undefined) onWrite(after)
}

/** Returns the first failure, and the number of Pods that were deleted for the update. */
async function performPlan(
  parts: PassParts,
  { groups, isParallel }: StatefulSetPlan,
): Promise<{ readonly failure?: unknown; readonly outdatedCount: number }> {
  let outdatedCount = 0
  const take = async (step: StatefulSetStep) => {
    await takeStep(parts, step)
    if (step.isOutdated) outdatedCount++
  }
  for (const group of groups) {
    if (isParallel) {
      // Holes have no work, but count in a batch.
      const places: StatefulSetStep[] = []
      for (const step of group) places[step.place ?? places.length] = step
      const { errors } = await inGrowingBatches(places, take)
      if (errors.length > 0) return { failure: errors[0], outdatedCount }
      continue
    }
    for (const step of group) {
      try {
        await take(step)
      } catch (failure) {
        return { failure, outdatedCount }
      }
    }
  }
  return { outdatedCount }
}

async function takeStep(parts: PassParts, step: StatefulSetStep): Promise<void> {
  switch (step.kind) {
    case 'create':
      return createPod(parts, step)
    case 'update':
      return updatePod(parts, step)
    case 'delete':
      return deletePod(parts, step.pod)
    case 'claims':
      await createClaims(parts, step)
      return telling(parts, 'update', step.pod, () => changeOwners(parts, step))
  }
}

async function createPod(parts: PassParts, step: StatefulSetStep): Promise<void> {
  const { set, world } = parts
  const { pod, replaced } = step
  if (replaced !== undefined) {
    const { namespace, name } = set.metadata
    const message = `StatefulSet ${namespace}/${name} is recreating failed Pod ${replaced.metadata.name}`
    record(parts, { type: 'Warning', reason: 'RecreatingFailedPod', message })
    await deletePod(parts, replaced)
  }
  await telling(parts, 'create', pod, () => createClaims(parts, step))
  const metadata = { ...pod.metadata, ownerReferences: [referenceTo(kind, set)] }
  const { status: _, ...draft } = pod
  const creation: Action = {
    kind: 'create',
    in: pods,
    object: { ...draft, metadata },
    succeeded: () => succeeded(parts, 'create', pod),
    refused: (message) => failed(parts, 'create', pod, message),
    existed: () => {
      existing = new Error(`a Pod ${pod.metadata.name} that is not of the set exists`)
    },
  }
  let existing: Error | undefined
  await world.perform([creation])
  if (existing !== undefined) throw existing
  await changeOwners(parts, step)
}

async function updatePod(parts: PassParts, step: StatefulSetStep): Promise<void> {
  const { world, signal } = parts
  const { pod } = step
  await telling(parts, 'update', pod, async () => {
    await createClaims(parts, step)
    await changeOwners(parts, step)
  })
  try {
    await world.collection(pods).update(pod, { signal })
  } catch (error) {
    if (error instanceof StatusError && error.reason !== 'Conflict') failed(parts, 'update', pod, error.message)
    throw error
  }
  succeeded(parts, 'update', pod)
}

async function deletePod(parts: PassParts, pod: Pod): Promise<void> {
  const deletion: Action = {
    kind: 'delete',
    in: pods,
    object: pod,
    succeeded: () => succeeded(parts, 'delete', pod),
    refused: (message) => failed(parts, 'delete', pod, message),
  }
  await parts.world.perform([deletion])
}

/** Throws if a claim could not be created, or is being deleted. */
async function createClaims(parts: PassParts, { pod, claims: { missing, ending } }: StatefulSetStep): Promise<void> {
  const { world, signal } = parts
  const set = parts.set.metadata.name
  const failures: string[] = []
  for (const wanted of missing) {
    const { name = '', namespace } = wanted.metadata
    const about = `${wordFor(parts, 'create')} Claim ${name}`
    try {
      // It may not be cached yet.
      const existing = await unlessGone(() => world.collection(claims).get(name, { namespace, signal }))
      if (existing?.metadata.deletionTimestamp != null) failures.push(endingClaim(name))
      if (existing !== undefined) continue
      await world.collection(claims).create(wanted, { signal })
      const message = `${about} Pod ${pod.metadata.name} in StatefulSet ${set} success`
      record(parts, { type: 'Normal', reason: 'SuccessfulCreate', message })
    } catch (error) {
      if (!(error instanceof StatusError) || error.reason === 'AlreadyExists') throw error
      if (isOfEndingNamespace(error)) continue
      const message = `${about} for Pod ${pod.metadata.name} in StatefulSet ${set} failed error: ${error.message}`
      record(parts, { type: 'Warning', reason: 'FailedCreate', message })
      failures.push(`failed to create PVC ${name}: ${error.message}`)
    }
  }
  failures.push(...ending.map(endingClaim))
  if (failures.length > 0) throw new ClaimError(failures.length === 1 ? failures.join() : `[${failures.join(', ')}]`)
}

async function changeOwners(parts: PassParts, { claims: { owned, foreign } }: StatefulSetStep): Promise<void> {
  const { world, signal } = parts
  for (const name of foreign) {
    const message = `PersistentVolumeClaim ${name} has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim`
    record(parts, { type: 'Warning', reason: 'ConflictingController', message })
  }
  for (const { claim: changed, ownerReferences } of owned) {
    const metadata = { ...changed.metadata, ownerReferences: [...ownerReferences] }
    await unlessGone(() => world.collection(claims).update({ ...changed, metadata }, { signal }))
  }
}

/** Reports a failure with claims. */
async function telling(parts: PassParts, verb: Verb, pod: Pod, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (error instanceof ClaimError) failed(parts, verb, pod, error.message)
    throw error
  }
}

function succeeded(parts: PassParts, verb: Verb, pod: Pod): void {
  const message = `${wordFor(parts, verb)} Pod ${pod.metadata.name} in StatefulSet ${parts.set.metadata.name} successful`
  record(parts, { type: 'Normal', reason: `Successful${capitals[verb]}`, message })
}

function failed(parts: PassParts, verb: Verb, pod: Pod, why: string): void {
  const message = `${wordFor(parts, verb)} Pod ${pod.metadata.name} in StatefulSet ${parts.set.metadata.name} failed error: ${why}`
  record(parts, { type: 'Warning', reason: `Failed${capitals[verb]}`, message })
}

function wordFor(parts: PassParts, verb: Verb): string {
  return parts.served.level >= 35 ? capitals[verb] : verb
}

function record({ set, world }: PassParts, draft: EventDraft): void {
  world.record(aboutObject(kind, set), draft)
}

type Verb = 'create' | 'update' | 'delete'

const capitals: Readonly<Record<Verb, string>> = { create: 'Create', update: 'Update', delete: 'Delete' }

function endingClaim(name: string): string {
  return `pvc ${name} is being deleted`
}

/** The claims of a Pod do not match the set. */
class ClaimError extends Error {}
