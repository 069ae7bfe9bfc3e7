/** A discovered resource of the server. */
export interface Kind {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly kind: string
  readonly isNamespaced: boolean
  readonly verbs: readonly string[]
  readonly shortNames: readonly string[]
}

/** The path of a kind, optionally in a namespace, or of one object. */
export function pathOf({ group, version, resource, isNamespaced }: Kind, namespace = '', name = ''): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const inside = isNamespaced && namespace !== '' ? `/namespaces/${encodeURIComponent(namespace)}` : ''
  return `${root}${inside}/${resource}${name === '' ? '' : `/${encodeURIComponent(name)}`}`
}

/** Identifies a kind: `deployments.apps`. */
export function keyOfKind({ group, resource }: Pick<Kind, 'group' | 'resource'>): string {
  return group === '' ? resource : `${resource}.${group}`
}

/** True for Secrets, whose values are sent to a page only on request. */
export function isSecret({ group, resource }: Pick<Kind, 'group' | 'resource'>): boolean {
  return group === '' && resource === 'secrets'
}
