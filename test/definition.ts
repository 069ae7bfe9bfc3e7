interface DefinitionFields {
  readonly group: string
  readonly plural: string
  readonly kind: string
  /** The domain of the profile's groups; by default that of `orch`. */
  readonly domain?: 'k8s.io'
  readonly scope?: 'Namespaced' | 'Cluster'
  /** Further names. */
  readonly names?: object
  /** The schema of the only version, v1; by default any object without fields. */
  readonly schema?: object
  readonly versions?: readonly object[]
  /** Further fields of the spec. */
  readonly [field: string]: unknown
}

/** A CustomResourceDefinition, by default of namespaced objects in one version. */
export function aDefinition({ group, plural, kind, domain, scope = 'Namespaced', names, schema, versions, ...rest }: DefinitionFields) {
  const only = { name: 'v1', served: true, storage: true, schema: schema ?? { openAPIV3Schema: { type: 'object' } } }
  return {
    apiVersion: `apiextensions.${domain ?? 'orch.io'}/v1`,
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope, names: { plural, kind, ...names }, versions: versions ?? [only], ...rest },
  }
}
