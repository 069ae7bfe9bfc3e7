/** A group with its versions, the preferred one first. */
export interface GroupDefinition {
  readonly group?: string
  /** First labels of a group name that ends with the product's domain. */
  readonly domain?: string
  readonly versions: readonly string[]
  /** Its priority among groups; the highest is first. */
  readonly priority: number
  /** Priorities of versions that differ from the default of their stability. */
  readonly versionPriorities?: Readonly<Record<string, number>>
}

/** The groups in the order of `/apis`. */
export const groupDefinitions: readonly GroupDefinition[] = [
  { domain: 'apiregistration', versions: ['v1'], priority: 20000 },
  { group: '', versions: ['v1'], priority: 18000, versionPriorities: { v1: 1 } },
  { group: 'apps', versions: ['v1'], priority: 17800 },
  { domain: 'events', versions: ['v1', 'v1beta1'], priority: 17750, versionPriorities: { v1beta1: 5 } },
  { domain: 'authentication', versions: ['v1', 'v1beta1', 'v1alpha1'], priority: 17700 },
  { domain: 'authorization', versions: ['v1'], priority: 17600 },
  {
    group: 'autoscaling',
    versions: ['v2', 'v1', 'v2beta1', 'v2beta2'],
    priority: 17500,
    versionPriorities: { v2: 30, v1: 15, v2beta1: 9, v2beta2: 1 },
  },
  { group: 'batch', versions: ['v1', 'v1beta1'], priority: 17400 },
  { domain: 'certificates', versions: ['v1', 'v1beta1', 'v1alpha1'], priority: 17300 },
  { domain: 'networking', versions: ['v1', 'v1beta1', 'v1alpha1'], priority: 17200 },
  { group: 'policy', versions: ['v1', 'v1beta1'], priority: 17100 },
  { domain: 'rbac.authorization', versions: ['v1'], priority: 17000 },
  { domain: 'storage', versions: ['v1', 'v1beta1', 'v1alpha1'], priority: 16800 },
  {
    domain: 'admissionregistration',
    versions: ['v1', 'v1beta1', 'v1alpha1'],
    priority: 16700,
    versionPriorities: { v1beta1: 12, v1alpha1: 9 },
  },
  { domain: 'apiextensions', versions: ['v1'], priority: 16700 },
  { domain: 'scheduling', versions: ['v1'], priority: 16600 },
  { domain: 'coordination', versions: ['v1', 'v1beta1', 'v1alpha2'], priority: 16500 },
  { domain: 'node', versions: ['v1', 'v1beta1'], priority: 16300 },
  { domain: 'discovery', versions: ['v1', 'v1beta1'], priority: 16200, versionPriorities: { v1beta1: 12 } },
  { domain: 'resource', versions: ['v1', 'v1beta2', 'v1beta1', 'v1alpha3'], priority: 16200, versionPriorities: { v1: 21, v1beta2: 15 } },
  {
    domain: 'flowcontrol.apiserver',
    versions: ['v1', 'v1beta3', 'v1beta2', 'v1beta1'],
    priority: 16100,
    versionPriorities: { v1: 21, v1beta3: 18, v1beta2: 15, v1beta1: 12 },
  },
  { domain: 'internal.apiserver', versions: ['v1alpha1'], priority: 16000, versionPriorities: { v1alpha1: 9 } },
  { domain: 'storagemigration', versions: ['v1', 'v1beta1'], priority: 15800 },
  { domain: 'metrics', versions: ['v1beta1'], priority: 100, versionPriorities: { v1beta1: 100 } },
]
