import { type Attributes, everything, type Interest, type InterestSource, objectKey, type StorageService } from '@orch/core/contracts'
import type { ApiObject } from '@orch/core/meta'
import { Reflector } from '@orch/platform'
import type { PluginNeeds } from '../plugin.ts'

const decoder = new TextDecoder()

/** What a refusal calls an object. One whose name the server makes up has none before it is complete. */
export function nameIn({ name, object }: Attributes): string {
  if (name !== '') return name
  const { metadata } = (object ?? {}) as Partial<ApiObject>
  return metadata?.name || metadata?.generateName || 'Unknown'
}

/** Stored JSON as plain data. Storage holds nothing but objects that the gateway has checked. */
export function parseStored<T>(value: Uint8Array): T {
  return JSON.parse(decoder.decode(value)) as T
}

/** A resource of one group in memory, by what `decode` returns for its objects. */
export class KeptObjects<T> extends Reflector<T> {
  readonly #prefix: string
  readonly #decode: (value: Uint8Array, key: string) => T
  readonly #storage: StorageService
  readonly #closed: AbortController

  constructor(
    resource: { readonly group: string; readonly plural: string },
    decode: (value: Uint8Array, key: string) => T,
    { storage, catalogue, clock, log, random }: PluginNeeds,
  ) {
    const prefix = prefixOf(catalogue, resource)
    const closed = new AbortController()
    super({ storage, clock, log, random, resource: prefix, decode, signal: closed.signal })
    this.#prefix = prefix
    this.#decode = decode
    this.#storage = storage
    this.#closed = closed
  }

  /** The storage key of an object. */
  keyOf(name: string, namespace?: string): string {
    return objectKey(this.#prefix, namespace, name)
  }

  /** The object as storage has it now; to be asked before something is refused because memory lacks it. */
  async latest(key: string): Promise<T | undefined> {
    const { entry } = await this.#storage.get({ key, read: { kind: 'latest' } })
    return entry === undefined ? undefined : this.#decode(entry.value, key)
  }

  /** Everything that storage has now, of all namespaces or of one. */
  async latestAll(namespace?: string): Promise<T[]> {
    const scope = namespace === undefined ? { resource: this.#prefix } : { resource: this.#prefix, namespace }
    const found: T[] = []
    const request = { scope, selection: everything, read: { kind: 'latest' }, limit: 0, start: '', form: 'entries' } as const
    for await (const part of this.#storage.list(request)) {
      if (part.kind === 'entries') for (const { value, key } of part.entries) found.push(this.#decode(value, key))
    }
    return found
  }

  /** For `interestSources`: a write to the resource is answered once it is in memory here. */
  source(): InterestSource {
    return { resource: this.#prefix, revision: this.revision }
  }

  close(): void {
    this.#closed.abort()
  }
}

function prefixOf({ resources }: PluginNeeds['catalogue'], { group, plural }: { readonly group: string; readonly plural: string }): string {
  const resource = resources.find((one) => one.group === group && one.plural === plural)
  if (resource === undefined) throw new Error(`there is no resource ${plural} in the group ${JSON.stringify(group)}`)
  return resource.stored.prefix
}

/** An interest in all namespaces. */
export function interestIn(phase: string, operations: readonly string[], group: string, resources: readonly string[]): Interest {
  return { phase, operations, groups: [group], resources, namespaces: [] }
}
