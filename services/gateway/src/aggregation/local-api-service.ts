import { builtInPriority, type Catalogue } from '@orch/core/catalogue'
import type { ApiObject } from '@orch/core/meta'
import { automanagedLabel, domainGroup, type Names } from '@orch/core/names'
import type { Management } from './registration.ts'

/** A group version that this server serves. */
export interface GroupVersion {
  readonly group: string
  readonly version: string
}

export function apiServiceName({ group, version }: GroupVersion): string {
  return `${version}.${group}`
}

/** Priority of the groups of definitions, and of their versions. */
export const customPriority = { group: 1_000, version: 100 }

/** The APIService of a local group version. */
export function localApiService(
  names: Names,
  { group, version, management }: GroupVersion & { readonly management: Management },
): ApiObject {
  const priority = management === 'onstart' ? builtInPriority(names, group, version) : customPriority
  return {
    apiVersion: `${domainGroup(names, 'apiregistration')}/v1`,
    kind: 'APIService',
    metadata: { name: apiServiceName({ group, version }), labels: { [automanagedLabel(names)]: management } },
    spec: { group, version, groupPriorityMinimum: priority.group, versionPriority: priority.version },
  }
}

/** All served built-in group versions, always including that of APIServices. */
export function builtInGroupVersions(catalogue: Catalogue): GroupVersion[] {
  const own = domainGroup(catalogue.names, 'apiregistration')
  const named = catalogue.groups.filter(({ name }) => name !== own)
  return [{ group: '', version: 'v1' }, ...named.flatMap(({ name: group, versions }) => versions.map((version) => ({ group, version })))]
}

/** Versions of a group that are served in addition to the built-in ones. */
export function customGroupVersions(catalogue: Catalogue, builtIn: Catalogue, name: string): GroupVersion[] {
  const [known, group] = [builtIn.group(name), catalogue.group(name)]
  if (group === undefined || known === group) return []
  const versions = group.versions.filter((version) => known?.versions.includes(version) !== true)
  return versions.map((version) => ({ group: name, version }))
}
