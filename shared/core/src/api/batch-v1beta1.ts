import { inVersion } from '../description/in-version.ts'
import { batchV1 } from './batch-v1.ts'

const { ConcurrencyPolicy, CronJob, CronJobList, CronJobSpec, CronJobStatus, JobTemplateSpec } = batchV1

/** The types of batch/v1beta1: CronJobs, which are the same as in v1. */
export const batchV1beta1 = inVersion(
  { ConcurrencyPolicy, CronJob, CronJobList, CronJobSpec, CronJobStatus, JobTemplateSpec },
  { from: 'batch/v1', to: 'batch/v1beta1' },
)
