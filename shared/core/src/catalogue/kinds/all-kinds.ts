import type { KindDefinition } from '../../kind/define-resource.ts'
import { mutatingAdmissionPolicy } from './admissionregistration/mutating-admission-policy.ts'
import { mutatingAdmissionPolicyBinding } from './admissionregistration/mutating-admission-policy-binding.ts'
import { mutatingWebhookConfiguration } from './admissionregistration/mutating-webhook-configuration.ts'
import { validatingAdmissionPolicy } from './admissionregistration/validating-admission-policy.ts'
import { validatingAdmissionPolicyBinding } from './admissionregistration/validating-admission-policy-binding.ts'
import { validatingWebhookConfiguration } from './admissionregistration/validating-webhook-configuration.ts'
import { customResourceDefinition } from './apiextensions/custom-resource-definition.ts'
import { apiService } from './apiregistration/api-service.ts'
import { storageVersion } from './apiserverinternal/storage-version.ts'
import { controllerRevision } from './apps/controller-revision.ts'
import { daemonSet } from './apps/daemon-set.ts'
import { deployment } from './apps/deployment.ts'
import { replicaSet } from './apps/replica-set.ts'
import { statefulSet } from './apps/stateful-set.ts'
import { selfSubjectReview } from './authentication/self-subject-review.ts'
import { tokenReview } from './authentication/token-review.ts'
import { localSubjectAccessReview } from './authorization/local-subject-access-review.ts'
import { selfSubjectAccessReview } from './authorization/self-subject-access-review.ts'
import { selfSubjectRulesReview } from './authorization/self-subject-rules-review.ts'
import { subjectAccessReview } from './authorization/subject-access-review.ts'
import { horizontalPodAutoscaler } from './autoscaling/horizontal-pod-autoscaler.ts'
import { cronJob } from './batch/cron-job.ts'
import { job } from './batch/job.ts'
import { certificateSigningRequest } from './certificates/certificate-signing-request.ts'
import { clusterTrustBundle } from './certificates/cluster-trust-bundle.ts'
import { podCertificateRequest } from './certificates/pod-certificate-request.ts'
import { lease } from './coordination/lease.ts'
import { binding } from './core/binding.ts'
import { componentStatus } from './core/component-status.ts'
import { configMap } from './core/config-map.ts'
import { endpoints } from './core/endpoints.ts'
import { event } from './core/event.ts'
import { limitRange } from './core/limit-range.ts'
import { namespace } from './core/namespace.ts'
import { node } from './core/node.ts'
import { persistentVolume } from './core/persistent-volume.ts'
import { persistentVolumeClaim } from './core/persistent-volume-claim.ts'
import { pod } from './core/pod.ts'
import { podTemplate } from './core/pod-template.ts'
import { replicationController } from './core/replication-controller.ts'
import { resourceQuota } from './core/resource-quota.ts'
import { secret } from './core/secret.ts'
import { service } from './core/service.ts'
import { serviceAccount } from './core/service-account.ts'
import { endpointSlice } from './discovery/endpoint-slice.ts'
import { flowSchema } from './flowcontrol/flow-schema.ts'
import { priorityLevelConfiguration } from './flowcontrol/priority-level-configuration.ts'
import { clusterCIDR } from './networking/cluster-cidr.ts'
import { ingress } from './networking/ingress.ts'
import { ingressClass } from './networking/ingress-class.ts'
import { ipAddress } from './networking/ip-address.ts'
import { networkPolicy } from './networking/network-policy.ts'
import { serviceCIDR } from './networking/service-cidr.ts'
import { runtimeClass } from './node/runtime-class.ts'
import { podDisruptionBudget } from './policy/pod-disruption-budget.ts'
import { clusterRole } from './rbac/cluster-role.ts'
import { clusterRoleBinding } from './rbac/cluster-role-binding.ts'
import { role } from './rbac/role.ts'
import { roleBinding } from './rbac/role-binding.ts'
import { deviceClass } from './resource/device-class.ts'
import { deviceTaintRule } from './resource/device-taint-rule.ts'
import { resourceClaim } from './resource/resource-claim.ts'
import { resourceClaimTemplate } from './resource/resource-claim-template.ts'
import { resourceSlice } from './resource/resource-slice.ts'
import { priorityClass } from './scheduling/priority-class.ts'
import { csiDriver } from './storage/csi-driver.ts'
import { csiNode } from './storage/csi-node.ts'
import { csiStorageCapacity } from './storage/csi-storage-capacity.ts'
import { storageClass } from './storage/storage-class.ts'
import { volumeAttachment } from './storage/volume-attachment.ts'
import { volumeAttributesClass } from './storage/volume-attributes-class.ts'
import { storageVersionMigration } from './storagemigration/storage-version-migration.ts'

/**
 * Every kind that API level 1.25 serves, in the order in which discovery lists them within a group version. `npm run golden` writes
 * this file from the files that define kinds.
 */
export const allKinds: readonly KindDefinition[] = [
  mutatingAdmissionPolicy,
  mutatingAdmissionPolicyBinding,
  mutatingWebhookConfiguration,
  validatingAdmissionPolicy,
  validatingAdmissionPolicyBinding,
  validatingWebhookConfiguration,
  customResourceDefinition,
  apiService,
  storageVersion,
  controllerRevision,
  daemonSet,
  deployment,
  replicaSet,
  statefulSet,
  selfSubjectReview,
  tokenReview,
  localSubjectAccessReview,
  selfSubjectAccessReview,
  selfSubjectRulesReview,
  subjectAccessReview,
  horizontalPodAutoscaler,
  cronJob,
  job,
  certificateSigningRequest,
  clusterTrustBundle,
  podCertificateRequest,
  lease,
  binding,
  componentStatus,
  configMap,
  endpoints,
  event,
  limitRange,
  namespace,
  node,
  persistentVolume,
  persistentVolumeClaim,
  pod,
  podTemplate,
  replicationController,
  resourceQuota,
  secret,
  service,
  serviceAccount,
  endpointSlice,
  flowSchema,
  priorityLevelConfiguration,
  clusterCIDR,
  ingress,
  ingressClass,
  ipAddress,
  networkPolicy,
  serviceCIDR,
  runtimeClass,
  podDisruptionBudget,
  clusterRole,
  clusterRoleBinding,
  role,
  roleBinding,
  deviceClass,
  deviceTaintRule,
  resourceClaim,
  resourceClaimTemplate,
  resourceSlice,
  priorityClass,
  csiDriver,
  csiNode,
  csiStorageCapacity,
  storageClass,
  volumeAttachment,
  volumeAttributesClass,
  storageVersionMigration,
].sort((one, other) => (one.plural < other.plural ? -1 : 1))
