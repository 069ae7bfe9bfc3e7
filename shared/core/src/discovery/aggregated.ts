import type { Group, Gvk, Resource, Subresource } from '../kind/resource.ts'
import { domainGroup, type Names } from '../names.ts'

/** The version of the aggregated form that is spoken. Its beta ended with version 1.35 of kube-apiserver. */
export const aggregatedVersion = 'v2'

interface AggregatedResource {
  readonly resource: string
  /** Resources of other servers that have subresources alone have none. */
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
      readonly resources: readonly AggregatedResource[]
      /** Stale: the server of the version does not answer now, and its resources are the earlier ones, or unknown. */
      readonly freshness: 'Current' | 'Stale'
    }[]
  }[]
}

/** The media type of the aggregated form, which repeats the parameters of the question: `application/json;g=…;v=…;as=…`. */
export function aggregatedMediaType(names: Names, mediaType: string): string {
  return `${mediaType};g=${aggregatedGroup(names)};v=${aggregatedVersion};as=APIGroupDiscoveryList`
}

/** Group that clients name in `Accept` when they ask for the aggregated form. */
export function aggregatedGroup(names: Names): string {
  return domainGroup(names, 'apidiscovery')
}

/** The first level that leaves unset times of creation out. */
const unsetTimesUntil = 34

/** Everything below `/apis` (or, with the core group alone, below `/api`) in one document. */
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
        resources: sorted(resourcesOf(group.name, one)).map(aggregatedResource),
        freshness: 'Current',
      })),
    })),
  }
}

function sorted(resources: readonly Resource[]): Resource[] {
  return [...resources].sort((left, right) => (left.plural < right.plural ? -1 : 1))
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

/** The kind of an answer. Group and version of a built-in resource are left out where they are those of the path. */
function gvkOf({ group, version, kind }: Gvk, resource: Resource): Gvk {
  const isOwn = resource.definedBy === undefined && group === resource.group && version === resource.version
  return isOwn ? { group: '', version: '', kind } : { group, version, kind }
}
