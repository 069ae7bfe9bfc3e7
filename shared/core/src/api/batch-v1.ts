import { boolean, closed, defineTypes, field, int32, int64, known, list, object, ref, string, struct, time } from '../schema/define.ts'

/** The types of batch/v1: one definition each, read by everything that knows a type. */
export const batchV1 = defineTypes({
  CompletionMode: () => closed('NonIndexed', 'Indexed'),
  ConcurrencyPolicy: () => closed('Allow', 'Forbid', 'Replace'),
  CronJob: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('batch/v1.CronJobSpec'), { tag: 2, doc: 'The wanted state, as the user asks for it.' }),
      status: field(ref('batch/v1.CronJobStatus'), {
        tag: 3,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
    }),
  CronJobList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('batch/v1.CronJob')), { tag: 2, required: true, doc: 'The CronJob objects of the list.' }),
      },
      { doc: 'A list of CronJob objects.' },
    ),
  CronJobSpec: () =>
    struct({
      schedule: field(string(), { tag: 1, required: true }),
      timeZone: field(string(), { tag: 8, pointer: true }),
      startingDeadlineSeconds: field(int64(), { tag: 2, pointer: true }),
      concurrencyPolicy: field(ref('batch/v1.ConcurrencyPolicy'), { tag: 3 }),
      suspend: field(boolean(), { tag: 4, pointer: true }),
      jobTemplate: field(ref('batch/v1.JobTemplateSpec'), { tag: 5, required: true }),
      successfulJobsHistoryLimit: field(int32(), { tag: 6, pointer: true }),
      failedJobsHistoryLimit: field(int32(), { tag: 7, pointer: true }),
    }),
  CronJobStatus: () =>
    struct({
      active: field(list(ref('core/v1.ObjectReference')), { tag: 1, listType: 'atomic' }),
      lastScheduleTime: field(time(), { tag: 4, pointer: true }),
      lastSuccessfulTime: field(time(), { tag: 5, pointer: true }),
    }),
  Job: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('batch/v1.JobSpec'), { tag: 2, doc: 'The wanted state, as the user asks for it.' }),
      status: field(ref('batch/v1.JobStatus'), {
        tag: 3,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
    }),
  JobCondition: () =>
    struct({
      type: field(ref('batch/v1.JobConditionType'), { tag: 1, required: true, doc: 'What the condition is about.' }),
      status: field(ref('core/v1.ConditionStatus'), { tag: 2, required: true, doc: 'True, False or Unknown.' }),
      lastProbeTime: field(time(), { tag: 3, doc: 'When the condition was last checked.' }),
      lastTransitionTime: field(time(), { tag: 4, doc: 'When the status last changed from one value to another.' }),
      reason: field(string(), { tag: 5, doc: 'One word in CamelCase that says why the condition has this status, for programs.' }),
      message: field(string(), { tag: 6, doc: 'Details of the last change, for people.' }),
    }),
  JobConditionType: () => known('Suspended', 'Complete', 'Failed', 'FailureTarget'),
  JobList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('batch/v1.Job')), { tag: 2, required: true, doc: 'The Job objects of the list.' }),
      },
      { doc: 'A list of Job objects.' },
    ),
  JobSpec: () =>
    struct({
      parallelism: field(int32(), { tag: 1, pointer: true }),
      completions: field(int32(), { tag: 2, pointer: true }),
      activeDeadlineSeconds: field(int64(), { tag: 3, pointer: true }),
      podFailurePolicy: field(ref('batch/v1.PodFailurePolicy'), { tag: 11, pointer: true }),
      backoffLimit: field(int32(), { tag: 7, pointer: true }),
      selector: field(ref('meta/v1.LabelSelector'), { tag: 4, pointer: true }),
      manualSelector: field(boolean(), { tag: 5, pointer: true }),
      template: field(ref('core/v1.PodTemplateSpec'), { tag: 6, required: true }),
      ttlSecondsAfterFinished: field(int32(), { tag: 8, pointer: true }),
      completionMode: field(ref('batch/v1.CompletionMode'), { tag: 9, pointer: true }),
      suspend: field(boolean(), { tag: 10, pointer: true }),
    }),
  JobStatus: () =>
    struct({
      conditions: field(list(ref('batch/v1.JobCondition')), { tag: 1, patchStrategy: 'merge', patchMergeKey: 'type', listType: 'atomic' }),
      startTime: field(time(), { tag: 2, pointer: true }),
      completionTime: field(time(), { tag: 3, pointer: true }),
      active: field(int32(), { tag: 4 }),
      succeeded: field(int32(), { tag: 5 }),
      failed: field(int32(), { tag: 6 }),
      completedIndexes: field(string(), { tag: 7 }),
      uncountedTerminatedPods: field(ref('batch/v1.UncountedTerminatedPods'), { tag: 8, pointer: true }),
      ready: field(int32(), { tag: 9, pointer: true }),
    }),
  JobTemplateSpec: () =>
    struct({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('batch/v1.JobSpec'), { tag: 2, doc: 'The wanted state, as the user asks for it.' }),
    }),
  PodFailurePolicy: () =>
    struct({
      rules: field(list(ref('batch/v1.PodFailurePolicyRule')), { tag: 1, required: true, listType: 'atomic' }),
    }),
  PodFailurePolicyAction: () => closed('FailJob', 'Ignore', 'Count'),
  PodFailurePolicyOnExitCodesOperator: () => closed('In', 'NotIn'),
  PodFailurePolicyOnExitCodesRequirement: () =>
    struct({
      containerName: field(string(), { tag: 1, keepEmpty: true, pointer: true }),
      operator: field(ref('batch/v1.PodFailurePolicyOnExitCodesOperator'), { tag: 2, required: true }),
      values: field(list(int32()), { tag: 3, required: true, listType: 'set' }),
    }),
  PodFailurePolicyOnPodConditionsPattern: () =>
    struct({
      type: field(ref('core/v1.PodConditionType'), { tag: 1, required: true }),
      status: field(ref('core/v1.ConditionStatus'), {
        tag: 2,
        required: true,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
    }),
  PodFailurePolicyRule: () =>
    struct({
      action: field(ref('batch/v1.PodFailurePolicyAction'), { tag: 1, required: true }),
      onExitCodes: field(ref('batch/v1.PodFailurePolicyOnExitCodesRequirement'), { tag: 2, keepEmpty: true, pointer: true }),
      onPodConditions: field(list(ref('batch/v1.PodFailurePolicyOnPodConditionsPattern')), { tag: 3, keepEmpty: true, listType: 'atomic' }),
    }),
  UncountedTerminatedPods: () =>
    struct({
      succeeded: field(list(string()), { tag: 1, listType: 'set' }),
      failed: field(list(string()), { tag: 2, listType: 'set' }),
    }),
})
