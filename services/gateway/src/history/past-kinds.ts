import type { Catalogue } from '@orch/core/catalogue'
import type { CallContext } from '@orch/core/contracts'
import type { CustomResources } from '../custom-resources/custom-resources.ts'
import { createServedResources, type ServedResources } from '../target/target.ts'

interface ServedKinds {
  readonly catalogue: Catalogue
  readonly served: ServedResources
}

/** Most revisions whose kinds are remembered: a client sends several requests to one. */
const rememberedMax = 4

/** The kinds of states of the past. */
export class PastKinds {
  readonly #customResources: Pick<CustomResources, 'catalogueAt'>
  readonly #known = new Map<number, ServedKinds>()

  constructor(customResources: Pick<CustomResources, 'catalogueAt'>) {
    this.#customResources = customResources
  }

  /** The kinds that were served at a revision. Each request reads them within its own time: an aborted request does not fail others. */
  async at(revision: number, context: CallContext): Promise<ServedKinds> {
    const known = this.#known.get(revision)
    if (known !== undefined) return known
    const catalogue = await this.#customResources.catalogueAt(revision, context)
    const found = { catalogue, served: createServedResources({ current: () => catalogue, onChange: () => {} }) }
    if (this.#known.size >= rememberedMax) this.#known.clear()
    this.#known.set(revision, found)
    return found
  }
}
