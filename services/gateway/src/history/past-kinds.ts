import type { Catalogue } from '@orch/core/catalogue'
import type { CustomResources } from '../custom-resources/custom-resources.ts'
import { callContext, type GatewayRequest } from '../request/request.ts'
import type { OpenApiDocuments } from '../routes/openapi-documents.ts'
import { createServedResources, type ServedResources } from '../target/target.ts'

/** The parts of requests that depend on the served kinds. */
export interface KindParts {
  readonly catalogue: Catalogue
  readonly served: ServedResources
  readonly openApi: Pick<OpenApiDocuments, 'now' | 'of'>
}

/** Most revisions whose kinds are remembered: a client sends several requests to one. */
const rememberedMax = 4

/** The kinds of states of the past. */
export class PastKinds {
  readonly #customResources: Pick<CustomResources, 'catalogueAt'>
  readonly #known = new Map<number, Promise<KindParts>>()

  constructor(customResources: Pick<CustomResources, 'catalogueAt'>) {
    this.#customResources = customResources
  }

  /** The parts of a request to a state of the past: its discovery, its documents and its objects are of the kinds that were served then. */
  at(request: GatewayRequest, parts: KindParts & Parameters<typeof callContext>[1]): Promise<KindParts> {
    const revision = request.pastRevision
    const known = this.#known.get(revision)
    if (known !== undefined) return known
    const found = this.#customResources.catalogueAt(revision, callContext(request, parts)).then((catalogue) => {
      const documents = () => parts.openApi.of(catalogue)
      const served = createServedResources({ current: () => catalogue, onChange: () => {} })
      return { catalogue, served, openApi: { now: documents, of: parts.openApi.of } }
    })
    if (this.#known.size >= rememberedMax) this.#known.clear()
    this.#known.set(revision, found)
    found.catch(() => this.#known.delete(revision))
    return found
  }
}
