import { type EventDraft, type InformerEvent, unlessGone } from '@orch/client'
import { type ApiObject, checkNamePrefix } from '@orch/core/meta'
import { matchesLabels } from '@orch/core/selectors'
import {
  type BackoffRecord,
  claim,
  decideJob,
  failureDelayMs,
  hasFinalizer,
  indexedPrefix,
  isFinishedJob,
  type Job,
  type JobCreation,
  type JobNames,
  type JobPlan,
  type JobStatus,
  jobNames,
  noFailures,
  type Pod,
  podOf,
  type Tracking,
} from '@orch/core/workloads'
import { type Controller, loopsTogether } from '../controller.ts'
import { aboutObject, controllerOf, keyOf, revisionOf } from '../informers/object-keys.ts'
import type { Reader } from '../informers/shared-informers.ts'
import { type ReconcilerSpec, reconciler } from '../reconciler/reconciler.ts'
import { type Mapped, mapped, type Own, own, ownedBy, type Watched } from '../reconciler/watches.ts'
import { type Action, done, type Pass, type Result, requeueAfter } from '../reconciler/world.ts'
import { claimActions, mayAdopt, referenceTo, requirementsOf } from './claims.ts'
import type { ServedLevel } from './replica-controllers.ts'

const ownerKind = { apiVersion: 'batch/v1', kind: 'Job' }
const backoff = { firstMs: 1000, maxMs: 60_000 }
/** Delay in which events of one Job are collected. */
const gatherMs = 1000

/** State of an unfinished Job in this run. */
interface Memory {
  readonly uid: string | undefined
  backoff: BackoffRecord
  /** Uids of Pods whose finalizer was removed. */
  untracked: ReadonlySet<string>
  /** Revision of the last status that was written. */
  written: number
}

/** Runs Pods until enough have succeeded. */
export function jobController(served: ServedLevel): Controller {
  const tracking = reconciler<Job>('job', ({ names }) => trackedJobs(served, jobNames(names)))
  const orphans = reconciler('job', ({ names }) => orphanedPods(jobNames(names)))
  return loopsTogether(tracking, orphans)
}

function trackedJobs({ level }: ServedLevel, names: JobNames): ReconcilerSpec<Job> {
  const memories = new Map<string, Memory>()
  const isStatusOnly = (event: InformerEvent<Job>) =>
    event.kind === 'updated' && event.before.metadata.generation === event.object.metadata.generation
  const delayMs = (event: InformerEvent<Pod>) => {
    const memory = isFailure(event) ? memories.get(ownerKeyOf(event.object)) : undefined
    return Math.max(gatherMs, failureDelayMs(memory?.backoff ?? noFailures, level))
  }
  const jobs = own<Job>('batch/v1', 'jobs', { delayMs: (event) => (isStatusOnly(event) ? gatherMs : 0) })
  const pods = ownedBy<Pod>('v1', 'pods', { isLazy: true, delayMs })
  const unowned = mapped<Pod>('v1', 'pods', (event, caches) => jobsOfUnowned(event, caches.read(jobs)), { isLazy: true, delayMs: gatherMs })
  return {
    watches: [jobs, pods, unowned],
    backoff,
    absent: async ({ key }) => {
      memories.delete(key)
      return done
    },
    reconcile: async ({ key, object: job, world, clock, signal }) => {
      const memory = memoryOf(memories, key, job)
      if (isFinishedJob(job) || isManagedElsewhere(job, names)) {
        memories.delete(key)
        return done
      }
      // The event of the write brings another pass.
      if (revisionOf(job) < memory.written) return done
      return runPass({ job, jobs, pods, world, names, level, memory, signal }, clock.now())
    },
  }
}

/** True for the event in which a Pod turns Failed. */
function isFailure(event: InformerEvent<Pod>): boolean {
  return event.kind === 'updated' && event.object.status.phase === 'Failed' && event.before.status.phase !== 'Failed'
}

/** The key of the Job that controls the Pod. */
function ownerKeyOf(pod: Pod): string {
  return keyOf({ ...pod, metadata: { ...pod.metadata, name: controllerOf(pod)?.name } })
}

function memoryOf(memories: Map<string, Memory>, key: string, { metadata: { uid } }: Job): Memory {
  const known = memories.get(key)
  if (known?.uid === uid && known !== undefined) return known
  const made: Memory = { uid, backoff: noFailures, untracked: new Set(), written: 0 }
  memories.set(key, made)
  return made
}

function isManagedElsewhere({ spec: { managedBy } }: Job, { manager }: JobNames): boolean {
  return managedBy != null && managedBy !== manager
}

