import type { Group, Resource } from '../kind/resource.ts'

/** An entry of an APIResourceList. */
interface ApiResource {
  readonly name: string
  readonly singularName: string
  readonly namespaced: boolean
  /** Set only if it differs from the list's. */
  readonly group?: string
  readonly version?: string
  readonly kind: string
  readonly verbs: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly storageVersionHash?: string
}

export interface ApiResourceList {
  readonly kind: 'APIResourceList'
  /** Undefined for the core group, whose first clients did not know it. */
  readonly apiVersion?: 'v1'
  readonly groupVersion: string
  readonly resources: readonly ApiResource[]
}

/** The answer of `/api`. `serverAddress` is `host:port` from the client's view. */
export function apiVersionsDocument(serverAddress: string) {
  return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }] }
}

/** Answer of `/apis`. */
export function apiGroupListDocument(groups: readonly Group[]) {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupEntry) }
}

/** Answer of `/apis/<group>`. */
export function apiGroupDocument(group: Group) {
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupEntry(group) }
}

/** Hashes the type of stored objects. */
type HashOf = (type: string) => string

/** Answer of `/api/v1` and `/apis/<group>/<version>`. */
export function apiResourceListDocument(groupVersion: string, resources: readonly Resource[], hashOf: HashOf): ApiResourceList {
  const inOrder = [...resources].sort((left, right) => (left.plural < right.plural ? -1 : 1))
  const entries = inOrder.flatMap((resource) => [resourceEntry(resource, hashOf), ...subresourceEntries(resource)])
  const isCore = !groupVersion.includes('/')
  return { kind: 'APIResourceList', ...(isCore ? {} : { apiVersion: 'v1' }), groupVersion, resources: entries }
}

function groupEntry({ name, versions }: Group) {
  const entries = versions.map((version) => ({ groupVersion: `${name}/${version}`, version }))
  return { name, versions: entries, preferredVersion: entries[0] ?? { groupVersion: name, version: '' } }
}

function resourceEntry(
  { plural, shownSingular, isNamespaced, kind, verbs, shortNames, categories, hashedType }: Resource,
  hashOf: HashOf,
): ApiResource {
  return {
    name: plural,
    singularName: shownSingular,
    namespaced: isNamespaced,
    kind,
    verbs,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(hashedType === undefined ? {} : { storageVersionHash: hashOf(hashedType) }),
  }
}

/** Subresources of built-in kinds sorted by name; for custom kinds the status and then the scale, as in kube-apiserver. */
function subresourceEntries({ plural, isNamespaced, apiVersion, subresources, definedBy }: Resource): ApiResource[] {
  const entries = subresources.map((subresource) => ({
    name: `${plural}/${subresource.name}`,
    singularName: '',
    namespaced: isNamespaced,
    ...(subresource.apiVersion === apiVersion ? {} : { group: subresource.group, version: subresource.version }),
    kind: subresource.kind,
    verbs: subresource.verbs,
  }))
  return definedBy === undefined ? entries.sort((left, right) => (left.name < right.name ? -1 : 1)) : entries
}
