import { unlessGone } from '@orch/client'
import { finishedType, type Job } from '@orch/core/workloads'
import { type Controller, done, own, reconciler, requeueAfter } from '../reconciler/index.ts'
import { workloadBackoff } from './claims.ts'

const jobs = own<Job>('batch/v1', 'jobs')

/** Deletes Jobs after their TTL, and their Pods before them. */
export const finishedJobCleaner: Controller = reconciler<Job>('ttl-after-finished', () => ({
  watches: [jobs],
  backoff: workloadBackoff,
  reconcile: async ({ object, world, clock, signal }) => {
    const waitMs = remainingMs(object, clock.now())
    if (waitMs === undefined) return done
    if (waitMs > 0) return requeueAfter(waitMs)
    const { name = '', namespace } = object.metadata
    const collection = world.collection(jobs)
    await unlessGone(async () => {
      // The TTL of the cached Job may have been extended.
      const live = await collection.get(name, { namespace, signal })
      const { uid } = live.metadata
      if ((remainingMs(live, clock.now()) ?? 1) > 0) return
      await collection.delete(
        name,
        { namespace, signal },
        { propagationPolicy: 'Foreground', ...(uid !== undefined && { preconditions: { uid } }) },
      )
    })
    return done
  },
}))

/** Milliseconds until the Job is deleted. Undefined if it has not finished, has no TTL, or is being deleted. */
function remainingMs(job: Job, nowMs: number): number | undefined {
  const type = finishedType(job)
  const { ttlSecondsAfterFinished } = job.spec
  if (type === undefined || ttlSecondsAfterFinished == null || job.metadata.deletionTimestamp != null) return undefined
  const finished = job.status.conditions?.find((condition) => condition.type === type)
  return Date.parse(finished?.lastTransitionTime ?? '') + ttlSecondsAfterFinished * 1000 - nowMs
}
