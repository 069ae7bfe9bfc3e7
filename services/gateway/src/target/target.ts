import type { Catalogue, Resource, Subresource } from '@orch/core/catalogue'
import { getOrMake } from '@orch/core/memo'
import type { KindName, ResourceName } from '@orch/core/meta'
import type { ResourceInfo } from '../request/request-info.ts'
import { type Strategy, strategyOf } from '../strategies/kind-hooks.ts'

/** The target of a resource request. */
export interface Target {
  readonly info: ResourceInfo
  readonly served: Served
  readonly subresource: Subresource | undefined
  /** The prefix of the storage key of its objects: `core/pods/default/`. */
  readonly keyPrefix: string
}

/** A target whose path names a subresource. */
export interface SubresourceTarget extends Target {
  readonly subresource: Subresource
}

/** A resource in one version with the dependencies of every request to it, created once. */
export interface Served {
  readonly resource: Resource
  /** Its name in messages. */
  readonly name: ResourceName
  readonly kind: KindName
  readonly strategy: Strategy
  /** True if objects are stored in this version: bytes of its current schema are the answer. */
  readonly isStoredVersion: boolean
  /** Serves objects that the definition's webhook has converted to this version; undefined without a webhook. */
  readonly converted?: Served
  /** True if its status is only written by its subresource. */
  readonly hasStatus: boolean
  /** `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"` */
  readonly listOpening: string
  subresource(name: string): Subresource | undefined
}

/** Finds resources by path; each is prepared at its first use. */
export type ServedResources = ReturnType<typeof createServedResources>

/** The served catalogue, with its changes. */
interface ChangingCatalogue {
  current(): Catalogue
  onChange(listener: (catalogue: Catalogue) => void): unknown
}

export function createServedResources(catalogue: ChangingCatalogue) {
  const made = new WeakMap<Resource, Served>()
  const byPath = new Map<string, Served>()
  let present = catalogue.current()
  catalogue.onChange((changed) => {
    present = changed
    byPath.clear()
  })
  const of = (resource: Resource): Served => getOrMake(made, resource, () => createServed(resource))
  const find = (group: string, version: string, plural: string): Served | undefined => {
    const path = `${group}/${version}/${plural}`
    const found = byPath.get(path)
    if (found !== undefined) return found
    const resource = present.find(group, version, plural)
    if (resource === undefined) return undefined
    const served = of(resource)
    byPath.set(path, served)
    return served
  }
  return { find, of }
}

function createServed(resource: Resource): Served {
  const subresources = new Map(resource.subresources.map((subresource) => [subresource.name, subresource]))
  const strategy = strategyOf(resource)
  const served: Served = {
    resource,
    name: { group: resource.group, resource: resource.plural },
    kind: { group: resource.groupInMessages ?? resource.group, kind: resource.kind },
    strategy,
    isStoredVersion: resource.stored.apiVersion === resource.apiVersion && resource.stored.kind === resource.kind,
    hasStatus: subresources.has('status'),
    listOpening: `{"kind":${JSON.stringify(resource.listKind)},"apiVersion":${JSON.stringify(resource.apiVersion)},"metadata":{"resourceVersion":"`,
    subresource: (name) => subresources.get(name),
  }
  return resource.conversion === undefined ? served : { ...served, converted: { ...served, isStoredVersion: true } }
}
