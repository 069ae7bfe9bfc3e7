import { builtInPriority, type Catalogue, type Group } from '@orch/core/catalogue'
import { compareVersions } from '@orch/core/definitions'
import { domainGroup, type Names } from '@orch/core/names'
import type { ApiService } from './api-service.ts'
import { customPriority } from './local-api-service.ts'

interface RankedVersion {
  readonly version: string
  readonly priority: number
}

interface RankedGroup {
  priority: number
  readonly versions: Map<string, number>
}

/**
 * Groups in the order of `/apis`: those of this server and of manually managed APIServices, available or not. The highest priority of its APIServices
 * counts for a group; equal priorities are ordered by name.
 */
export function servedGroups(catalogue: Catalogue, builtIn: Catalogue, byHand: readonly ApiService[]): Group[] {
  const { names } = catalogue
  const own = domainGroup(names, 'apiregistration')
  const groups = new Map<string, RankedGroup>()
  const add = (group: string, version: string, priority: { readonly group: number; readonly version: number }) => {
    const ranked = groups.get(group) ?? { priority: 0, versions: new Map<string, number>() }
    ranked.priority = Math.max(ranked.priority, priority.group)
    ranked.versions.set(version, priority.version)
    groups.set(group, ranked)
  }
  for (const { name, versions } of catalogue.groups) {
    for (const version of versions) add(name, version, localPriority(names, builtIn, name, version))
  }
  for (const { group, version, groupPriority, versionPriority } of byHand) {
    if (group !== '' && group !== own) add(group, version, { group: groupPriority, version: versionPriority })
  }
  const rank = (name: string) => (name === own ? Number.POSITIVE_INFINITY : (groups.get(name)?.priority ?? 0))
  const ordered = [...groups.keys()].sort((a, b) => rank(b) - rank(a) || (a < b ? -1 : 1))
  return ordered.map((name) => ({ name, versions: versionsInOrder(groups.get(name)?.versions ?? new Map()) }))
}

function localPriority(names: Names, builtIn: Catalogue, group: string, version: string) {
  const isBuiltIn = builtIn.group(group)?.versions.includes(version) === true
  return isBuiltIn ? builtInPriority(names, group, version) : customPriority
}

/** Versions by priority; equal priorities are ordered by stability and number. */
export function versionsInOrder(priorities: ReadonlyMap<string, number>): string[] {
  const ranked: RankedVersion[] = [...priorities].map(([version, priority]) => ({ version, priority }))
  return ranked.sort((a, b) => b.priority - a.priority || compareVersions(a.version, b.version)).map(({ version }) => version)
}
