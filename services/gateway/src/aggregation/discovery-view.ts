import type { Catalogue, Group } from '@orch/core/catalogue'
import { aggregatedDocument } from '@orch/core/discovery'
import type { ApiServices } from './api-services.ts'
import type { RemoteDiscovery } from './remote-discovery.ts'
import { servedGroups } from './served-groups.ts'

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
        return remote === undefined ? one : { version: one.version, ...this.#remote.of(remote) }
      }),
    }))
    return { ...document, items }
  }
}
