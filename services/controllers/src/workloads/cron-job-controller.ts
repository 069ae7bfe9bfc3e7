import { isOfEndingNamespace, unlessGone } from '@orch/client'
import { StatusError } from '@orch/core/meta'
import { subdomainLabel } from '@orch/core/names'
import {
  type CronJob,
  type CronJobPlan,
  type CronJobStatus,
  decideCronJob,
  hasUnknownJob,
  type Job,
  jobOf,
  type WorkloadEvent,
} from '@orch/core/workloads'
import { aboutObject, controllerOf, revisionOf } from '../informers/object-keys.ts'
import { type Controller, done, own, ownedBy, type Pass, type Result, reconciler, requeueAfter } from '../reconciler/index.ts'
import { referenceTo, workloadBackoff } from './claims.ts'
import type { ServedLevel } from './replica-controllers.ts'

const ownerKind = { apiVersion: 'batch/v1', kind: 'CronJob' }
const cronJobs = own<CronJob>('batch/v1', 'cronjobs')
const jobs = ownedBy<Job>('batch/v1', 'jobs', { isLazy: true })

/** Creates Jobs at the times of schedules. */
export function cronJobController({ level }: ServedLevel): Controller {
  return reconciler<CronJob>('cronjob', ({ names }) => {
    /** Revisions of the last written states, by key. */
    const written = new Map<string, number>()
    const annotation = subdomainLabel(names, 'batch', 'cronjob-scheduled-timestamp')
    return {
      watches: [cronJobs, jobs],
      backoff: workloadBackoff,
      absent: async ({ key }) => {
        written.delete(key)
        return done
      },
      reconcile: async ({ key, object, world, clock, signal }) => {
        // The event of the last write brings another pass.
        if (revisionOf(object) < (written.get(key) ?? 0)) return done
        const onWrite = (cronJob: CronJob) => written.set(key, revisionOf(cronJob))
        return runPass({ world, level, annotation, signal, onWrite }, object, clock.now())
      },
    }
  })
}

/** One pass over one CronJob. */
interface CronJobPass extends Pass {
  /** Annotation of Jobs with their time. */
  readonly annotation: string
  readonly onWrite: (cronJob: CronJob) => void
}

async function runPass(parts: CronJobPass, cached: CronJob, nowMs: number): Promise<Result> {
  const { world, level } = parts
  const domain = world.names.labelDomain
  const owned = [...world.read(jobs).controlledBy(cached.metadata.uid)]
  const cronJob = hasUnknownJob(cached, owned) ? await readLive(parts, cached) : cached
  if (cronJob === undefined) return done
  const missing = await findMissing(parts, cronJob, owned)
  const plan = decideCronJob({ cronJob, jobs: owned, missing, domain, level }, nowMs)
  for (const job of plan.cleaned) await deleteJob(parts, cronJob, job)
  for (const event of plan.events) record(parts, cronJob, event)
  const started = await startJob(parts, cronJob, plan)
  const status = started.status ?? plan.status
  if (plan.hasNews || started.status !== undefined) parts.onWrite(await world.replaceStatus(cronJob, toStored(status)))
  if (started.failure !== undefined) throw started.failure
  return plan.waitMs === undefined ? done : requeueAfter(plan.waitMs)
}

async function readLive({ world, signal }: CronJobPass, { metadata }: CronJob): Promise<CronJob | undefined> {
  const { name = '', namespace, uid } = metadata
  const live = await unlessGone(() => world.collection(cronJobs).get(name, { namespace, signal }))
  return live?.metadata.uid === uid ? live : undefined
}

/** The cache of Jobs may be older than the status. */
async function findMissing(
  parts: CronJobPass,
  { status, metadata: { namespace } }: CronJob,
  owned: readonly Job[],
): Promise<ReadonlySet<string>> {
  const missing = new Set<string>()
  for (const { name = '', uid = '' } of status.active ?? []) {
    if (owned.some(({ metadata }) => metadata.uid === uid)) continue
    if ((await readJob(parts, name, namespace)) === undefined) missing.add(uid)
  }
  return missing
}

