import {
  boolean,
  closed,
  defineTypes,
  field,
  int32,
  int64,
  intOrString,
  known,
  list,
  object,
  raw,
  ref,
  string,
  struct,
  time,
} from '../schema/define.ts'

/** The types of apps/v1: one definition each, read by everything that knows a type. */
export const appsV1 = defineTypes({
  ControllerRevision: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      data: field(raw(), { tag: 2 }),
      revision: field(int64(), { tag: 3, required: true }),
    }),
  ControllerRevisionList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('apps/v1.ControllerRevision')), {
          tag: 2,
          required: true,
          doc: 'The ControllerRevision objects of the list.',
        }),
      },
      { doc: 'A list of ControllerRevision objects.' },
    ),
  DaemonSet: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('apps/v1.DaemonSetSpec'), { tag: 2, doc: 'The wanted state, as the user asks for it.' }),
      status: field(ref('apps/v1.DaemonSetStatus'), {
        tag: 3,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
    }),
  DaemonSetCondition: () =>
    struct({
      type: field(string(), { tag: 1, required: true, doc: 'What the condition is about.' }),
      status: field(ref('core/v1.ConditionStatus'), { tag: 2, required: true, doc: 'True, False or Unknown.' }),
      lastTransitionTime: field(time(), { tag: 3, doc: 'When the status last changed from one value to another.' }),
      reason: field(string(), { tag: 4, doc: 'One word in CamelCase that says why the condition has this status, for programs.' }),
      message: field(string(), { tag: 5, doc: 'Details of the last change, for people.' }),
    }),
  DaemonSetList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('apps/v1.DaemonSet')), { tag: 2, required: true, doc: 'The DaemonSet objects of the list.' }),
      },
      { doc: 'A list of DaemonSet objects.' },
    ),
  DaemonSetSpec: () =>
    struct({
      selector: field(ref('meta/v1.LabelSelector'), { tag: 1, required: true, pointer: true }),
      template: field(ref('core/v1.PodTemplateSpec'), { tag: 2, required: true }),
      updateStrategy: field(ref('apps/v1.DaemonSetUpdateStrategy'), { tag: 3 }),
      minReadySeconds: field(int32(), { tag: 4 }),
      revisionHistoryLimit: field(int32(), { tag: 6, pointer: true }),
    }),
  DaemonSetStatus: () =>
    struct({
      currentNumberScheduled: field(int32(), { tag: 1, required: true }),
      numberMisscheduled: field(int32(), { tag: 2, required: true }),
      desiredNumberScheduled: field(int32(), { tag: 3, required: true }),
      numberReady: field(int32(), { tag: 4, required: true }),
      observedGeneration: field(int64(), { tag: 5 }),
      updatedNumberScheduled: field(int32(), { tag: 6 }),
      numberAvailable: field(int32(), { tag: 7 }),
      numberUnavailable: field(int32(), { tag: 8 }),
      collisionCount: field(int32(), { tag: 9, pointer: true }),
      conditions: field(list(ref('apps/v1.DaemonSetCondition')), { tag: 10, patchStrategy: 'merge', patchMergeKey: 'type' }),
    }),
  DaemonSetUpdateStrategy: () =>
    struct({
      type: field(ref('apps/v1.DaemonSetUpdateStrategyType'), { tag: 1 }),
      rollingUpdate: field(ref('apps/v1.RollingUpdateDaemonSet'), { tag: 2, pointer: true }),
    }),
  DaemonSetUpdateStrategyType: () => closed('RollingUpdate', 'OnDelete'),
  Deployment: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('apps/v1.DeploymentSpec'), { tag: 2, doc: 'The wanted state, as the user asks for it.' }),
      status: field(ref('apps/v1.DeploymentStatus'), {
        tag: 3,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
    }),
  DeploymentCondition: () =>
    struct({
      type: field(ref('apps/v1.DeploymentConditionType'), { tag: 1, required: true, doc: 'What the condition is about.' }),
      status: field(ref('core/v1.ConditionStatus'), { tag: 2, required: true, doc: 'True, False or Unknown.' }),
      lastUpdateTime: field(time(), { tag: 6, doc: 'When the condition was last written.' }),
      lastTransitionTime: field(time(), { tag: 7, doc: 'When the status last changed from one value to another.' }),
      reason: field(string(), { tag: 4, doc: 'One word in CamelCase that says why the condition has this status, for programs.' }),
      message: field(string(), { tag: 5, doc: 'Details of the last change, for people.' }),
    }),
  DeploymentConditionType: () => known('Available', 'Progressing', 'ReplicaFailure'),
  DeploymentList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('apps/v1.Deployment')), { tag: 2, required: true, doc: 'The Deployment objects of the list.' }),
      },
      { doc: 'A list of Deployment objects.' },
    ),
  DeploymentSpec: () =>
    struct({
      replicas: field(int32(), { tag: 1, pointer: true }),
      selector: field(ref('meta/v1.LabelSelector'), { tag: 2, required: true, pointer: true }),
      template: field(ref('core/v1.PodTemplateSpec'), { tag: 3, required: true }),
      strategy: field(ref('apps/v1.DeploymentStrategy'), { tag: 4, patchStrategy: 'retainKeys' }),
      minReadySeconds: field(int32(), { tag: 5 }),
      revisionHistoryLimit: field(int32(), { tag: 6, pointer: true }),
      paused: field(boolean(), { tag: 7 }),
      progressDeadlineSeconds: field(int32(), { tag: 9, pointer: true }),
    }),
  DeploymentStatus: () =>
    struct({
      observedGeneration: field(int64(), { tag: 1 }),
      replicas: field(int32(), { tag: 2 }),
      updatedReplicas: field(int32(), { tag: 3 }),
      readyReplicas: field(int32(), { tag: 7 }),
      availableReplicas: field(int32(), { tag: 4 }),
      unavailableReplicas: field(int32(), { tag: 5 }),
      conditions: field(list(ref('apps/v1.DeploymentCondition')), { tag: 6, patchStrategy: 'merge', patchMergeKey: 'type' }),
      collisionCount: field(int32(), { tag: 8, pointer: true }),
    }),
  DeploymentStrategy: () =>
    struct({
      type: field(ref('apps/v1.DeploymentStrategyType'), { tag: 1 }),
      rollingUpdate: field(ref('apps/v1.RollingUpdateDeployment'), { tag: 2, pointer: true }),
    }),
  DeploymentStrategyType: () => closed('Recreate', 'RollingUpdate'),
  PersistentVolumeClaimRetentionPolicyType: () => known('Retain', 'Delete'),
  PodManagementPolicyType: () => closed('OrderedReady', 'Parallel'),
  ReplicaSet: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('apps/v1.ReplicaSetSpec'), { tag: 2, doc: 'The wanted state, as the user asks for it.' }),
      status: field(ref('apps/v1.ReplicaSetStatus'), {
        tag: 3,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
    }),
  ReplicaSetCondition: () =>
    struct({
      type: field(ref('apps/v1.ReplicaSetConditionType'), { tag: 1, required: true, doc: 'What the condition is about.' }),
      status: field(ref('core/v1.ConditionStatus'), { tag: 2, required: true, doc: 'True, False or Unknown.' }),
      lastTransitionTime: field(time(), { tag: 3, doc: 'When the status last changed from one value to another.' }),
      reason: field(string(), { tag: 4, doc: 'One word in CamelCase that says why the condition has this status, for programs.' }),
      message: field(string(), { tag: 5, doc: 'Details of the last change, for people.' }),
    }),
  ReplicaSetConditionType: () => known('ReplicaFailure'),
  ReplicaSetList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('apps/v1.ReplicaSet')), { tag: 2, required: true, doc: 'The ReplicaSet objects of the list.' }),
      },
      { doc: 'A list of ReplicaSet objects.' },
    ),
  ReplicaSetSpec: () =>
    struct({
      replicas: field(int32(), { tag: 1, pointer: true }),
      minReadySeconds: field(int32(), { tag: 4 }),
      selector: field(ref('meta/v1.LabelSelector'), { tag: 2, required: true, pointer: true }),
      template: field(ref('core/v1.PodTemplateSpec'), { tag: 3 }),
    }),
  ReplicaSetStatus: () =>
    struct({
      replicas: field(int32(), { tag: 1, required: true }),
      fullyLabeledReplicas: field(int32(), { tag: 2 }),
      readyReplicas: field(int32(), { tag: 4 }),
      availableReplicas: field(int32(), { tag: 5 }),
      observedGeneration: field(int64(), { tag: 3 }),
      conditions: field(list(ref('apps/v1.ReplicaSetCondition')), { tag: 6, patchStrategy: 'merge', patchMergeKey: 'type' }),
    }),
  RollingUpdateDaemonSet: () =>
    struct({
      maxUnavailable: field(intOrString(), { tag: 1, pointer: true }),
      maxSurge: field(intOrString(), { tag: 2, pointer: true }),
    }),
  RollingUpdateDeployment: () =>
    struct({
      maxUnavailable: field(intOrString(), { tag: 1, pointer: true }),
      maxSurge: field(intOrString(), { tag: 2, pointer: true }),
    }),
  RollingUpdateStatefulSetStrategy: () =>
    struct({
      partition: field(int32(), { tag: 1, pointer: true }),
      maxUnavailable: field(intOrString(), { tag: 2, pointer: true }),
    }),
  StatefulSet: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('apps/v1.StatefulSetSpec'), { tag: 2, doc: 'The wanted state, as the user asks for it.' }),
      status: field(ref('apps/v1.StatefulSetStatus'), {
        tag: 3,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
    }),
  StatefulSetCondition: () =>
    struct({
      type: field(string(), { tag: 1, required: true, doc: 'What the condition is about.' }),
      status: field(ref('core/v1.ConditionStatus'), { tag: 2, required: true, doc: 'True, False or Unknown.' }),
      lastTransitionTime: field(time(), { tag: 3, doc: 'When the status last changed from one value to another.' }),
      reason: field(string(), { tag: 4, doc: 'One word in CamelCase that says why the condition has this status, for programs.' }),
      message: field(string(), { tag: 5, doc: 'Details of the last change, for people.' }),
    }),
  StatefulSetList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('apps/v1.StatefulSet')), { tag: 2, required: true, doc: 'The StatefulSet objects of the list.' }),
      },
      { doc: 'A list of StatefulSet objects.' },
    ),
  StatefulSetPersistentVolumeClaimRetentionPolicy: () =>
    struct({
      whenDeleted: field(ref('apps/v1.PersistentVolumeClaimRetentionPolicyType'), { tag: 1 }),
      whenScaled: field(ref('apps/v1.PersistentVolumeClaimRetentionPolicyType'), { tag: 2 }),
    }),
  StatefulSetSpec: () =>
    struct({
      replicas: field(int32(), { tag: 1, pointer: true }),
      selector: field(ref('meta/v1.LabelSelector'), { tag: 2, required: true, pointer: true }),
      template: field(ref('core/v1.PodTemplateSpec'), { tag: 3, required: true }),
      volumeClaimTemplates: field(list(ref('core/v1.PersistentVolumeClaim')), { tag: 4 }),
      serviceName: field(string(), { tag: 5, required: true }),
      podManagementPolicy: field(ref('apps/v1.PodManagementPolicyType'), { tag: 6 }),
      updateStrategy: field(ref('apps/v1.StatefulSetUpdateStrategy'), { tag: 7 }),
      revisionHistoryLimit: field(int32(), { tag: 8, pointer: true }),
      minReadySeconds: field(int32(), { tag: 9 }),
      persistentVolumeClaimRetentionPolicy: field(ref('apps/v1.StatefulSetPersistentVolumeClaimRetentionPolicy'), {
        tag: 10,
        pointer: true,
      }),
    }),
  StatefulSetStatus: () =>
    struct({
      observedGeneration: field(int64(), { tag: 1 }),
      replicas: field(int32(), { tag: 2, required: true }),
      readyReplicas: field(int32(), { tag: 3 }),
      currentReplicas: field(int32(), { tag: 4 }),
      updatedReplicas: field(int32(), { tag: 5 }),
      currentRevision: field(string(), { tag: 6 }),
      updateRevision: field(string(), { tag: 7 }),
      collisionCount: field(int32(), { tag: 9, pointer: true }),
      conditions: field(list(ref('apps/v1.StatefulSetCondition')), { tag: 10, patchStrategy: 'merge', patchMergeKey: 'type' }),
      availableReplicas: field(int32(), { tag: 11, keepEmpty: true }),
    }),
  StatefulSetUpdateStrategy: () =>
    struct({
      type: field(ref('apps/v1.StatefulSetUpdateStrategyType'), { tag: 1 }),
      rollingUpdate: field(ref('apps/v1.RollingUpdateStatefulSetStrategy'), { tag: 2, pointer: true }),
    }),
  StatefulSetUpdateStrategyType: () => closed('RollingUpdate', 'OnDelete'),
})
