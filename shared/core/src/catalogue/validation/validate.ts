import { gatesByDefault, type IsGateOn } from '../../feature-gates.ts'
import type { FieldError } from '../../meta/status.ts'
import type { Names } from '../../names.ts'
import { validateRequired } from '../../schema/required.ts'
import { validateApiService, validateApiServiceStatus } from './api-service.ts'
import { validateAutoscaler, validateAutoscalerStatus } from './autoscaler.ts'
import { validateCertificateRequest, validateCertificateRequestStatus } from './certificate-request.ts'
import { validateConfigMap } from './config-map.ts'
import { validateControllerRevision } from './controller-revision.ts'
import { validateCronJob } from './cron-job.ts'
import { validateCsiDriver, validateCsiStorageCapacity } from './csi-kinds.ts'
import { validateCsiNode } from './csi-node.ts'
import { validateDaemonSet, validateDaemonSetStatus } from './daemon-set.ts'
import { validateDeployment, validateDeploymentStatus } from './deployment.ts'
import { validateDisruptionBudget, validateDisruptionBudgetStatus } from './disruption-budget.ts'
import { validateEndpointSlice, validateEndpoints } from './endpoints.ts'
import { validateCoreEvent, validateEvent } from './event.ts'
import { validateFlowControlStatus, validateFlowSchema, validatePriorityLevel } from './flow-control.ts'
import { refuseDisabledValues } from './gated-values.ts'
import { validateIngress, validateIngressStatus } from './ingress.ts'
import { validateIngressClass } from './ingress-class.ts'
import { validateJob, validateJobStatus } from './job.ts'
import { validateLimitRange } from './limit-range.ts'
import { validateNamespace, validateNamespaceStatus } from './namespace.ts'
import { validateNetworkPolicy } from './network-policy.ts'
import { validateNodeSpec, validateNodeStatus } from './node.ts'
import type { Part } from './part.ts'
import { validatePersistentVolume } from './persistent-volume.ts'
import { validateClaim, validateClaimStatus } from './persistent-volume-claim.ts'
import { validatePod, validatePodStatus } from './pod/pod.ts'
import { validatePodTemplateObject } from './pod-template.ts'
import { validateClusterRole, validateClusterRoleBinding, validateRole, validateRoleBinding } from './rbac.ts'
import { validateReplicaCounts, validateReplicaSet } from './replica-set.ts'
import { validateReplicationController, validateReplicationControllerStatus } from './replication-controller.ts'
import { validateResourceDefinition, validateResourceDefinitionStatus } from './resource-definition.ts'
import { validateResourceQuotaSpec, validateResourceQuotaStatus } from './resource-quota.ts'
import { validateSecret } from './secret.ts'
import { validateService, validateServiceStatus } from './service.ts'
import { validateLease, validatePriorityClass, validateRuntimeClass } from './small-kinds.ts'
import { validateStatefulSet, validateStatefulSetStatus } from './stateful-set.ts'
import { validateStorageClass } from './storage-class.ts'
import { validateVolumeAttachmentSpec, validateVolumeAttachmentStatus } from './volume-attachment.ts'
import { validateWebhookConfiguration } from './webhook.ts'

/** What is wrong with an object; `live` is the one that it replaces. */
type Rule = (object: Part, live: Part | undefined, names: Names, body: unknown, isGateOn: IsGateOn) => FieldError[]

/** The rules of one kind, for the part of the object that a request writes. */
interface Rules {
  readonly main: Rule
  readonly status?: Rule
  /** They say all there is to say, of the main part at least: fields that the type requires may be absent where they do not mind. */
  readonly areComplete?: true | 'main'
}

/** An object on its way into storage. */
export interface ValidationRequest {
  readonly type: string
  /** As it came, or as the patch left it: tells what was said from what was filled in. */
  readonly body: unknown
  /** Decoded and completed. */
  readonly object: Part
  /** The object that is being replaced; absent on create. */
  readonly live?: Part
  readonly part: 'main' | 'status'
  readonly names: Names
  /** Absent: every feature is as it is by default. */
  readonly isGateOn?: IsGateOn
}

/**
 * Everything that is wrong with an object beside its metadata; empty when nothing is. A kind's own rules know more of a field
 * than its type does, so the type only speaks of fields that they say nothing about.
 */
export function validateObject({ type, body, object, live, part, names, isGateOn = gatesByDefault }: ValidationRequest): FieldError[] {
  const rules = rulesByType[type]
  const own = rules?.[part]?.(object, live, names, body, isGateOn) ?? []
  if (part === 'main') own.push(...refuseDisabledValues(type, object, live, isGateOn))
  if (rules?.areComplete === true || rules?.areComplete === part) return own
  const general = validateRequired(type, body, part)
  if (general.length === 0) return own
  const told = new Set(own.map((error) => error.field))
  const toldAbove = new Set(own.flatMap((error) => fieldsAbove(error.field)))
  return [...own, ...general.filter(({ field }) => !told.has(field) && !toldAbove.has(field) && !told.has(field.replace(/\[\d+\]$/, '')))]
}

