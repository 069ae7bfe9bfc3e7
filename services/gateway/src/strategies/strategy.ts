import { type ApiObject, type Behaviour, behaviourOf, type FieldError, type Names, type Resource, type User } from '@orch/core'
import { certificateRequestStrategy } from './certificate-request.ts'
import { csiDriverStrategy } from './csi-driver.ts'
import { daemonSetStrategy } from './daemon-set.ts'
import { deploymentStrategy } from './deployment.ts'
import { endpointSliceStrategy } from './endpoint-slice.ts'
import { jobStrategy } from './job.ts'
import { namespaceStrategy } from './namespace.ts'
import { podStrategy } from './pod.ts'
import { serviceStrategy } from './service.ts'

/** What is particular about writing objects of one kind. All functions may change `object`, which is the write's own. */
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

/** The hooks of a kind that has rules of its own. */
export interface KindRules {
  /** Told to whoever creates an object that is kept but has no effect here. */
  readonly warning?: string
  /** Before the object is validated for creation. */
  prepareCreate?(object: ApiObject, names: Names, user: User): void
  /** Before the object is validated for an update of its main part. */
  prepareUpdate?(object: ApiObject, live: ApiObject): void
  /** When an update of any part has its defaults, and mutating admission has been asked. */
  completeUpdate?(object: ApiObject, live: ApiObject): void
  /** Which changes count for the generation, which a new object then has none of. Absent: all but those of metadata and status. */
  countsOnly?(object: ApiObject, live: ApiObject): boolean
  /** The generation is 1 for ever. */
  readonly keepsGeneration?: true
  /** Whether a change outside of what is always counted counts for the generation too. */
  countsChange?(object: ApiObject, live: ApiObject): boolean
  /** Rules on top of those of the catalogue. */
  validate?(object: ApiObject, live: ApiObject | undefined): readonly FieldError[]
  /** Seconds that a delete leaves the object, 0: none. Absent: the kind has no graceful deletion. */
  graceSeconds?(object: ApiObject, asked: number | undefined): number
  /** Changes the object when it is marked for deletion. */
  prepareDeletion?(object: ApiObject): void
  /** Something beside `metadata.finalizers` still holds the object. */
  isHeld?(object: ApiObject): boolean
}

/** By the type that objects are stored as. */
const rulesByType: Readonly<Record<string, KindRules>> = {
  'apiextensions/v1.CustomResourceDefinition': { warning: 'custom resources are not served by this server: the definition has no effect' },
  'apiregistration/v1.APIService': { warning: 'other servers are not reached through this one: the APIService has no effect' },
  'apps/v1.DaemonSet': daemonSetStrategy,
  'apps/v1.Deployment': deploymentStrategy,
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
