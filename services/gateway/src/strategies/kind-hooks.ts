import type { Resource } from '@orch/core/catalogue'
import { apiServiceStrategy } from './api-service.ts'
import { autoscalerStrategy } from './autoscaler.ts'
import { certificateRequestStrategy } from './certificate-request.ts'
import { csiDriverStrategy } from './csi-driver.ts'
import { daemonSetStrategy } from './daemon-set.ts'
import { deploymentStrategy } from './deployment.ts'
import { deviceTaintRuleStrategy, resourceClaimStrategy, resourceSliceStrategy } from './devices.ts'
import { endpointSliceStrategy } from './endpoint-slice.ts'
import { jobStrategy } from './job.ts'
import type { KindRules } from './kind-rules.ts'
import { namespaceStrategy } from './namespace.ts'
import { persistentVolumeStrategy } from './persistent-volume.ts'
import { persistentVolumeClaimStrategy } from './persistent-volume-claim.ts'
import { podStrategy } from './pod.ts'
import { podCertificateStrategy } from './pod-certificate-request.ts'
import { resourceDefinitionStrategy } from './resource-definition.ts'
import { secretStrategy } from './secret.ts'
import { serviceStrategy } from './service.ts'
import { serviceAccountStrategy } from './service-account.ts'
import { trustBundleStrategy } from './trust-bundle.ts'

/** The rules of writing objects of one kind. */
export type Strategy = ReturnType<typeof strategyOf>

/** The effects of writing an object of a built-in kind besides storing it, by kind. */
const hooksByKind: Readonly<Record<string, KindRules>> = {
  APIService: apiServiceStrategy,
  CSIDriver: csiDriverStrategy,
  CertificateSigningRequest: certificateRequestStrategy,
  ClusterRole: { grants: 'rules' },
  ClusterRoleBinding: { grants: 'role' },
  ClusterTrustBundle: trustBundleStrategy,
  CustomResourceDefinition: resourceDefinitionStrategy,
  DaemonSet: daemonSetStrategy,
  Deployment: deploymentStrategy,
  DeviceTaintRule: deviceTaintRuleStrategy,
  EndpointSlice: endpointSliceStrategy,
  Event: { expires: true },
  HorizontalPodAutoscaler: autoscalerStrategy,
  Job: jobStrategy,
  // A range without a name is named by its uid.
  LimitRange: { prepareCreate: (range) => void Object.assign(range, { metadata: { name: range.metadata.uid, ...range.metadata } }) },
  MutatingAdmissionPolicy: { reads: 'paramKind' },
  MutatingAdmissionPolicyBinding: { reads: 'paramRef' },
  Namespace: namespaceStrategy,
  // The registering client reports the node's capacity.
  Node: { keepsGivenStatus: true },
  PersistentVolume: persistentVolumeStrategy,
  PersistentVolumeClaim: persistentVolumeClaimStrategy,
  Pod: podStrategy,
  PodCertificateRequest: podCertificateStrategy,
  PriorityClass: { keepsGeneration: true },
  ResourceClaim: resourceClaimStrategy,
  ResourceClaimTemplate: { isForDevices: true },
  ResourceSlice: resourceSliceStrategy,
  Role: { grants: 'rules' },
  RoleBinding: { grants: 'role' },
  Secret: secretStrategy,
  Service: serviceStrategy,
  ServiceAccount: serviceAccountStrategy,
  ValidatingAdmissionPolicy: { reads: 'paramKind' },
  ValidatingAdmissionPolicyBinding: { reads: 'paramRef' },
}

const noRules: KindRules = {}

export function strategyOf(resource: Resource) {
  return { behaviour: resource, rules: hooksByKind[resource.hooks ?? ''] ?? noRules }
}
