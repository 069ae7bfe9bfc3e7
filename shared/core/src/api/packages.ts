import type { TypeThunk } from '../description/structs.ts'
import { admissionV1 } from './admission-v1.ts'
import { admissionV1beta1 } from './admission-v1beta1.ts'
import { admissionregistrationV1alpha1, admissionregistrationV1beta1 } from './admissionregistration-earlier.ts'
import { admissionPolicies } from './admissionregistration-policies.ts'
import { admissionregistrationV1 } from './admissionregistration-v1.ts'
import { apidiscoveryV2 } from './apidiscovery-v2.ts'
import { apiextensionsV1 } from './apiextensions-v1.ts'
import { apiregistrationV1 } from './apiregistration-v1.ts'
import { apiserverinternalV1alpha1 } from './apiserverinternal-v1alpha1.ts'
import { appsV1 } from './apps-v1.ts'
import { authenticationV1alpha1, authenticationV1beta1 } from './authentication-earlier.ts'
import { authenticationV1 } from './authentication-v1.ts'
import { authorizationV1 } from './authorization-v1.ts'
import { authorizationV1beta1 } from './authorization-v1beta1.ts'
import { autoscalingV1 } from './autoscaling-v1.ts'
import { autoscalingV2 } from './autoscaling-v2.ts'
import { autoscalingV2beta1 } from './autoscaling-v2beta1.ts'
import { autoscalingV2beta2 } from './autoscaling-v2beta2.ts'
import { batchV1 } from './batch-v1.ts'
import { batchV1beta1 } from './batch-v1beta1.ts'
import { certificatesV1alpha1, certificatesV1beta1 } from './certificates-earlier.ts'
import { certificatesV1 } from './certificates-v1.ts'
import { coordinationV1 } from './coordination-v1.ts'
import { coordinationV1alpha2, coordinationV1beta1 } from './coordination-v1beta1.ts'
import { coreV1 } from './core-v1.ts'
import { discoveryV1 } from './discovery-v1.ts'
import { discoveryV1beta1 } from './discovery-v1beta1.ts'
import { eventsV1 } from './events-v1.ts'
import { eventsV1beta1 } from './events-v1beta1.ts'
import { flowcontrolV1 } from './flowcontrol-v1.ts'
import { flowcontrolV1beta1 } from './flowcontrol-v1beta1.ts'
import { flowcontrolV1beta2 } from './flowcontrol-v1beta2.ts'
import { flowcontrolV1beta3 } from './flowcontrol-v1beta3.ts'
import { imagepolicyV1alpha1 } from './imagepolicy-v1alpha1.ts'
import { metaV1 } from './meta-v1.ts'
import { metaV1beta1 } from './meta-v1beta1.ts'
import { metricsV1beta1 } from './metrics-v1beta1.ts'
import { networkingV1alpha1, networkingV1beta1 } from './networking-earlier.ts'
import { networkingV1 } from './networking-v1.ts'
import { nodeV1 } from './node-v1.ts'
import { nodeV1beta1 } from './node-v1beta1.ts'
import { policyV1 } from './policy-v1.ts'
import { policyV1beta1 } from './policy-v1beta1.ts'
import { rbacV1 } from './rbac-v1.ts'
import { resourceV1 } from './resource-v1.ts'
import { resourceV1alpha3 } from './resource-v1alpha3.ts'
import { resourceV1beta1 } from './resource-v1beta1.ts'
import { resourceV1beta2 } from './resource-v1beta2.ts'
import { schedulingV1 } from './scheduling-v1.ts'
import { schedulingV1alpha3 } from './scheduling-v1alpha3.ts'
import { storageV1alpha1, storageV1beta1 } from './storage-earlier.ts'
import { storageV1 } from './storage-v1.ts'
import { storagemigrationV1 } from './storagemigration-v1.ts'
import { storagemigrationV1beta1 } from './storagemigration-v1beta1.ts'

/** The types of one group version. A package that names no group is in a group that ends with the product's domain. */
interface DescribedPackage {
  readonly types: Readonly<Record<string, TypeThunk>>
  readonly group?: string
  /** The first labels of the group. Default: the first part of the package's name. */
  readonly domain?: string
  /** Path of the package below the root of OpenAPI definition names. Default: `api.<package>`. */
  readonly path?: string
  /** True if kube-apiserver stores objects of these kinds as JSON; it stores others as Protobuf. */
  readonly isStoredAsJson?: boolean
  /** The first and the last level that have the package, by minor version. */
  readonly since?: number
  readonly until?: number
}

