/** A group with its versions, the preferred one first. */
export interface GroupDefinition {
  readonly group?: string
  /** First words of a group that carries the product's domain. */
  readonly domain?: string
  readonly versions: readonly string[]
}

/** The groups in the order of `/apis`. */
export const groupDefinitions: readonly GroupDefinition[] = [
  { domain: 'apiregistration', versions: ['v1'] },
  { group: '', versions: ['v1'] },
  { group: 'apps', versions: ['v1'] },
  { domain: 'events', versions: ['v1'] },
  { domain: 'authentication', versions: ['v1', 'v1beta1'] },
  { domain: 'authorization', versions: ['v1'] },
  { group: 'autoscaling', versions: ['v2', 'v1', 'v2beta2'] },
  { group: 'batch', versions: ['v1'] },
  { domain: 'certificates', versions: ['v1'] },
  { domain: 'networking', versions: ['v1', 'v1alpha1'] },
  { group: 'policy', versions: ['v1'] },
  { domain: 'rbac.authorization', versions: ['v1'] },
  { domain: 'storage', versions: ['v1', 'v1beta1'] },
  { domain: 'admissionregistration', versions: ['v1'] },
  { domain: 'apiextensions', versions: ['v1'] },
  { domain: 'scheduling', versions: ['v1'] },
  { domain: 'coordination', versions: ['v1'] },
  { domain: 'node', versions: ['v1'] },
  { domain: 'discovery', versions: ['v1'] },
  { domain: 'flowcontrol.apiserver', versions: ['v1beta2', 'v1beta1'] },
  { domain: 'internal.apiserver', versions: ['v1alpha1'] },
]
