import type { Catalogue, Gvk } from '@orch/core/catalogue'
import { listEntries, objectKey, type StorageService } from '@orch/core/contracts'
import { parseBytes } from '@orch/core/json'
import { RecentMap } from '@orch/core/memo'
import { type ApiObject, parseApiVersion } from '@orch/core/meta'
import { domainGroup } from '@orch/core/names'
import type { ParamRefSpec, ValidatingPolicySpec } from '@orch/core/policies'
import { toLabelRequirements } from '@orch/core/selectors'

/** The storage prefix of a parameter kind. */
interface ParamPlace {
  readonly prefix: string
  readonly isNamespaced: boolean
}

/** The parameters for the evaluations of a binding, in order; null for none. */
export type ParamsReading =
  | { readonly kind: 'params'; readonly params: readonly unknown[] }
  /** The reason why the binding cannot be evaluated. */
  | { readonly kind: 'failed'; readonly message: string }
  /** The kind of the parameters is unknown. */
  | { readonly kind: 'unknown'; readonly message: string }

/** Reads parameters at the latest revision. */
export class Params {
  readonly #storage: StorageService
  readonly #catalogue: Catalogue
  /** Cached storage prefixes of built-in kinds, by `apiVersion/kind`; null for an unknown kind. */
  readonly #builtIn = new Map<string, ParamPlace | null>()

  readonly #parsed = new ParsedObjects()

  constructor(storage: StorageService, catalogue: Catalogue) {
    this.#storage = storage
    this.#catalogue = catalogue
  }

  async read(kind: ValidatingPolicySpec['paramKind'], reference: ParamRefSpec | undefined | null, namespace = ''): Promise<ParamsReading> {
    if (kind === undefined || kind === null || reference === undefined || reference === null) return { kind: 'params', params: [null] }
    const place = await this.#placeOf(kind)
    if (place === undefined) return { kind: 'unknown', message: `failed to find resource referenced by paramKind: '${kindText(kind)}'` }
    const { name, selector, namespace: own = '', parameterNotFoundAction } = reference
    const failed = (message: string) => ({ kind: 'failed', message }) as const
    if (!place.isNamespaced && own !== '') return failed('paramRef.namespace must not be provided for a cluster-scoped `paramKind`')
    const from = own === '' ? namespace : own
    if (place.isNamespaced && from === '') {
      return failed('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources')
    }
    const scope = place.isNamespaced ? from : undefined
    const params = name ? await this.#get(place, scope, name) : await this.#list(place, scope, selector ?? {})
    if (params.length === 0 && parameterNotFoundAction === 'Deny') {
      return failed('no params found for policy binding with `Deny` parameterNotFoundAction')
    }
    return { kind: 'params', params }
  }

  async #get({ prefix }: ParamPlace, namespace: string | undefined, name: string): Promise<readonly unknown[]> {
    const key = objectKey(prefix, namespace, name)
    const { entry } = await this.#storage.get({ key, read: { kind: 'latest' } })
    return entry === undefined ? [] : [this.#parsed.parse(key, entry.value)]
  }

  async #list(
    { prefix }: ParamPlace,
    namespace: string | undefined,
    selector: NonNullable<ParamRefSpec['selector']>,
  ): Promise<readonly unknown[]> {
    const read = toLabelRequirements(selector)
    if (read.kind === 'malformed') return []
    const scope = { resource: prefix, ...(namespace === undefined ? {} : { namespace }) }
    const selection = { labels: read.requirements, fields: [] }
    const found: unknown[] = []
    for await (const page of listEntries(this.#storage, scope, { selection })) {
      found.push(...page.map(({ value }) => parseBytes(value)))
    }
    return found
  }

  #builtInPlace(gvk: Gvk): ParamPlace | undefined {
    const key = `${gvk.group}/${gvk.version}/${gvk.kind}`
    let place = this.#builtIn.get(key)
    if (place === undefined) {
      const found = this.#catalogue.findKind(gvk)
      place = found === undefined ? null : { prefix: found.stored.prefix, isNamespaced: found.isNamespaced }
      this.#builtIn.set(key, place)
    }
    return place ?? undefined
  }

  /** Custom kinds are found by their definitions. */
  async #placeOf({ apiVersion = '', kind = '' }: NonNullable<ValidatingPolicySpec['paramKind']>): Promise<ParamPlace | undefined> {
    const { group, version } = parseApiVersion(apiVersion) ?? { group: '', version: '' }
    const builtIn = this.#builtInPlace({ group, version, kind })
    if (builtIn !== undefined) return builtIn
    const resource = `${domainGroup(this.#catalogue.names, 'apiextensions')}/customresourcedefinitions`
    for await (const page of listEntries(this.#storage, { resource })) {
      // The names of definitions end with their groups.
      for (const { value } of page.filter(({ key }) => key.endsWith(`.${group}`))) {
        const definition: ApiObject & DefinitionPart = parseBytes(value)
        const { spec } = definition
        const isServed = spec.versions.some((one) => one.name === version && one.served)
        if (spec.group !== group || spec.names.kind !== kind || !isServed) continue
        return { prefix: `${group}/${spec.names.plural}`, isNamespaced: spec.scope === 'Namespaced' }
      }
    }
    return undefined
  }
}

interface DefinitionPart {
  readonly spec: {
    readonly group: string
    readonly scope: string
    readonly names: { readonly kind: string; readonly plural: string }
    readonly versions: readonly { readonly name: string; readonly served: boolean }[]
  }
}

function kindText({ apiVersion = '', kind = '' }: NonNullable<ValidatingPolicySpec['paramKind']>): string {
  const { group, version } = parseApiVersion(apiVersion) ?? { group: '', version: apiVersion }
  return `${group}/${version}, Kind=${kind}`
}

/** Maximum number of cached parsed objects: parameters and namespaces, which most requests of a policy share. */
const objectsMax = 128
const bytesMax = 16 * 1024

/** Parses stored objects, and caches the last one of each key, so that equal bytes are parsed once. The results must not be changed. */
export class ParsedObjects {
  readonly #kept = new RecentMap<{ readonly bytes: Uint8Array; readonly object: unknown }>(objectsMax)

  parse(key: string, bytes: Uint8Array): unknown {
    const known = this.#kept.get(key)
    if (known !== undefined && known.bytes.length === bytes.length && Buffer.compare(known.bytes, bytes) === 0) return known.object
    const object: unknown = parseBytes(bytes)
    // The bytes are copied, as storage may reuse its buffer.
    if (bytes.length <= bytesMax) this.#kept.set(key, { bytes: bytes.slice(), object })
    return object
  }
}
