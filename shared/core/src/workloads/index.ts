/** workloads */

export { limitReplicas, type Timed, toleranceOf } from './autoscaler/behavior.ts'
export {
  type Autoscaler,
  type AutoscalerEvent,
  type AutoscalerMemory,
  type AutoscalerRules,
  decideAutoscaler,
  type FirstLook,
  lookAtReplicas,
  type Measured,
  noMemory,
  type ScaleOutcome,
  unscalableStatus,
} from './autoscaler/decide.ts'
export {
  evaluateMetric,
  type MetricAnswer,
  type MetricResult,
  type MetricSpec,
  type MetricUse,
  proposeForResource,
} from './autoscaler/metrics.ts'
export { averageReplicas, valueReplicas } from './autoscaler/replicas.ts'
export type { MetricValue, PodMetrics } from './autoscaler/samples.ts'
export { claim } from './claim.ts'
export {
  type CronJob,
  type CronJobEvent,
  type CronJobPlan,
  type CronJobStatus,
  decideCronJob,
  hasUnknownJob,
  jobOf,
} from './cron-job/decide.ts'
export { findMissedTimes, nextLookMs } from './cron-job/missed.ts'
export { type FailureBackoff, noRemovals } from './daemon-set/backoff.ts'
export { countDaemonPods, type DaemonSetPlan, decideDaemonSet } from './daemon-set/decide.ts'
export { type DaemonSet, daemonTolerations, podLabels } from './daemon-set/names.ts'
export type { DaemonSetObserved } from './daemon-set/node-pods.ts'
export { affinityTo, type FitOptions, fitOf, type NodeView, nodeOf, tolerationsOf } from './daemon-set/placement.ts'
export { type DeploymentPlan, decideDeployment, type SetWrite } from './deployment/plan.ts'
export { annotationNames } from './deployment/revisions.ts'
export type { Deployment, ReplicaSet } from './deployment/status.ts'
export {
  claimFromTemplate,
  type DeviceClaimNames,
  deviceClaimNames,
  deviceClaimOf,
  deviceClaimsIn,
  isDoneWithClaims,
  isPodConsumer,
  isReservedFor,
  type PodClaim,
  podOfClaim,
  type ResourceClaim,
  type ResourceClaimTemplate,
  withConsumers,
} from './device-claims.ts'
export {
  type Budget,
  decideBudget,
  desiredHealthy,
  type ExpectedScale,
  failedStatus,
  needsScale,
  staleDisruptionMs,
  unmanagedMessage,
} from './disruption/budget.ts'
export { type Family, familiesOf, type Service } from './endpoints/endpoint-pods.ts'
export { distributionOf, withHints } from './endpoints/hints.ts'
export { type Endpoints, isMirrored, mirror, mirroredMax } from './endpoints/mirror.ts'
export { type EndpointNames, endpointNames, endpointsLabels, sliceLabels } from './endpoints/names.ts'
export { type EndpointSlice, groupByPorts, packSlices, type SliceDraft, type SlicesPlan } from './endpoints/slices.ts'
export { repack, type Subset, subsetsOf, truncated } from './endpoints/subsets.ts'
export { sharesOfZones, topologyHints, type ZonedNode } from './endpoints/topology.ts'
export { TriggerTimes } from './endpoints/trigger-times.ts'
export { printSorted, revisionData, revisionHash, templateHashesAt } from './hash/content-hash.ts'
export { type BackoffRecord, noFailures, remainingBackoffMs } from './job/backoff.ts'
export { decideJob, type JobPlan, type JobStatus, type Tracking } from './job/decide.ts'
export { addIndexes, countIndexes, parseIndexes, printIndexes } from './job/indexes.ts'
export {
  finishedType,
  hasFinalizer,
  indexedPrefix,
  isFinishedJob,
  type Job,
  type JobCreation,
  type JobNames,
  jobNames,
  podOf,
} from './job/pods.ts'
export { matchFailurePolicy, matchSuccessPolicy } from './job/policies.ts'
export { type ConditionDraft, conditionPatch } from './pod-condition.ts'
export { isFinishedPod, isReadyPod, type Node, type Pod } from './pods.ts'
export { decideReplicas, type ReplicaCondition, type ReplicasObserved, type ReplicasPlan } from './replicas.ts'
export {
  type ControllerRevision,
  chooseRevision,
  inRevisionOrder,
  newRevision,
  type RevisionChoice,
  surplusRevisions,
  templateOfRevision,
} from './revisions.ts'
export { type ClaimOwners, ownersAfter, type VolumeClaim } from './stateful-set/claims.ts'
export { decideStatefulSet, type StatefulSetPlan, type StatefulSetStep } from './stateful-set/decide.ts'
export { ordinalOf, revisionLabel, type StatefulSet, statefulSetLabels } from './stateful-set/names.ts'
export type { Versioned } from './stateful-set/pod.ts'
export { countMembers } from './stateful-set/status.ts'
export { type Attachment, decideAttachments, volumeNameOnNodes } from './volumes/attach.ts'
export { boundClaim, claimFor, claimIn, growth, unboundVolume, volumeFor, volumeIn, withAnnotations } from './volumes/bind.ts'
export { type ClaimObserved, type ClaimPlan, decideClaim, type VolumeEvent } from './volumes/decide-claim.ts'
export { decideVolume, type VolumePlan } from './volumes/decide-volume.ts'
export { isFit, type MatchOptions, smallestVolume } from './volumes/match.ts'
export {
  claimKeyOf,
  classOf,
  hasAnnotation,
  hasClass,
  isDefault,
  isLargerThanStatus,
  type StorageClass,
  type Volume,
  type VolumeNames,
  volumeNames,
  waitsForConsumer,
} from './volumes/objects.ts'
export { provisionerFinalizer, provisionVolume, simulatedStorage } from './volumes/simulated.ts'
export { claimNameOf, isMadeFor, isUsing } from './volumes/users.ts'
export type { EventObject, Finding, Wait, World } from './why/finding.ts'
export { explainedKinds, why } from './why/why.ts'