/** What is said of a part of a field is said of the field. */
function fieldsAbove(field: string): string[] {
  return [...field.matchAll(/[.[]/g)].map(({ index }) => field.slice(0, index))
}

const rulesByType: Readonly<Record<string, Rules>> = {
  'core/v1.Node': { main: validateNodeSpec, status: validateNodeStatus, areComplete: 'main' },
  'core/v1.ResourceQuota': { main: validateResourceQuotaSpec, status: validateResourceQuotaStatus },
  'core/v1.ReplicationController': { main: validateReplicationController, status: validateReplicationControllerStatus },
  'core/v1.Pod': { main: validatePod, status: validatePodStatus, areComplete: true },
  'core/v1.PodTemplate': { main: validatePodTemplateObject, areComplete: true },
  'apps/v1.Deployment': { main: validateDeployment, status: validateDeploymentStatus, areComplete: true },
  'apps/v1.ReplicaSet': { main: validateReplicaSet, status: validateReplicaCounts, areComplete: true },
  'apps/v1.StatefulSet': { main: validateStatefulSet, status: validateStatefulSetStatus, areComplete: true },
  'apps/v1.DaemonSet': { main: validateDaemonSet, status: validateDaemonSetStatus, areComplete: true },
  'apps/v1.ControllerRevision': { main: validateControllerRevision, areComplete: true },
  'batch/v1.Job': { main: validateJob, status: validateJobStatus, areComplete: true },
  'batch/v1.CronJob': { main: validateCronJob, areComplete: true },
  'autoscaling/v1.HorizontalPodAutoscaler': { main: validateAutoscaler, status: validateAutoscalerStatus, areComplete: true },
  'autoscaling/v2.HorizontalPodAutoscaler': { main: validateAutoscaler, status: validateAutoscalerStatus, areComplete: true },
  'autoscaling/v2beta2.HorizontalPodAutoscaler': { main: validateAutoscaler, status: validateAutoscalerStatus, areComplete: true },
  'policy/v1.PodDisruptionBudget': { main: validateDisruptionBudget, status: validateDisruptionBudgetStatus, areComplete: true },
  'networking/v1.Ingress': { main: validateIngress, status: validateIngressStatus, areComplete: true },
  'networking/v1.IngressClass': { main: validateIngressClass, areComplete: true },
  'networking/v1.NetworkPolicy': { main: validateNetworkPolicy, areComplete: true },
  'storage/v1.CSINode': { main: validateCsiNode },
  'storage/v1.VolumeAttachment': { main: validateVolumeAttachmentSpec, status: validateVolumeAttachmentStatus },
  'core/v1.Namespace': { main: validateNamespace, status: validateNamespaceStatus },
  'core/v1.ConfigMap': { main: validateConfigMap },
  'core/v1.Secret': { main: validateSecret },
  'core/v1.Service': { main: validateService, status: validateServiceStatus },
  'core/v1.Endpoints': { main: validateEndpoints },
  'discovery/v1.EndpointSlice': { main: validateEndpointSlice },
  'core/v1.PersistentVolume': { main: validatePersistentVolume },
  'core/v1.PersistentVolumeClaim': { main: validateClaim, status: validateClaimStatus },
  'storage/v1.StorageClass': { main: validateStorageClass },
  'core/v1.LimitRange': { main: validateLimitRange },
  'core/v1.Event': { main: validateCoreEvent },
  'events/v1.Event': { main: validateEvent, areComplete: true },
  'coordination/v1.Lease': { main: validateLease },
  'node/v1.RuntimeClass': { main: validateRuntimeClass, areComplete: true },
  'scheduling/v1.PriorityClass': { main: validatePriorityClass },
  'storage/v1.CSIDriver': { main: validateCsiDriver },
  'storage/v1.CSIStorageCapacity': { main: validateCsiStorageCapacity },
  'storage/v1beta1.CSIStorageCapacity': { main: validateCsiStorageCapacity },
  'certificates/v1.CertificateSigningRequest': { main: validateCertificateRequest, status: validateCertificateRequestStatus },
  'flowcontrol/v1beta1.FlowSchema': { main: validateFlowSchema, status: validateFlowControlStatus },
  'flowcontrol/v1beta2.FlowSchema': { main: validateFlowSchema, status: validateFlowControlStatus },
  'flowcontrol/v1beta1.PriorityLevelConfiguration': { main: validatePriorityLevel, status: validateFlowControlStatus },
  'flowcontrol/v1beta2.PriorityLevelConfiguration': { main: validatePriorityLevel, status: validateFlowControlStatus },
  'admissionregistration/v1.MutatingWebhookConfiguration': { main: validateWebhookConfiguration },
  'admissionregistration/v1.ValidatingWebhookConfiguration': { main: validateWebhookConfiguration },
  'apiextensions/v1.CustomResourceDefinition': { main: validateResourceDefinition, status: validateResourceDefinitionStatus },
  'apiregistration/v1.APIService': { main: validateApiService, status: validateApiServiceStatus },
  'rbac/v1.Role': { main: validateRole },
  'rbac/v1.ClusterRole': { main: validateClusterRole },
  'rbac/v1.RoleBinding': { main: validateRoleBinding, areComplete: true },
  'rbac/v1.ClusterRoleBinding': { main: validateClusterRoleBinding, areComplete: true },
}
