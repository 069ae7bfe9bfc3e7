import { atomic, checked, field, merged, needed, pointer, required } from '../description/fields.ts'
import { defineTypes, object, struct } from '../description/structs.ts'
import { closed, known, only, string, text, valuesByLevel } from '../description/texts.ts'
import { boolean, int32, int64, list, ref, time } from '../description/values.ts'
import { gated, lastChange, metadata, objectList } from './common.ts'

/** The types of batch/v1. */
export const batchV1 = defineTypes({
  CompletionMode: () => only(closed('NonIndexed', 'Indexed')),
  ConcurrencyPolicy: () => only(closed('Allow', 'Forbid', 'Replace')),
  CronJob: object('Makes jobs at set times.', () => ({
    metadata,
    spec: field(ref('batch/v1.CronJobSpec'), 2, {
      changes: { 36: { listedAsRequired: true } },
      doc: 'Schedule, and template of the jobs.',
    }),
    status: field(ref('batch/v1.CronJobStatus'), 3, 'Active jobs, and the time of the last creation.'),
  })),
  CronJobList: objectList('batch/v1.CronJob'),
  CronJobSpec: struct('Schedule, and template of the jobs.', () => ({
    schedule: needed(string(), 1, {
      declaredSince: 37,
      required: true,
      doc: 'Times in cron format: minute, hour, day of the month, month, day of the week.',
    }),
    timeZone: pointer(string(), 8, 'Time zone of the schedule, by its name in the time zone database. Unset means that of the controller.'),
    startingDeadlineSeconds: pointer(int64({ min: 0 }), 2, {
      doc: 'Seconds by which a job may be late. A later job is skipped and counts as failed. Unset means no limit.',
    }),
    concurrencyPolicy: needed(ref('batch/v1.ConcurrencyPolicy'), 3, {
      doc: 'Effect of a job that is still running at the next time: Allow makes another (the default), Forbid skips the new one, Replace ends the running one.',
    }),
    suspend: pointer(boolean(), 4, 'True if no more jobs are created. Running jobs continue. Default: false.'),
    jobTemplate: required(ref('batch/v1.JobTemplateSpec'), 5, 'The job that is made.'),
    successfulJobsHistoryLimit: pointer(int32({ min: 0 }), 6, 'Number of successful jobs that are kept. Default: 3.'),
    failedJobsHistoryLimit: pointer(int32({ min: 0 }), 7, 'Number of failed jobs that are kept. Default: 1.'),
  })),
  CronJobStatus: struct('Observed state of a cron job.', () => ({
    active: atomic(list(ref('core/v1.ObjectReference')), 1, 'Jobs that run.'),
    lastScheduleTime: pointer(time(), 4, 'Time of the last creation of a job.'),
    lastSuccessfulTime: pointer(time(), 5, 'Time of the last successful end of a job.'),
  })),
  Job: object('Runs pods until enough of them have succeeded.', () => ({
    metadata,
    spec: field(ref('batch/v1.JobSpec'), 2, 'Template of the pods, and the number of completions.'),
    status: field(ref('batch/v1.JobStatus'), 3, 'Observed state of the job.'),
  })),
  JobCondition: struct("One aspect of a job's state.", () => ({
    type: required(ref('batch/v1.JobConditionType'), 1, {
      doc: 'Aspect that the condition describes: Complete, Failed, Suspended or FailureTarget.',
    }),
    status: required(ref('core/v1.ConditionStatus'), 2, 'True, False or Unknown.'),
    lastProbeTime: field(time(), 3, 'Time of the last check of the condition.'),
    ...lastChange(4),
  })),
  JobConditionType: () =>
    valuesByLevel(known('Suspended', 'Complete', 'Failed', 'FailureTarget', 'SuccessCriteriaMet'), { since: { SuccessCriteriaMet: 30 } }),
  JobList: objectList('batch/v1.Job'),
  JobSchedulingConfiguration: struct({ since: 37, doc: 'Scheduling of the pods of a job as a group.' }, () => ({
    schedulingPolicy: pointer(ref('scheduling/v1alpha3.WorkloadPodGroupSchedulingPolicy'), 1, {
      doc: 'Policy for the group, such as all pods at once.',
    }),
    schedulingConstraints: pointer(ref('scheduling/v1alpha3.WorkloadPodGroupSchedulingConstraints'), 2, {
      doc: 'Constraints on the placement of the group.',
    }),
    disruptionMode: pointer(ref('scheduling/v1alpha3.WorkloadPodGroupDisruptionMode'), 3, {
      doc: 'Unit of preemption: single pods, or the whole group.',
    }),
    resourceClaims: merged('name', list(ref('scheduling/v1alpha3.WorkloadPodGroupResourceClaim')), 4, {
      doc: 'Claims that all pods of the group share.',
    }),
  })),
  JobSpec: struct('Template of the pods, and the number of completions.', () => ({
    parallelism: pointer(int32({ min: 0 }), 1, 'Maximum number of pods that run at once. Default: 1. Zero pauses the job.'),
    completions: pointer(int32({ min: 0 }), 2, {
      doc: 'Number of pods that must succeed. Unset: one success ends the job, and parallelism may be any number. Default: 1 if both are unset.',
    }),
    activeDeadlineSeconds: pointer(int64({ min: 0 }), 3, {
      doc: 'Seconds after the start at which the job fails. The time starts again after a suspension. Unset means no limit.',
    }),
    podFailurePolicy: pointer(ref('batch/v1.PodFailurePolicy'), 11, {
      featureGate: 'JobPodFailurePolicy',
      doc: 'Rules for failed pods, by exit code or condition. Unset: each failure counts towards backoffLimit.',
    }),
    successPolicy: pointer(ref('batch/v1.SuccessPolicy'), 16, {
      ...gated('JobSuccessPolicy'),
      doc: 'Rules by which an indexed job succeeds before all of its indexes have. Unset: all indexes are needed.',
    }),
    backoffLimit: pointer(int32({ min: 0 }), 7, 'Failures after which the job fails. Default: 6.'),
    backoffLimitPerIndex: pointer(int32({ min: 0 }), 12, {
      ...gated('JobBackoffLimitPerIndex'),
      doc: 'Number of retries of each index before it counts as failed. For indexed jobs with restartPolicy Never. It cannot be changed.',
    }),
    maxFailedIndexes: pointer(int32({ min: 0 }), 13, {
      ...gated('JobBackoffLimitPerIndex'),
      doc: 'Number of failed indexes above which the job fails. Needs backoffLimitPerIndex.',
    }),
    selector: pointer(ref('meta/v1.LabelSelector'), 4, {
      doc: 'Labels of the pods of the job. Filled in by the server; only give it together with manualSelector.',
    }),
    manualSelector: pointer(boolean(), 5, {
      doc: 'True if the user sets labels and selector. Otherwise the server makes them unique. Default: false.',
    }),
    template: required(ref('core/v1.PodTemplateSpec'), 6, 'The pod that is run. Its restart policy must be Never or OnFailure.'),
    ttlSecondsAfterFinished: pointer(int32({ min: 0 }), 8, {
      doc: 'Seconds after its end at which the job is deleted. Unset means never, 0 at once.',
    }),
    completionMode: pointer(ref('batch/v1.CompletionMode'), 9, {
      doc: 'NonIndexed (the default): all pods are the same. Indexed: each gets a number, and the pod of each number must succeed once.',
    }),
    suspend: pointer(boolean(), 10, 'True if the job runs no pods. Setting it deletes the active pods. Default: false.'),
    podReplacementPolicy: pointer(ref('batch/v1.PodReplacementPolicy'), 14, {
      ...gated('JobPodReplacementPolicy'),
      doc: 'Moment at which a pod is replaced: TerminatingOrFailed (its deletion or failure) or Failed (its end).',
    }),
    managedBy: pointer(string(), 15, {
      ...gated('JobManagedBy'),
      doc: 'Controller that runs the job. Unset: the built-in one. It cannot be changed.',
    }),
    scheduling: pointer(ref('batch/v1.JobSchedulingConfiguration'), 17, {
      featureGate: 'WorkloadWithJob',
      since: 37,
      doc: 'Scheduling of the pods as a group. Unset: each pod is scheduled alone.',
    }),
  })),
  JobStatus: struct('Observed state of a job.', () => ({
    conditions: atomic(list(ref('batch/v1.JobCondition')), 1, {
      patchStrategy: 'merge',
      patchMergeKey: 'type',
      doc: 'State of the job by aspect: Complete, Failed, Suspended.',
    }),
    startTime: pointer(time(), 2, 'Time at which the controller began the job. Unset while suspended.'),
    completionTime: pointer(time(), 3, 'Time of the successful end of the job. Unset for failed jobs.'),
    active: field(int32({ min: 0 }), 4, 'Pods that are pending or running.'),
    succeeded: field(int32({ min: 0 }), 5, 'Pods that succeeded.'),
    failed: field(int32({ min: 0 }), 6, 'Pods that failed.'),
    terminating: pointer(int32({ min: 0 }), 11, {
      ...gated('JobPodReplacementPolicy'),
      doc: 'Number of pods that are being deleted and have not ended yet.',
    }),
    completedIndexes: field(string(), 7, 'Numbers that succeeded, for Indexed jobs, such as 1,3-5,7.'),
    failedIndexes: pointer(string(), 10, {
      ...gated('JobBackoffLimitPerIndex'),
      doc: 'Indexes that have failed, in the form of completedIndexes, such as 1,3-5.',
    }),
    uncountedTerminatedPods: pointer(ref('batch/v1.UncountedTerminatedPods'), 8, {
      doc: 'Finished pods that are not counted yet. Prevents counting a pod twice or missing it.',
    }),
    ready: pointer(int32({ min: 0 }), 9, 'Pods that are ready.'),
  })),
  JobTemplateSpec: struct('A template for a job.', () => ({
    metadata: field(ref('meta/v1.ObjectMeta'), 1, 'Metadata for the jobs: labels, annotations and so on.'),
    spec: field(ref('batch/v1.JobSpec'), 2, 'Desired state of the jobs: the template of their pods, and the number of completions.'),
  })),
  PodFailurePolicy: struct('Rules for failed pods.', () => ({
    rules: required(list(ref('batch/v1.PodFailurePolicyRule'), { itemsMax: 20 }), 1, {
      listType: 'atomic',
      doc: 'Rules in order; the first that matches decides. If none does, the failure counts. At most 20.',
    }),
  })),
  PodFailurePolicyAction: () => valuesByLevel(only(closed('Count', 'FailIndex', 'FailJob', 'Ignore')), { since: { FailIndex: 28 } }),
  PodFailurePolicyOnExitCodesOperator: () => only(closed('In', 'NotIn')),
  PodFailurePolicyOnExitCodesRequirement: struct('Exit codes of containers.', () => ({
    containerName: pointer(string(), 1, {
      keepEmpty: true,
      changes: { 28: { keepEmpty: false } },
      doc: 'Name of the container. Unset means any.',
    }),
    operator: required(ref('batch/v1.PodFailurePolicyOnExitCodesOperator'), 2, {
      needed: 'valid values: ["In" "NotIn"]',
      doc: 'In if a code must be in values, NotIn if a code must not be. Codes of 0 are ignored.',
    }),
    values: required(list(int32()), 3, { listType: 'set', doc: 'The codes, in rising order: 1 to 255 of them. 0 is not allowed with In.' }),
  })),
  PodFailurePolicyOnPodConditionsPattern: struct('A condition of a pod.', () => ({
    type: checked(text('qualifiedName'), 1, { required: true, doc: 'Type of the condition.' }),
    status: required(only(known('False', 'True', 'Unknown')), 2, {
      needed: 'valid values: ["False" "True" "Unknown"]',
      changes: { 35: { required: false, keepEmpty: true } },
      doc: 'Status of the condition. Default: True.',
    }),
  })),
  PodFailurePolicyRule: struct('Rule for a failed pod. Either exit codes or conditions are given.', () => ({
    action: required(ref('batch/v1.PodFailurePolicyAction'), 1, {
      needed: 'valid values: ["Count" "FailJob" "Ignore"]',
      changes: { 28: { needed: 'valid values: ["Count" "FailIndex" "FailJob" "Ignore"]' } },
      doc: 'FailJob ends the job, Ignore makes a new pod without counting, Count counts the failure.',
    }),
    onExitCodes: pointer(ref('batch/v1.PodFailurePolicyOnExitCodesRequirement'), 2, {
      keepEmpty: true,
      changes: { 28: { keepEmpty: false } },
      doc: 'Exit codes of the containers that match.',
    }),
    onPodConditions: atomic(list(ref('batch/v1.PodFailurePolicyOnPodConditionsPattern'), { itemsMax: 20 }), 3, {
      keepEmpty: true,
      changes: { 28: { keepEmpty: false } },
      doc: 'Conditions of the pod; it is enough that one matches. At most 20.',
    }),
  })),
  PodReplacementPolicy: () => closed('TerminatingOrFailed', 'Failed'),
  SuccessPolicy: struct({ since: 30, doc: 'Rules by which a job succeeds early.' }, () => ({
    rules: required(list(ref('batch/v1.SuccessPolicyRule')), 1, {
      listType: 'atomic',
      doc: 'Rules in order, at most 20. The job succeeds with the first one that is met.',
    }),
  })),
  SuccessPolicyRule: struct({ since: 30, doc: 'One way to meet a success policy. At least one of its fields is set.' }, () => ({
    succeededIndexes: pointer(string(), 1, 'Indexes that have to succeed, such as 1,3-5. With succeededCount: the indexes to count among.'),
    succeededCount: pointer(int32(), 2, 'Number of indexes that have to succeed.'),
  })),
  UncountedTerminatedPods: struct('Finished pods that the job has not counted yet.', () => ({
    succeeded: field(list(string()), 1, { listType: 'set', doc: 'Identities of pods that succeeded.' }),
    failed: field(list(string()), 2, { listType: 'set', doc: 'Identities of pods that failed.' }),
  })),
})
