import {
  type AdmissionRule,
  type AdmissionRuleSource,
  type Attributes,
  listEntries,
  objectKey,
  type StorageService,
} from '@orch/core/contracts'
import { isJsonObject } from '@orch/core/json'
import type { ObjectMeta } from '@orch/core/meta'
import { type BuiltIn, isKindOfType, type TypeName } from '@orch/core/schema'
import { ended, Reflector } from '@orch/platform'
import type { PluginNeeds } from '../plugin.ts'

/** A request about objects of a built-in type. */
interface AttributesOf<Name extends TypeName> extends Attributes {
  readonly object: BuiltIn<Name> | undefined
  readonly oldObject: BuiltIn<Name> | undefined
}

/** The gateway parses the objects of a request as their kind. */
function isAbout<Name extends TypeName>(type: Name, attributes: Attributes): attributes is AttributesOf<Name> {
  return isKindOfType(type, attributes)
}

/** Both objects of a request of a built-in type. Requesting another type than in its rules is a bug of a plugin. */
export function objectsOf<Name extends TypeName>(type: Name, attributes: Attributes): Pick<AttributesOf<Name>, 'object' | 'oldObject'> {
  if (!isAbout(type, attributes)) throw new TypeError(`expected a request about ${type}, got one about ${attributes.kind}`)
  return attributes
}

/** The object to be written. */
export function newObject<Name extends TypeName>(type: Name, attributes: Attributes): BuiltIn<Name> {
  const { object } = objectsOf(type, attributes)
  if (object === undefined) throw new TypeError(`expected a request that writes ${type}`)
  return object
}

/** The metadata of an object of any kind; an object such as a Scale in a request may have none. */
export function metadataOf(object: unknown): ObjectMeta {
  const metadata = isJsonObject(object) ? object['metadata'] : undefined
  return isMetadata(metadata) ? metadata : {}
}

/** The gateway has parsed it as this type. */
function isMetadata(value: unknown): value is ObjectMeta {
  return isJsonObject(value)
}

/** A resource of one group in memory, as the results of `decode`. */
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

  /** The current object in storage, read before a refusal because memory lacks it. */
  async latest(key: string): Promise<T | undefined> {
    const { entry } = await this.#storage.get({ key, read: { kind: 'latest' } })
    return entry === undefined ? undefined : this.#decode(entry.value, key)
  }

  /** All current objects in storage, of all namespaces or of one. */
  async latestAll(namespace?: string): Promise<T[]> {
    const scope = namespace === undefined ? { resource: this.#prefix } : { resource: this.#prefix, namespace }
    const found: T[] = []
    for await (const page of listEntries(this.#storage, scope)) {
      for (const { value, key } of page) found.push(this.#decode(value, key))
    }
    return found
  }

  /** A write to the resource is answered after it is in memory here. */
  get sources(): readonly AdmissionRuleSource[] {
    return [{ resource: this.#prefix, revision: this.revision }]
  }

  close(): void {
    this.#closed.abort(ended)
  }
}

function prefixOf({ resources }: PluginNeeds['catalogue'], { group, plural }: { readonly group: string; readonly plural: string }): string {
  const resource = resources.find((one) => one.group === group && one.plural === plural)
  if (resource === undefined) throw new Error(`there is no resource ${plural} in the group ${JSON.stringify(group)}`)
  return resource.stored.prefix
}

/** An admission rule in all namespaces. */
export function admissionRuleFor(phase: string, operations: readonly string[], group: string, resources: readonly string[]): AdmissionRule {
  return { phase, operations, groups: [group], resources, namespaces: [] }
}
