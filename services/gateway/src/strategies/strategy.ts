import type { Behaviour, Resource } from '@orch/core/catalogue'
import type { TypeName } from '@orch/core/schema'
import { autoscalerStrategy } from './autoscaler.ts'
import { certificateRequestStrategy } from './certificate-request.ts'
import { csiDriverStrategy } from './csi-driver.ts'
import { daemonSetStrategy } from './daemon-set.ts'
import { deploymentStrategy } from './deployment.ts'
import { endpointSliceStrategy } from './endpoint-slice.ts'
import { jobStrategy } from './job.ts'
import type { KindRules, RulesOf } from './kind-rules.ts'
import { namespaceStrategy } from './namespace.ts'
import { podStrategy } from './pod.ts'
import { resourceDefinitionStrategy } from './resource-definition.ts'
import { serviceStrategy } from './service.ts'

/** What is particular about writing objects of one kind. */
export interface Strategy {
  readonly behaviour: Behaviour
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
} satisfies { readonly [Name in TypeName]?: RulesOf<Name> }

const noRules: KindRules = {}

/** How objects of a resource are written. */
export function strategyOf(resource: Resource): Strategy {
  return { behaviour: resource, rules: rulesByType[resource.stored.type] ?? noRules }
}
