import type { Group, Gvk, Resource, Subresource } from '../kind/resource.ts'
import { domainGroup, type Names } from '../names.ts'

/** The version of aggregated discovery that every level has. */
const aggregatedVersion = 'v2'

/** The versions of aggregated discovery at a level. Clients of 1.26 to 1.29 know the beta alone. */
export function aggregatedVersionsAt(level: number): readonly string[] {
  return level >= 27 && level <= 32 ? [aggregatedVersion, 'v2beta1'] : [aggregatedVersion]
}

interface AggregatedResource {
  readonly resource: string
  /** Undefined for resources of other servers that have only subresources. */
  readonly responseKind?: Gvk
  readonly scope: 'Namespaced' | 'Cluster'
  readonly singularResource: string
  readonly verbs: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly subresources?: readonly { readonly subresource: string; readonly responseKind: Gvk; readonly verbs: readonly string[] }[]
}

export interface AggregatedDiscovery {
  readonly kind: 'APIGroupDiscoveryList'
  readonly apiVersion: string
  readonly metadata: Record<string, never>
  readonly items: readonly {
    readonly metadata: { readonly name?: string; readonly creationTimestamp?: null }
    readonly versions: readonly {
      readonly version: string
      /** Absent for a version without resources, as in kube-apiserver. */
      readonly resources?: readonly AggregatedResource[]
      /** `Stale` if the version's server does not answer; its resources are then old or unknown. */
      readonly freshness: 'Current' | 'Stale'
    }[]
  }[]
}

/** The media type of aggregated discovery, which repeats the request's parameters: `application/json;g=…;v=…;as=…`. */
export function aggregatedMediaType(names: Names, mediaType: string, version = aggregatedVersion): string {
  return `${mediaType};g=${aggregatedGroup(names)};v=${version};as=APIGroupDiscoveryList`
}

/** The group in `Accept` with which clients request aggregated discovery. */
export function aggregatedGroup(names: Names): string {
  return domainGroup(names, 'apidiscovery')
}

/** The last level that prints unset creation times. */
const unsetTimesUntil = 34

/** All of `/apis` in one document, or `/api` for the core group. */
export function aggregatedDocument(
  { names, level }: { readonly names: Names; readonly level: number },
  groups: readonly Group[],
  resourcesOf: (group: string, version: string) => readonly Resource[],
): AggregatedDiscovery {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `${aggregatedGroup(names)}/${aggregatedVersion}`,
    metadata: {},
    items: groups.map((group) => ({
      metadata: { ...(group.name === '' ? {} : { name: group.name }), ...(level < unsetTimesUntil ? { creationTimestamp: null } : {}) },
      versions: group.versions.map((one) => ({
        version: one,
        resources: [...resourcesOf(group.name, one)].sort((left, right) => (left.plural < right.plural ? -1 : 1)).map(aggregatedResource),
        freshness: 'Current',
      })),
    })),
  }
}

function aggregatedResource(resource: Resource): AggregatedResource {
  const { plural, singular, isNamespaced, verbs, shortNames, categories, subresources } = resource
  return {
    resource: plural,
    responseKind: gvkOf(resource, resource),
    scope: isNamespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(subresources.length === 0 ? {} : { subresources: subresources.map((one) => aggregatedSubresource(one, resource)) }),
  }
}

function aggregatedSubresource(subresource: Subresource, resource: Resource): NonNullable<AggregatedResource['subresources']>[number] {
  return { subresource: subresource.name, responseKind: gvkOf(subresource, resource), verbs: subresource.verbs }
}

/** The kind of an answer. Group and version are omitted for a built-in resource if they equal those of the path. */
function gvkOf({ group, version, kind }: Gvk, resource: Resource): Gvk {
  const isOwn = resource.definedBy === undefined && group === resource.group && version === resource.version
  return isOwn ? { group: '', version: '', kind } : { group, version, kind }
}