/** A Pod without a controller may be adopted by each Job of its namespace whose selector matches. */
function jobsOfUnowned({ kind, object: pod }: InformerEvent<Pod>, jobs: Reader<Job>): string[] {
  if (kind === 'deleted' || controllerOf(pod) !== undefined) return []
  const matching = [...jobs.inNamespace(pod.metadata.namespace)].filter((job) => {
    const selector = requirementsOf(job.spec.selector)
    return selector !== undefined && matchesLabels(selector, pod.metadata.labels)
  })
  return matching.map(keyOf)
}

/** One pass over one Job. */
interface JobPass extends Pass {
  readonly job: Job
  readonly jobs: Own<Job>
  readonly pods: Watched<Pod>
  readonly names: JobNames
  readonly memory: Memory
}

async function runPass(parts: JobPass, nowMs: number): Promise<Result> {
  const { job, names, level, memory, world } = parts
  const pods = await claimPods(parts)
  if (pods === undefined) return done
  memory.untracked = new Set(
    pods.filter((pod) => hasFinalizer(pod, names)).flatMap(({ metadata: { uid = '' } }) => (memory.untracked.has(uid) ? [uid] : [])),
  )
  const observed = { job, pods, isPending: world.isPending, untracked: memory.untracked, backoff: memory.backoff, names, level }
  const plan = decideJob(observed, nowMs)
  const { failure: stepFailure, ...outcome } = await performStep(parts, plan)
  const trackFailure = await track(parts, plan.trackAfter(outcome), plan.backoff)
  const failure = trackFailure ?? stepFailure
  if (failure !== undefined) throw failure
  return plan.waitMs === undefined ? done : requeueAfter(plan.waitMs)
}

/** The Pods of the Job, including newly adopted ones. Undefined if it may not adopt. */
async function claimPods({ job, jobs, pods, world, names, signal }: JobPass): Promise<readonly Pod[] | undefined> {
  const selector = requirementsOf(job.spec.selector)
  if (selector === undefined) return undefined
  const cached = world.read(pods)
  const { uid, namespace } = job.metadata
  const candidates = [
    ...cached.controlledBy(uid),
    ...[...cached.uncontrolled(namespace)].filter(({ metadata }) => metadata.deletionTimestamp == null),
  ]
  const { owned, adopted, released } = claim(candidates, { owner: job.metadata, selector })
  if (adopted.length > 0 && !(await mayAdopt(job, jobs, world, signal))) return undefined
  const finalizers = [names.finalizer]
  await world.perform(claimActions({ in: pods, owner: job, reference: referenceTo(ownerKind, job), adopted, released, finalizers }))
  const withFinalizer = (pod: Pod): Pod => ({
    ...pod,
    metadata: { ...pod.metadata, finalizers: [...new Set([...(pod.metadata.finalizers ?? []), ...finalizers])] },
  })
  return [...owned, ...adopted.map(withFinalizer)]
}

async function performStep(
  parts: JobPass,
  { step, isEnding }: JobPlan,
): Promise<{ createdCount: number; deleted: readonly Pod[]; failure: unknown }> {
  const { names, world } = parts
  let createdCount = 0
  const kept = new Set<Pod>()
  const creations = step.creations.map((creation) => creationOf(parts, creation, () => createdCount++))
  const deletions = step.deletions.map((pod) => deletionOf(parts, pod, () => kept.add(pod)))
  const tracked = isEnding ? [] : step.deletions.filter((pod) => hasFinalizer(pod, names)).map((pod) => untracking(parts, pod))
  let failure: unknown
  await world.perform([...creations, ...tracked, ...deletions]).catch((error: unknown) => {
    failure = error
  })
  return { createdCount, deleted: step.deletions.filter((pod) => !kept.has(pod)), failure }
}

/** Writes the counts. Returns a failure to remove a finalizer, and throws a failure to write. */
async function track(parts: JobPass, tracking: Tracking, after: BackoffRecord): Promise<unknown> {
  const { job, world, memory } = parts
  const written = tracking.isDue ? await writeStatus(parts, job, tracking.status) : job
  if (tracking.isDue) memory.backoff = after
  if (tracking.turned !== undefined) record(parts, 'Normal', tracking.turned, `Job ${tracking.turned.toLowerCase()}`)
  const removed = new Set<string>()
  let failure: unknown
  const uids = tracking.untracked.map(({ metadata }) => metadata.uid ?? '')
  try {
    await world.perform(tracking.untracked.map((pod) => untracking(parts, pod, () => removed.add(pod.metadata.uid ?? ''))))
    for (const uid of uids) removed.add(uid)
  } catch (error) {
    failure = error
  }
  memory.untracked = new Set([...memory.untracked, ...removed])
  const { status, isDue, ended } = tracking.countAfter(removed)
  if (isDue) await writeStatus(parts, written, status)
  if (ended !== undefined) recordEnd(parts, ended, status)
  return failure
}

