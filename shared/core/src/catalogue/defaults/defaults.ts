import { gatesByDefault, type IsGateOn } from '../../feature-gates.ts'
import type { Names } from '../../names.ts'
import type { Draft } from './draft.ts'
import { fillEndpointSlice, fillEndpoints, fillIngressClass, fillNetworkPolicy, fillService } from './network.ts'
import { fillPod, fillPodTemplate } from './pod.ts'
import {
  fillApiService,
  fillCustomResourceDefinition,
  fillFlowSchema,
  fillLimitRange,
  fillMutatingWebhooks,
  fillNamespace,
  fillPriorityClass,
  fillPriorityLevel,
  fillResourceQuota,
  fillRoleBinding,
  fillSecret,
  fillTokenRequest,
  fillValidatingWebhooks,
} from './policy.ts'
import { fillCsiDriver, fillNode, fillPersistentVolume, fillPersistentVolumeClaim, fillStorageClass } from './storage.ts'
import {
  fillCronJob,
  fillDaemonSet,
  fillDeployment,
  fillHorizontalPodAutoscaler,
  fillJob,
  fillMinReplicas,
  fillReplicaSet,
  fillReplicationController,
  fillStatefulSet,
} from './workloads.ts'

/** Completes an object of one type in place. */
type Defaulter = (object: Draft, names: Names, isGateOn: IsGateOn) => void

/**
 * Fills what the writer of an object left to the server. The object is changed in place, so it has to be the caller's own,
 * as it comes from the decoder. Added fields stand behind the given ones; decoding once more puts them in order.
 */
export function applyDefaults(type: string, object: Draft, names: Names, isGateOn: IsGateOn = gatesByDefault): void {
  defaulters[type]?.(object, names, isGateOn)
}

/** Types without an entry have no defaults beyond what the decoder prints anyway. */
const defaulters: Readonly<Record<string, Defaulter>> = {
  'core/v1.Pod': fillPod,
  'core/v1.PodTemplate': (object) => fillPodTemplate(object['template'] as Draft | undefined),
  'core/v1.ReplicationController': fillReplicationController,
  'core/v1.Service': fillService,
  'core/v1.Endpoints': fillEndpoints,
  'core/v1.Secret': fillSecret,
  'core/v1.Namespace': fillNamespace,
  'core/v1.Node': fillNode,
  'core/v1.PersistentVolume': fillPersistentVolume,
  'core/v1.PersistentVolumeClaim': fillPersistentVolumeClaim,
  'core/v1.LimitRange': fillLimitRange,
  'core/v1.ResourceQuota': fillResourceQuota,
  'apps/v1.Deployment': fillDeployment,
  'apps/v1.ReplicaSet': fillReplicaSet,
  'apps/v1.StatefulSet': fillStatefulSet,
  'apps/v1.DaemonSet': fillDaemonSet,
  'batch/v1.Job': fillJob,
  'batch/v1.CronJob': fillCronJob,
  'autoscaling/v1.HorizontalPodAutoscaler': fillMinReplicas,
  'autoscaling/v2.HorizontalPodAutoscaler': fillHorizontalPodAutoscaler,
  'autoscaling/v2beta2.HorizontalPodAutoscaler': fillHorizontalPodAutoscaler,
  'storage/v1.StorageClass': fillStorageClass,
  'storage/v1.CSIDriver': fillCsiDriver,
  'discovery/v1.EndpointSlice': fillEndpointSlice,
  'networking/v1.NetworkPolicy': fillNetworkPolicy,
  'networking/v1.IngressClass': fillIngressClass,
  'scheduling/v1.PriorityClass': fillPriorityClass,
  'admissionregistration/v1.MutatingWebhookConfiguration': fillMutatingWebhooks,
  'admissionregistration/v1.ValidatingWebhookConfiguration': fillValidatingWebhooks,
  'rbac/v1.RoleBinding': fillRoleBinding,
  'rbac/v1.ClusterRoleBinding': fillRoleBinding,
  'flowcontrol/v1beta1.FlowSchema': fillFlowSchema,
  'flowcontrol/v1beta2.FlowSchema': fillFlowSchema,
  'flowcontrol/v1beta1.PriorityLevelConfiguration': fillPriorityLevel,
  'flowcontrol/v1beta2.PriorityLevelConfiguration': fillPriorityLevel,
  'apiextensions/v1.CustomResourceDefinition': fillCustomResourceDefinition,
  'apiregistration/v1.APIService': fillApiService,
  'authentication/v1.TokenRequest': fillTokenRequest,
}
