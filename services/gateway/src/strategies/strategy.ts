import { type Behaviour, behaviourOf, type Resource } from '@orch/core'
import { autoscalerStrategy } from './autoscaler.ts'
import { certificateRequestStrategy } from './certificate-request.ts'
import { csiDriverStrategy } from './csi-driver.ts'
import { daemonSetStrategy } from './daemon-set.ts'
import { deploymentStrategy } from './deployment.ts'
import { endpointSliceStrategy } from './endpoint-slice.ts'
import { jobStrategy } from './job.ts'
import type { KindRules } from './kind-rules.ts'
import { namespaceStrategy } from './namespace.ts'
import { podStrategy } from './pod.ts'
import { resourceDefinitionStrategy } from './resource-definition.ts'
import { serviceStrategy } from './service.ts'

/** What is particular about writing objects of one kind. */
export interface Strategy {
  readonly behaviour: Behaviour
  /** A PUT to a name that is not taken creates the object. */
  readonly createsOnUpdate: boolean
  /** A PUT without resourceVersion replaces whatever is there. */
  readonly replacesUnconditionally: boolean
  /** `metadata.generation` counts changes of what the writer wants. */
  readonly countsGenerations: boolean
  readonly rules: KindRules
}

/** By the type that objects are stored as. */
const rulesByType: Readonly<Record<string, KindRules>> = {
  'apiextensions/v1.CustomResourceDefinition': resourceDefinitionStrategy,
  'apiregistration/v1.APIService': { warning: 'other servers are not reached through this one: the APIService has no effect' },
  'apps/v1.DaemonSet': daemonSetStrategy,
  'apps/v1.Deployment': deploymentStrategy,
  'autoscaling/v2.HorizontalPodAutoscaler': autoscalerStrategy,
  'batch/v1.Job': jobStrategy,
  'certificates/v1.CertificateSigningRequest': certificateRequestStrategy,
  'core/v1.Namespace': namespaceStrategy,
  'core/v1.Pod': podStrategy,
  'core/v1.Service': serviceStrategy,
  'discovery/v1.EndpointSlice': endpointSliceStrategy,
  'scheduling/v1.PriorityClass': { keepsGeneration: true },
  'storage/v1.CSIDriver': csiDriverStrategy,
}

const createdByUpdate: ReadonlySet<string> = new Set([
  'ClusterRole',
  'ClusterRoleBinding',
  'Endpoints',
  'Event',
  'Lease',
  'LimitRange',
  'Role',
  'RoleBinding',
  'Service',
])

const updatedByVersionOnly: ReadonlySet<string> = new Set([
  'APIService',
  'CSIDriver',
  'CSINode',
  'CSIStorageCapacity',
  'CustomResourceDefinition',
  'Lease',
  'MutatingWebhookConfiguration',
  'PodDisruptionBudget',
  'RuntimeClass',
  'StorageVersion',
  'ValidatingWebhookConfiguration',
  'VolumeAttachment',
])

const countingKinds: ReadonlySet<string> = new Set([
  'CSIDriver',
  'CronJob',
  'CustomResourceDefinition',
  'DaemonSet',
  'Deployment',
  'EndpointSlice',
  'FlowSchema',
  'Ingress',
  'IngressClass',
  'Job',
  'MutatingWebhookConfiguration',
  'NetworkPolicy',
  'PodDisruptionBudget',
  'PodTemplate',
  'PriorityClass',
  'PriorityLevelConfiguration',
  'ReplicaSet',
  'ReplicationController',
  'StatefulSet',
  'ValidatingWebhookConfiguration',
])

const noRules: KindRules = {}

/** How objects of a resource are written. */
export function strategyOf({ kind, stored }: Resource): Strategy {
  return {
    behaviour: behaviourOf(stored.type),
    createsOnUpdate: createdByUpdate.has(kind),
    replacesUnconditionally: !updatedByVersionOnly.has(kind),
    countsGenerations: countingKinds.has(kind),
    rules: rulesByType[stored.type] ?? noRules,
  }
}
