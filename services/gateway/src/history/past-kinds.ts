import type { Catalogue } from '@orch/core/catalogue'
import type { CustomResources } from '../custom-resources/custom-resources.ts'
import { callContext, type GatewayRequest } from '../request/request.ts'
import { createServedResources, type ServedResources } from '../target/target.ts'

/** The kinds of a moment. */
interface ServedKinds {
  readonly catalogue: Catalogue
  readonly served: ServedResources
}

/** Most revisions whose kinds are remembered: a client sends several requests to one. */
const rememberedMax = 4

/** The kinds of states of the past. */
export class PastKinds {
  readonly #customResources: Pick<CustomResources, 'catalogueAt'>
  readonly #known = new Map<number, Promise<ServedKinds>>()

  constructor(customResources: Pick<CustomResources, 'catalogueAt'>) {
    this.#customResources = customResources
  }

  /** The kinds that were served in the state of the past that a request reads. */
  at(request: GatewayRequest, parts: Parameters<typeof callContext>[1]): Promise<ServedKinds> {
    const revision = request.pastRevision
    const known = this.#known.get(revision)
    if (known !== undefined) return known
    const found = this.#customResources.catalogueAt(revision, callContext(request, parts)).then((catalogue) => {
      const served = createServedResources({ current: () => catalogue, onChange: () => {} })
      return { catalogue, served }
    })
    if (this.#known.size >= rememberedMax) this.#known.clear()
    this.#known.set(revision, found)
    found.catch(() => this.#known.delete(revision))
    return found
  }
}
