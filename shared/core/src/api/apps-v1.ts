import { field, mergedSince30, needed, pointer, required } from '../description/fields.ts'
import { defineTypes, object, struct } from '../description/structs.ts'
import { closed, known, only, string, text, valuesByLevel } from '../description/texts.ts'
import { boolean, int32, int64, intOrString, list, raw, ref, time } from '../description/values.ts'
import { gated, lastChange, metadata, objectList, requiredUntil } from './common.ts'

const selector = (tag: number) =>
  pointer(ref('meta/v1.LabelSelector'), tag, {
    isImmutable: true,
    required: true,
    doc: 'Labels of the pods that are counted. Must match those of the template. Cannot be changed.',
  })

const minReadySeconds = (tag: number) =>
  field(int32({ min: 0 }), tag, 'Seconds that a pod must have been ready before it counts as available. Default: 0.')

/** The types of apps/v1. */
export const appsV1 = defineTypes({
  ControllerRevision: object('An earlier or current template of a controller, kept for comparison and rollback.', () => ({
    metadata,
    data: field(raw(), 2, {
      isImmutable: true,
      needed: 'data is mandatory',
      changes: { 37: { required: true } },
      doc: 'The template, in the format of the controller. Cannot be changed.',
    }),
    revision: field(int64({ min: 0 }), 3, { ...requiredUntil(36), doc: 'Number of the revision; the newest has the highest.' }),
  })),
  ControllerRevisionList: objectList('apps/v1.ControllerRevision'),
  DaemonSet: object('Keeps one pod running on every node that matches.', () => ({
    metadata,
    spec: field(ref('apps/v1.DaemonSetSpec'), 2, {
      changes: { 37: { listedAsRequired: true } },
      doc: 'Desired state of the daemon set: the template of its pods, and the way they are replaced.',
    }),
    status: field(ref('apps/v1.DaemonSetStatus'), 3, 'Observed number of pods. May be out of date.'),
  })),
  DaemonSetCondition: struct("One aspect of a daemon set's state.", () => ({
    type: field(string(), 1, { ...requiredUntil(36), doc: 'Aspect that the condition describes.' }),
    status: field(ref('core/v1.ConditionStatus'), 2, { ...requiredUntil(36), doc: 'True, False or Unknown.' }),
    ...lastChange(3),
  })),
  DaemonSetList: objectList('apps/v1.DaemonSet'),
  DaemonSetSpec: struct('Desired state of a daemon set.', () => ({
    selector: selector(1),
    template: required(ref('core/v1.PodTemplateSpec'), 2, {
      doc: 'The pod that is made on each node which its node selector and tolerations allow.',
    }),
    updateStrategy: field(ref('apps/v1.DaemonSetUpdateStrategy'), 3, 'Way of replacing pods after a change of the template.'),
    minReadySeconds: minReadySeconds(4),
    revisionHistoryLimit: pointer(int32({ min: 0 }), 6, 'Number of earlier revisions that are kept for a rollback. Default: 10.'),
  })),
  DaemonSetStatus: struct('Observed state of a daemon set.', () => ({
    currentNumberScheduled: required(int32({ min: 0 }), 1, 'Nodes that run the pod and should.'),
    numberMisscheduled: required(int32({ min: 0 }), 2, 'Nodes that run the pod but should not.'),
    desiredNumberScheduled: required(int32({ min: 0 }), 3, 'Nodes that should run the pod.'),
    numberReady: required(int32({ min: 0 }), 4, 'Nodes that should run the pod and have a ready one.'),
    observedGeneration: field(int64({ min: 0 }), 5, 'The metadata.generation that the status was derived from.'),
    updatedNumberScheduled: field(int32({ min: 0 }), 6, 'Nodes that run the pod with the newest template.'),
    numberAvailable: field(int32({ min: 0 }), 7, 'Nodes that should run the pod and have one that has been ready for minReadySeconds.'),
    numberUnavailable: field(int32({ min: 0 }), 8, 'Nodes that should run the pod and have no available one.'),
    collisionCount: pointer(int32({ min: 0 }), 9, 'Number of collisions of names of revisions. The hash of the next name includes it.'),
    conditions: mergedSince30('type', list(ref('apps/v1.DaemonSetCondition')), 10, 'State of the daemon set by aspect.'),
  })),
  DaemonSetUpdateStrategy: struct('Way of replacing the pods of a daemon set.', () => ({
    type: field(ref('apps/v1.DaemonSetUpdateStrategyType'), 1, {
      doc: 'RollingUpdate (the default) replaces the pods a few at a time; OnDelete replaces a pod after it was deleted.',
    }),
    rollingUpdate: pointer(ref('apps/v1.RollingUpdateDaemonSet'), 2, 'Settings for RollingUpdate.'),
  })),
  DaemonSetUpdateStrategyType: () => closed('RollingUpdate', 'OnDelete'),
  Deployment: object('Keeps a number of equal pods running and replaces them step by step when their template changes.', () => ({
    metadata,
    spec: field(ref('apps/v1.DeploymentSpec'), 2, {
      changes: { 37: { listedAsRequired: true } },
      doc: 'Desired number of pods, their template, and the way they are replaced.',
    }),
    status: field(ref('apps/v1.DeploymentStatus'), 3, 'Number of pods, and progress of their replacement.'),
  })),
  DeploymentCondition: struct("One aspect of a deployment's state.", () => ({
    type: field(ref('apps/v1.DeploymentConditionType'), 1, {
      ...requiredUntil(36),
      doc: 'Aspect that the condition describes: Available, Progressing or ReplicaFailure.',
    }),
    status: field(ref('core/v1.ConditionStatus'), 2, { ...requiredUntil(36), doc: 'True, False or Unknown.' }),
    lastUpdateTime: field(time(), 6, 'Time of the last write of the condition.'),
    lastTransitionTime: field(time(), 7, 'Time of the last change of the status from one value to another.'),
    reason: field(string(), 4, 'Reason of the status in one CamelCase word, for programs.'),
    message: field(string(), 5, 'Details of the last change, for people.'),
  })),
  DeploymentConditionType: () => known('Available', 'Progressing', 'ReplicaFailure'),
  DeploymentList: objectList('apps/v1.Deployment'),
  DeploymentSpec: struct('Desired number of pods, and their template.', () => ({
    replicas: pointer(int32({ min: 0 }), 1, 'Number of pods. Default: 1. May be zero.'),
    selector: selector(2),
    template: required(ref('core/v1.PodTemplateSpec'), 3, 'The pod that is made.'),
    strategy: field(ref('apps/v1.DeploymentStrategy'), 4, { patchStrategy: 'retainKeys', doc: 'Way of replacing old pods by new ones.' }),
    minReadySeconds: minReadySeconds(5),
    revisionHistoryLimit: pointer(int32({ min: 0 }), 6, 'Number of old replica sets that are kept for a rollback. Default: 10.'),
    paused: field(boolean(), 7, 'True if the controller does not act on changes of the template. Default: false.'),
    progressDeadlineSeconds: pointer(int32({ min: 0 }), 9, {
      doc: 'Seconds without progress after which the deployment is reported as failed. The controller keeps trying. Default: 600.',
    }),
  })),
  DeploymentStatus: struct('Observed state of a deployment.', () => ({
    observedGeneration: field(int64({ min: 0 }), 1, 'The metadata.generation that the status was derived from.'),
    replicas: field(int32({ min: 0 }), 2, 'Number of pods that match the selector and are not ending.'),
    updatedReplicas: field(int32({ min: 0 }), 3, 'Number of pods of the newest template.'),
    readyReplicas: field(int32({ min: 0 }), 7, 'Number of ready pods.'),
    availableReplicas: field(int32({ min: 0 }), 4, 'Number of pods that have been ready for at least minReadySeconds.'),
    unavailableReplicas: field(int32({ min: 0 }), 5, 'Number of available pods that are missing.'),
    terminatingReplicas: pointer(int32({ min: 0 }), 9, {
      ...gated('DeploymentReplicaSetTerminatingReplicas'),
      doc: 'Number of pods of the deployment that are being deleted and have not ended yet. Unset: not counted.',
    }),
    conditions: mergedSince30('type', list(ref('apps/v1.DeploymentCondition')), 6, 'State of the deployment by aspect.'),
    collisionCount: pointer(int32({ min: 0 }), 8, 'Number of collisions of names of replica sets. The hash of the next name includes it.'),
  })),
  DeploymentStrategy: struct('Way of replacing the pods of a deployment.', () => ({
    type: field(ref('apps/v1.DeploymentStrategyType'), 1, {
      doc: 'RollingUpdate (the default) replaces pods gradually; Recreate deletes all old pods first.',
    }),
    rollingUpdate: pointer(ref('apps/v1.RollingUpdateDeployment'), 2, 'Settings for RollingUpdate.'),
  })),
  DeploymentStrategyType: () => closed('Recreate', 'RollingUpdate'),
  PersistentVolumeClaimRetentionPolicyType: () => only(known('Retain', 'Delete')),
  PodManagementPolicyType: () => closed('OrderedReady', 'Parallel'),
  ReplicaSet: object('Keeps a number of equal pods running. Mostly made by a Deployment.', () => ({
    metadata: field(ref('meta/v1.ObjectMeta'), 1, 'Standard metadata. If labels are empty, they default to those of the pod template.'),
    spec: field(ref('apps/v1.ReplicaSetSpec'), 2, {
      changes: { 37: { listedAsRequired: true } },
      doc: 'Desired number of pods, and their template.',
    }),
    status: field(ref('apps/v1.ReplicaSetStatus'), 3, 'Observed number of pods. May be out of date.'),
  })),
  ReplicaSetCondition: struct("One aspect of a replica set's state.", () => ({
    type: field(ref('apps/v1.ReplicaSetConditionType'), 1, {
      ...requiredUntil(36),
      doc: 'Aspect that the condition describes, such as ReplicaFailure.',
    }),
    status: field(ref('core/v1.ConditionStatus'), 2, { ...requiredUntil(36), doc: 'True, False or Unknown.' }),
    ...lastChange(3),
  })),
  ReplicaSetConditionType: () => known('ReplicaFailure'),
  ReplicaSetList: objectList('apps/v1.ReplicaSet'),
  ReplicaSetSpec: struct('Desired number of pods, and their template.', () => ({
    replicas: pointer(int32({ min: 0 }), 1, 'Number of pods. Default: 1. May be zero.'),
    minReadySeconds: minReadySeconds(4),
    selector: selector(2),
    template: field(ref('core/v1.PodTemplateSpec'), 3, 'The pod that is made when there are too few.'),
  })),
  ReplicaSetStatus: struct('Observed state of a replica set.', () => ({
    replicas: required(int32({ min: 0 }), 1, 'Number of pods that match the selector.'),
    fullyLabeledReplicas: field(int32({ min: 0 }), 2, 'Number of pods with all labels of the template.'),
    readyReplicas: field(int32({ min: 0 }), 4, 'Number of ready pods.'),
    availableReplicas: field(int32({ min: 0 }), 5, 'Number of pods that have been ready for at least minReadySeconds.'),
    terminatingReplicas: pointer(int32({ min: 0 }), 7, {
      ...gated('DeploymentReplicaSetTerminatingReplicas'),
      doc: 'Number of pods of the set that are being deleted and have not ended yet. Unset: not counted.',
    }),
    observedGeneration: field(int64({ min: 0 }), 3, 'The metadata.generation that the status was derived from.'),
    conditions: mergedSince30('type', list(ref('apps/v1.ReplicaSetCondition')), 6, 'State of the replica set by aspect.'),
  })),
  RollingUpdateDaemonSet: struct('Speed of a rolling update of a daemon set.', () => ({
    maxUnavailable: pointer(intOrString({ means: 'count' }), 1, {
      doc: 'Maximum number of nodes without an available pod during the update, or a percentage, rounded up. Default: 1. Not 0 if maxSurge is 0.',
    }),
    maxSurge: pointer(intOrString({ means: 'count' }), 2, {
      doc: 'Maximum number of nodes with an old and a new pod at once, or a percentage, rounded up. Default: 0.',
    }),
  })),
  RollingUpdateDeployment: struct('Speed of a rolling update of a deployment.', () => ({
    maxUnavailable: pointer(intOrString({ means: 'count' }), 1, {
      doc: 'Maximum number of unavailable pods during the update, or a percentage, rounded down. Default: 25%. Not 0 if maxSurge is 0.',
    }),
    maxSurge: pointer(intOrString({ means: 'count' }), 2, {
      doc: 'Maximum number of pods above the desired number during the update, or a percentage, rounded up. Default: 25%.',
    }),
  })),
  RollingUpdateStatefulSetStrategy: struct('Pods of a stateful set that a rolling update replaces, and its speed.', () => ({
    partition: pointer(int32({ min: 0 }), 1, 'Only pods with this number or a higher one are replaced. Default: 0, which is all.'),
    maxUnavailable: pointer(intOrString({ means: 'count', max: 100 }), 2, {
      featureGate: 'MaxUnavailableStatefulSet',
      doc: 'Maximum number of unavailable pods during the update, or a percentage, rounded up. Default: 1.',
    }),
  })),
  StatefulSet: object('Keeps a number of pods running, each with a stable name and stable storage.', () => ({
    metadata,
    spec: field(ref('apps/v1.StatefulSetSpec'), 2, {
      changes: { 37: { listedAsRequired: true } },
      doc: 'Desired number of pods, their template, and the way they are replaced.',
    }),
    status: field(ref('apps/v1.StatefulSetStatus'), 3, 'Observed number of pods. May be out of date.'),
  })),
  StatefulSetCondition: struct("One aspect of a stateful set's state.", () => ({
    type: field(string(), 1, { ...requiredUntil(36), doc: 'Aspect that the condition describes.' }),
    status: field(ref('core/v1.ConditionStatus'), 2, { ...requiredUntil(36), doc: 'True, False or Unknown.' }),
    ...lastChange(3),
  })),
  StatefulSetList: objectList('apps/v1.StatefulSet'),
  StatefulSetOrdinals: struct({ since: 26, doc: 'Numbering of the pods of a stateful set.' }, () => ({
    start: field(int32({ min: 0 }), 1, { keepEmpty: true, doc: 'Number of the first pod. Default: 0.' }),
  })),
  StatefulSetPersistentVolumeClaimRetentionPolicy: struct('Retention of the claims of a stateful set.', () => ({
    whenDeleted: field(ref('apps/v1.PersistentVolumeClaimRetentionPolicyType'), 1, {
      doc: 'Action when the set is deleted: Retain (the default) or Delete.',
    }),
    whenScaled: field(ref('apps/v1.PersistentVolumeClaimRetentionPolicyType'), 2, {
      doc: 'Action when the number of pods is reduced: Retain (the default) or Delete.',
    }),
  })),
  StatefulSetSpec: struct('Desired number of pods, and their template.', () => ({
    replicas: pointer(int32({ min: 0 }), 1, 'Number of pods. Default: 1. May be zero.'),
    selector: pointer(ref('meta/v1.LabelSelector'), 2, {
      required: true,
      changes: { 37: { isImmutable: true } },
      doc: 'Labels of the pods that are counted. Must match those of the template. Cannot be changed.',
    }),
    template: required(ref('core/v1.PodTemplateSpec'), 3, 'The pod that is made. Its name is the name of the set followed by a number.'),
    volumeClaimTemplates: field(list(ref('core/v1.PersistentVolumeClaim')), 4, {
      changes: { 30: { listType: 'atomic' }, 37: { isImmutable: true } },
      doc: 'Claims that each pod gets. At least one container must mount each claim. A claim with the name of a volume in the template replaces that volume.',
    }),
    serviceName: required(string(), 5, {
      changes: { 33: { required: false, keepEmpty: true, node: text('label') }, 37: { isImmutable: true } },
      doc: 'Service that gives the pods their names in DNS. It must exist before the set. Cannot be changed.',
    }),
    podManagementPolicy: needed(ref('apps/v1.PodManagementPolicyType'), 6, {
      changes: { 37: { isImmutable: true } },
      doc: 'OrderedReady (the default) makes pods one after another and removes them in reverse; Parallel does it all at once. Cannot be changed.',
    }),
    updateStrategy: field(ref('apps/v1.StatefulSetUpdateStrategy'), 7, 'Way of replacing pods after a change of the template.'),
    revisionHistoryLimit: pointer(int32(), 8, 'Number of earlier revisions that are kept for a rollback. Default: 10.'),
    minReadySeconds: minReadySeconds(9),
    persistentVolumeClaimRetentionPolicy: pointer(ref('apps/v1.StatefulSetPersistentVolumeClaimRetentionPolicy'), 10, {
      featureGate: 'StatefulSetAutoDeletePVC',
      doc: 'Retention of the claims of removed pods. Unset: they are kept.',
    }),
    ordinals: pointer(ref('apps/v1.StatefulSetOrdinals'), 11, {
      ...gated('StatefulSetStartOrdinal'),
      doc: 'Numbering of the pods. Unset: numbers begin with 0.',
    }),
  })),
  StatefulSetStatus: struct('Observed state of a stateful set.', () => ({
    observedGeneration: field(int64({ min: 0 }), 1, 'The metadata.generation that the status was derived from.'),
    replicas: required(int32({ min: 0 }), 2, 'Number of pods made by the set.'),
    readyReplicas: field(int32({ min: 0 }), 3, 'Number of ready pods.'),
    currentReplicas: field(int32({ min: 0 }), 4, 'Number of pods of the revision in currentRevision.'),
    updatedReplicas: field(int32({ min: 0 }), 5, 'Number of pods of the revision in updateRevision.'),
    currentRevision: field(string(), 6, 'Revision of the pods that are not replaced yet.'),
    updateRevision: field(string(), 7, 'Revision of the pods that are replaced already.'),
    collisionCount: pointer(int32({ min: 0 }), 9, 'Number of collisions of names of revisions. The hash of the next name includes it.'),
    conditions: mergedSince30('type', list(ref('apps/v1.StatefulSetCondition')), 10, 'State of the stateful set by aspect.'),
    availableReplicas: field(int32({ min: 0 }), 11, {
      keepEmpty: true,
      doc: 'Number of pods that have been ready for at least minReadySeconds.',
    }),
  })),
  StatefulSetUpdateStrategy: struct('Way of replacing the pods of a stateful set.', () => ({
    type: field(ref('apps/v1.StatefulSetUpdateStrategyType'), 1, {
      doc: 'RollingUpdate (the default) replaces the pods one after another; OnDelete replaces a pod after it was deleted.',
    }),
    rollingUpdate: pointer(ref('apps/v1.RollingUpdateStatefulSetStrategy'), 2, 'Settings for RollingUpdate.'),
  })),
  StatefulSetUpdateStrategyType: () => valuesByLevel(closed('RollingUpdate', 'OnDelete', 'Recreate'), { since: { Recreate: 37 } }),
})
