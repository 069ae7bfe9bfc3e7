import { builtInPriority, type Catalogue, type Group } from '@orch/core/catalogue'
import { compareVersions } from '@orch/core/definitions'
import { aggregatedDocument } from '@orch/core/discovery'
import { domainGroup, type Names } from '@orch/core/names'
import type { ApiService } from './api-service.ts'
import type { ApiServices } from './api-services.ts'
import { customPriority } from './local-api-service.ts'
import type { RemoteDiscovery } from './remote-discovery.ts'

/** The discovery documents with hand-managed APIServices. */
export class DiscoveryView {
  readonly #apiServices: ApiServices
  readonly #remote: RemoteDiscovery
  readonly #builtIn: Catalogue
  #made: { readonly catalogue: Catalogue; readonly version: number; document: Uint8Array | undefined } | undefined
  #groups: readonly Group[] = []

  constructor(apiServices: ApiServices, remote: RemoteDiscovery, builtIn: Catalogue) {
    this.#apiServices = apiServices
    this.#remote = remote
    this.#builtIn = builtIn
  }

  /** Groups in the order of `/apis`. Undefined to use the catalogue's, as no APIService differs. */
  groups(catalogue: Catalogue): readonly Group[] | undefined {
    return this.#apiServices.hasByHand ? this.#current(catalogue).groups : undefined
  }

  /** The aggregated form of `/apis` as JSON. Undefined to use the catalogue's. */
  aggregated(catalogue: Catalogue): Uint8Array | undefined {
    if (!this.#apiServices.hasByHand) return undefined
    const { groups, made } = this.#current(catalogue)
    made.document ??= Buffer.from(JSON.stringify(this.#print(catalogue, groups)))
    return made.document
  }

  #current(catalogue: Catalogue) {
    const { version } = this.#remote
    if (this.#made?.catalogue !== catalogue || this.#made.version !== version) {
      this.#groups = servedGroups(catalogue, this.#builtIn, this.#apiServices.byHand)
      this.#made = { catalogue, version, document: undefined }
    }
    return { groups: this.#groups, made: this.#made }
  }

  #print(catalogue: Catalogue, groups: readonly Group[]): object {
    const document = aggregatedDocument(catalogue, groups, (group, one) => catalogue.inGroupVersion(group, one))
    const items = document.items.map((item) => ({
      ...item,
      versions: item.versions.map((one) => {
        const remote = this.#apiServices.remoteAt(`/apis/${item.metadata.name}/${one.version}`)
        if (remote === undefined) return one
        const { resources, freshness } = this.#remote.of(remote)
        return { version: one.version, ...(resources.length === 0 ? {} : { resources }), freshness }
      }),
    }))
    return { ...document, items }
  }
}

interface RankedVersion {
  readonly version: string
  readonly priority: number
}

/**
 * Groups in the order of `/apis`: those of this server and of manually managed APIServices, available or not. The highest priority of its APIServices
 * counts for a group; equal priorities are ordered by name.
 */
export function servedGroups(catalogue: Catalogue, builtIn: Catalogue, byHand: readonly ApiService[]): Group[] {
  const { names } = catalogue
  const own = domainGroup(names, 'apiregistration')
  const groups = new Map<string, { priority: number; readonly versions: Map<string, number> }>()
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