async function readJob({ world, signal }: CronJobPass, name: string, namespace: string | undefined): Promise<Job | undefined> {
  return unlessGone(() => world.collection(jobs).get(name, { namespace, signal }))
}

async function deleteJob(
  parts: CronJobPass,
  cronJob: CronJob,
  { metadata: { name = '', namespace } }: Pick<Job, 'metadata'>,
): Promise<boolean> {
  const { world, signal } = parts
  try {
    await world.collection(jobs).delete(name, { namespace, signal }, { propagationPolicy: 'Background' })
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    record(parts, cronJob, { type: 'Warning', reason: 'FailedDelete', message: `Deleted job: ${error.message}` })
    return false
  }
  record(parts, cronJob, { type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted job ${name}` })
  return true
}

/** Creates the due Job. The status is the one after the creation; undefined without a creation. */
async function startJob(
  parts: CronJobPass,
  cronJob: CronJob,
  { startMs, replaced, status }: CronJobPlan,
): Promise<{ status?: CronJobStatus; failure?: unknown }> {
  if (startMs === undefined) return {}
  const { namespace } = cronJob.metadata
  let { active } = status
  for (const { name = '', uid } of replaced) {
    const failure = new Error(`the Job ${name} could not be replaced`)
    if (!(await deleteJob(parts, cronJob, { metadata: { name, namespace } }))) return { status: { ...status, active }, failure }
    active = active.filter((reference) => reference.uid !== uid)
  }
  const without = { ...status, active }
  const { job, failure } = await createJob(parts, cronJob, startMs)
  if (job === undefined) return { ...(replaced.length > 0 && { status: without }), failure }
  const { name, uid, resourceVersion } = job.metadata
  const reference = { apiVersion: 'batch/v1', kind: 'Job', name, namespace, uid, resourceVersion }
  return {
    status: { ...without, active: [...active, reference], lastScheduleTime: new Date(startMs).toISOString().replace('.000Z', 'Z') },
  }
}

/** The created Job, or the existing one of this name if the CronJob owns it and does not list it. */
async function createJob(parts: CronJobPass, cronJob: CronJob, startMs: number): Promise<{ job?: Job; failure?: unknown }> {
  const { world, level, annotation, signal } = parts
  const { metadata, spec } = jobOf(cronJob, startMs, { annotation, level })
  const ownerReferences = [referenceTo(ownerKind, cronJob)]
  try {
    const draft = { apiVersion: 'batch/v1', kind: 'Job', metadata: { ...metadata, ownerReferences }, spec, status: {} }
    const job = await world.collection(jobs).create(draft, { signal })
    record(parts, cronJob, { type: 'Normal', reason: 'SuccessfulCreate', message: `Created job ${job.metadata.name}` })
    return { job }
  } catch (error) {
    if (!(error instanceof StatusError)) return { failure: error }
    if (error.reason === 'AlreadyExists') return findOwn(parts, cronJob, metadata.name)
    if (!isOfEndingNamespace(error))
      record(parts, cronJob, { type: 'Warning', reason: 'FailedCreate', message: `Error creating job: ${error.message}` })
    return { failure: error }
  }
}

async function findOwn(parts: CronJobPass, { metadata, status }: CronJob, name: string): Promise<{ job?: Job }> {
  const job = await readJob(parts, name, metadata.namespace)
  const isOwn = job !== undefined && controllerOf(job)?.uid === metadata.uid
  const isKnown = status.active?.some(({ uid }) => uid === job?.metadata.uid) === true
  return isOwn && !isKnown ? { job } : {}
}

function record({ world }: CronJobPass, cronJob: CronJob, event: WorkloadEvent): void {
  world.record(aboutObject(ownerKind, cronJob), event)
}

/** An empty list is absent, as in the API. */
function toStored({ active, ...rest }: CronJobStatus): object {
  return active.length === 0 ? rest : { ...rest, active }
}