async function writeStatus({ world, memory }: JobPass, job: Job, status: JobStatus): Promise<Job> {
  const written = await world.replaceStatus(job, status)
  memory.written = revisionOf(written)
  return written
}

function recordEnd(
  parts: JobPass,
  { type, reason = '', message = '' }: { type: string; reason?: string; message?: string },
  { succeeded = 0 }: JobStatus,
): void {
  const { completions } = parts.job.spec
  if (type === 'Failed') {
    record(parts, 'Warning', reason, message)
    return
  }
  if (completions != null && succeeded > completions) {
    record(parts, 'Warning', 'TooManySucceededPods', 'Too many succeeded pods running after completion count reached')
  }
  record(parts, 'Normal', 'Completed', 'Job completed')
}

function record({ job, world }: JobPass, type: EventDraft['type'], reason: string, message: string): void {
  world.record(aboutObject(ownerKind, job), { type, reason, message })
}

function creationOf(parts: JobPass, creation: JobCreation, created: () => void): Action {
  const { job, pods, names, level } = parts
  const { name = '', namespace } = job.metadata
  const { metadata, spec } = podOf(job, creation, { names, level })
  const plain = checkNamePrefix('subdomain', `${name}-`).length === 0 ? `${name}-` : name
  const generateName = creation.index === undefined ? plain : indexedPrefix(name, creation.index)
  return {
    kind: 'create',
    in: pods,
    object: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...metadata, generateName, namespace, ownerReferences: [referenceTo(ownerKind, job)] },
      spec,
    },
    succeeded: (pod) => {
      created()
      record(parts, 'Normal', 'SuccessfulCreate', `Created pod: ${pod.metadata.name}`)
    },
    refused: (message) => record(parts, 'Warning', 'FailedCreate', `Error creating: ${message}`),
  }
}

function deletionOf(parts: JobPass, pod: Pod, kept: () => void): Action {
  return {
    kind: 'delete',
    in: parts.pods,
    object: pod,
    succeeded: () => record(parts, 'Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`),
    refused: (message) => {
      kept()
      record(parts, 'Warning', 'FailedDelete', `Error deleting: ${message}`)
    },
  }
}

/** Removes the finalizer of a Pod. */
function untracking({ pods, names }: Pick<JobPass, 'pods' | 'names'>, pod: Pod, succeeded?: () => void): Action {
  const patch = { metadata: { '$deleteFromPrimitiveList/finalizers': [names.finalizer] } }
  return { kind: 'patch', in: pods, object: pod, type: 'strategic', patch, ...(succeeded && { succeeded }) }
}

/** Pods of a finished or deleted Job lose the finalizer. */
function orphanedPods(names: JobNames): ReconcilerSpec<ApiObject> {
  const pods: Mapped<Pod> = mapped('v1', 'pods', ({ kind, object: pod }, caches) => {
    if (kind === 'deleted' || !hasFinalizer(pod, names)) return []
    const reference = controllerOf(pod)
    const job = reference && caches.read(jobs).get(ownerKeyOf(pod))
    return job?.metadata.uid === reference?.uid && job !== undefined && !isFinishedJob(job) ? [] : [keyOf(pod)]
  })
  const jobs: Mapped<Job> = mapped('batch/v1', 'jobs', ({ kind, object: job }, caches) => {
    if (kind !== 'deleted' && !isFinishedJob(job)) return []
    return [...caches.read(pods).controlledBy(job.metadata.uid)].filter((pod) => hasFinalizer(pod, names)).map(keyOf)
  })
  return {
    watches: [pods, jobs],
    queue: 'job_orphan_pod',
    backoff,
    reconcile: async ({ key, world, signal }) => {
      const pod = world.read(pods).get(key)
      if (pod === undefined || !hasFinalizer(pod, names)) return done
      const reference = controllerOf(pod)
      if (reference !== undefined) {
        if (reference.kind !== ownerKind.kind || reference.apiVersion !== ownerKind.apiVersion) return done
        // The cached Pod may be outdated.
        const { namespace } = pod.metadata
        const job = await unlessGone(() => world.collection(jobs).get(reference.name, { namespace, signal }))
        if (job?.metadata.uid === reference.uid && job !== undefined && (isManagedElsewhere(job, names) || !isFinishedJob(job))) return done
      }
      await world.perform([untracking({ pods, names }, pod)])
      return done
    },
  }
}
