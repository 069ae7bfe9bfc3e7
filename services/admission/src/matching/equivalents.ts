import type { Catalogue, Gvk, Resource } from '@orch/core/catalogue'
import type { Attributes } from '@orch/core/contracts'
import { hasMembers } from '@orch/core/json'
import { getOrMake, memo } from '@orch/core/memo'

/** A resource or subresource in one version, in the form for webhooks. */
export interface RequestVersion {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  readonly kind: Gvk
  /** Undefined if the catalogue lacks it. */
  readonly described: Resource | undefined
  /** The converter of a custom kind's objects; undefined if only `apiVersion` changes. */
  readonly conversion?: Attributes['conversion']
}

/** Equivalent resources: the same objects in other served versions and groups. */
export interface Equivalents {
  /** The original request. */
  own(attributes: Attributes): RequestVersion
  others(attributes: Attributes): readonly RequestVersion[]
  /** Groups that serve the objects of a resource. */
  groupsOf(resource: Resource): readonly string[]
}

/** Looks every resource of a catalogue up once. */
export const equivalentsOf = memo((catalogue: Catalogue): Equivalents => {
  const byPrefix = new Map<string, Resource[]>()
  for (const resource of catalogue.resources) {
    const { prefix } = resource.stored
    getOrMake(byPrefix, prefix, () => []).push(resource)
  }
  const others = new Map<Resource, Map<string, readonly RequestVersion[]>>()
  const sameObjects = (resource: Resource): readonly Resource[] => byPrefix.get(resource.stored.prefix) ?? [resource]
  return {
    own: (attributes) => ownVersion(catalogue, attributes),
    others(attributes) {
      const { group, version, resource: plural, subresource, unserved = [] } = attributes
      const resource = catalogue.find(group, version, plural)
      if (resource === undefined) return otherVersionsOfCustom(attributes)
      const known = getOrMake(others, resource, () => new Map<string, readonly RequestVersion[]>())
      const versions = getOrMake(known, subresource, () => otherVersions(resource, sameObjects(resource), subresource))
      return unserved.length === 0 ? versions : versions.filter((one) => !unserved.includes(`${one.group}/${one.version}/${one.resource}`))
    },
    groupsOf: (resource) => [...new Set(sameObjects(resource).map(({ group }) => group))],
  }
})

function ownVersion(catalogue: Catalogue, attributes: Attributes): RequestVersion {
  const { group, version, resource, subresource, kind } = attributes
  const described = catalogue.find(group, version, resource)
  const found = described === undefined ? undefined : kindOf(described, subresource)
  const { conversion } = attributes
  return { group, version, resource, subresource, kind: objectKind(attributes) ?? found ?? { group, version, kind }, described, conversion }
}

/** A subresource may accept its kind in several versions; the object names its version. */
function objectKind({ object, subresource }: Attributes): Gvk | undefined {
  if (subresource === '' || !hasMembers(object)) return undefined
  const { kind, apiVersion } = object
  if (typeof kind !== 'string' || kind === '' || typeof apiVersion !== 'string') return undefined
  const slash = apiVersion.indexOf('/')
  return { kind, group: slash === -1 ? '' : apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) }
}

/** Gateways know custom kinds and name the versions. A scale has one kind in all of them. */
function otherVersionsOfCustom(attributes: Attributes): readonly RequestVersion[] {
  const { group, resource, subresource, kind, conversion, otherVersions = [] } = attributes
  const ofSubresource = subresource === 'scale' ? objectKind(attributes) : undefined
  return otherVersions.map((version) => {
    return { group, version, resource, subresource, kind: ofSubresource ?? { group, version, kind }, described: undefined, conversion }
  })
}

function otherVersions(resource: Resource, same: readonly Resource[], subresource: string): readonly RequestVersion[] {
  return same.flatMap((other) => {
    const kind = other === resource ? undefined : kindOf(other, subresource)
    if (kind === undefined) return []
    return [{ group: other.group, version: other.version, resource: other.plural, subresource, kind, described: other }]
  })
}

function kindOf(resource: Resource, subresource: string): Gvk | undefined {
  const described = subresource === '' ? resource : resource.subresources.find(({ name }) => name === subresource)
  if (described === undefined) return undefined
  const { group, version, kind } = described
  return { group, version, kind }
}