const described = {
  'admission/v1': { types: admissionV1 },
  'admission/v1beta1': { types: admissionV1beta1 },
  'admissionregistration/v1': { types: { ...admissionregistrationV1, ...admissionPolicies } },
  'admissionregistration/v1alpha1': { types: admissionregistrationV1alpha1, since: 26 },
  'admissionregistration/v1beta1': { types: admissionregistrationV1beta1, since: 28 },
  'apidiscovery/v2': { types: apidiscoveryV2 },
  'apiextensions/v1': { types: apiextensionsV1, path: 'apiextensions-apiserver.pkg.apis.apiextensions.v1', isStoredAsJson: true },
  'apiregistration/v1': { types: apiregistrationV1, path: 'kube-aggregator.pkg.apis.apiregistration.v1', isStoredAsJson: true },
  'apiserverinternal/v1alpha1': { types: apiserverinternalV1alpha1, domain: 'internal.apiserver' },
  'apps/v1': { types: appsV1, group: 'apps' },
  'authentication/v1': { types: authenticationV1 },
  'authentication/v1alpha1': { types: authenticationV1alpha1, since: 26 },
  'authentication/v1beta1': { types: authenticationV1beta1 },
  'authorization/v1': { types: authorizationV1 },
  'authorization/v1beta1': { types: authorizationV1beta1 },
  'autoscaling/v1': { types: autoscalingV1, group: 'autoscaling' },
  'autoscaling/v2': { types: autoscalingV2, group: 'autoscaling' },
  'autoscaling/v2beta1': { types: autoscalingV2beta1, group: 'autoscaling' },
  'autoscaling/v2beta2': { types: autoscalingV2beta2, group: 'autoscaling' },
  'batch/v1': { types: batchV1, group: 'batch' },
  'batch/v1beta1': { types: batchV1beta1, group: 'batch' },
  'certificates/v1': { types: certificatesV1 },
  'certificates/v1alpha1': { types: certificatesV1alpha1, since: 27, until: 36 },
  'certificates/v1beta1': { types: certificatesV1beta1, since: 33 },
  'coordination/v1': { types: coordinationV1 },
  'coordination/v1alpha2': { types: coordinationV1alpha2, since: 32 },
  'coordination/v1beta1': { types: coordinationV1beta1, since: 33 },
  'core/v1': { types: coreV1, group: '' },
  'discovery/v1': { types: discoveryV1 },
  'discovery/v1beta1': { types: discoveryV1beta1 },
  'events/v1': { types: eventsV1 },
  'events/v1beta1': { types: eventsV1beta1 },
  'flowcontrol/v1': { types: flowcontrolV1, domain: 'flowcontrol.apiserver', since: 29 },
  'flowcontrol/v1beta1': { types: flowcontrolV1beta1, domain: 'flowcontrol.apiserver' },
  'flowcontrol/v1beta2': { types: flowcontrolV1beta2, domain: 'flowcontrol.apiserver' },
  'flowcontrol/v1beta3': { types: flowcontrolV1beta3, domain: 'flowcontrol.apiserver', since: 26 },
  'imagepolicy/v1alpha1': { types: imagepolicyV1alpha1 },
  'meta/v1': { types: metaV1, path: 'apimachinery.pkg.apis.meta.v1' },
  'meta/v1beta1': { types: metaV1beta1, path: 'apimachinery.pkg.apis.meta.v1beta1' },
  'metrics/v1beta1': { types: metricsV1beta1, path: 'metrics.pkg.apis.metrics.v1beta1' },
  'networking/v1': { types: networkingV1 },
  'networking/v1alpha1': { types: networkingV1alpha1 },
  'networking/v1beta1': { types: networkingV1beta1, since: 31 },
  'node/v1': { types: nodeV1 },
  'node/v1beta1': { types: nodeV1beta1 },
  'policy/v1': { types: policyV1, group: 'policy' },
  'policy/v1beta1': { types: policyV1beta1, group: 'policy' },
  'rbac/v1': { types: rbacV1, domain: 'rbac.authorization' },
  'resource/v1': { types: resourceV1, since: 34 },
  'resource/v1alpha3': { types: resourceV1alpha3, since: 31 },
  'resource/v1beta1': { types: resourceV1beta1, since: 32 },
  'resource/v1beta2': { types: resourceV1beta2, since: 33 },
  'scheduling/v1alpha3': { types: schedulingV1alpha3, since: 37 },
  'scheduling/v1': { types: schedulingV1 },
  'storage/v1': { types: storageV1 },
  'storage/v1alpha1': { types: storageV1alpha1, since: 29 },
  'storage/v1beta1': { types: storageV1beta1 },
  'storagemigration/v1': { types: storagemigrationV1, since: 37 },
  'storagemigration/v1beta1': { types: storagemigrationV1beta1, since: 35 },
} satisfies Readonly<Record<string, DescribedPackage>>

/** A package with the group and the version of its kinds. */
export interface TypePackage extends DescribedPackage {
  readonly version: string
}

/** Every package of types that this API level knows, by the first word of its type names. */
export const packages: Readonly<Record<string, TypePackage>> = Object.fromEntries(
  Object.entries<DescribedPackage>(described).map(([name, one]) => {
    const [domain = '', version = ''] = name.split('/')
    return [name, { ...(one.group === undefined && { domain }), version, ...one }]
  }),
)

/** The types of objects are inferred from this type. */
export type DescribedPackages = typeof described
