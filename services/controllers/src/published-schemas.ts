import { type Client, type DiscoveredResource, unlessRefused } from '@orch/client'
import type { KindName, KindSchema, OpenApiSchema } from '@orch/core/policies'
import { sleep } from '@orch/platform'
import type { ControllerContext } from './controller.ts'

/** Lifetime of cached documents, as policies that arrive together often share kinds. */
const keptMs = 10_000

const references = '#/components/schemas/'

interface PublishedSchema extends OpenApiSchema {
  readonly 'x-kubernetes-group-version-kind'?: readonly KindName[]
}

interface OpenApiDocument {
  readonly components?: { readonly schemas?: Readonly<Record<string, PublishedSchema>> }
}

/** The served kinds and their schemas, as discovery and OpenAPI publish them. */
export class PublishedSchemas {
  readonly #client: Client
  readonly #context: Pick<ControllerContext, 'clock' | 'signal'>
  readonly #resources = new Map<string, Promise<readonly DiscoveredResource[]>>()
  readonly #documents = new Map<string, Promise<OpenApiDocument>>()
  #isForgetting = false

  constructor({ client, clock, signal }: Pick<ControllerContext, 'client' | 'clock' | 'signal'>) {
    this.#client = client
    this.#context = { clock, signal }
  }

  /** The kind of a resource; undefined if it is unknown, or its server is unreachable. */
  async kindOf({ group, version, resource }: Omit<KindName, 'kind'> & { readonly resource: string }): Promise<string | undefined> {
    const found = await this.#keptOnce(
      this.#resources,
      `${group}/${version}`,
      async () => (await unlessUnserved(() => this.#client.discover(group, version))) ?? [],
    )
    return found.find(({ plural }) => plural === resource)?.kind
  }

  /** The schema of a kind; undefined if unpublished. */
  async schemaOf({ group, version, kind }: KindName): Promise<KindSchema | undefined> {
    const path = group === '' ? `/openapi/v3/api/${version}` : `/openapi/v3/apis/${group}/${version}`
    const load = async () => (await unlessUnserved(() => this.#client.request<OpenApiDocument>({ method: 'GET', path }))) ?? {}
    const { components: { schemas = {} } = {} } = await this.#keptOnce(this.#documents, path, load)
    const isIt = (name: KindName) => name.group === group && name.version === version && name.kind === kind
    const schema = Object.values(schemas).find((one) => one['x-kubernetes-group-version-kind']?.some(isIt))
    return schema && { schema, find: (reference) => schemas[reference.replace(references, '')] }
  }

  /** Drops all cached documents. */
  forget(): void {
    this.#resources.clear()
    this.#documents.clear()
  }

  #keptOnce<T>(kept: Map<string, Promise<T>>, key: string, load: () => Promise<T>): Promise<T> {
    const known = kept.get(key)
    if (known !== undefined) return known
    const loading = load()
    kept.set(key, loading)
    loading.catch(() => kept.delete(key))
    void this.#forgetLater()
    return loading
  }

  async #forgetLater(): Promise<void> {
    if (this.#isForgetting) return
    this.#isForgetting = true
    const { clock, signal } = this.#context
    await sleep(clock, keptMs, signal, { background: true })
    this.#isForgetting = false
    this.forget()
  }
}

/** The response; undefined if no reachable server serves the path. An unserved path has no reason. */
function unlessUnserved<T>(request: () => Promise<T>): Promise<T | undefined> {
  return unlessRefused([404, 503], request)
}
