import { resourcePrefix } from '@orch/core/contracts'
import { at } from '@orch/core/json'
import { getOrMake } from '@orch/core/memo'
import { identity, type Transformer } from './transformer.ts'

/** One element of the configuration: resources and their transformers. */
export interface EncryptedResources {
  /** `secrets`, `deployments.apps`, `*.apps`, `*.` for the core group, `*.*`. */
  readonly resources: readonly string[]
  /** The first transformer encrypts; all of them decrypt. */
  readonly transformers: readonly Transformer[]
}

/** Encrypts and decrypts stored values by the resource that their key names. */
export interface Encryption {
  seal(key: string, value: Uint8Array): Uint8Array
  /** Decrypts a value; undefined if `prepare` must be called first. Throws an UnreadableValueError. */
  open(key: string, value: Uint8Array): Uint8Array | undefined
  prepare(records: readonly { readonly key: string; readonly value: Uint8Array }[]): Promise<void>
  /** The label of a value: its transformer's prefix, and the name of its key. */
  labelOf(key: string, value: Uint8Array): string
  /** The label that a new value of this key gets. */
  presentLabel(key: string): string
  /** True if a new value of this key is encrypted. */
  isEncrypted(key: string): boolean
}

/** Observes encryption and decryption. */
export interface TransformObserver {
  /** The start time of a transformation. */
  began(): number
  /** `prefix` is the transformer's; '' for unencrypted values. */
  ended(
    transformation: { readonly direction: 'to_storage' | 'from_storage'; readonly prefix: string; readonly hasFailed: boolean },
    began: number,
  ): void
}

/** No configured provider has the value's prefix. The message names the key and the value's transformer. */
export class UnreadableValueError extends Error {
  override readonly name = 'UnreadableValueError'
}

/** The provider with the value's prefix cannot decrypt it: the value was altered, or the key has other bytes. */
export class AlteredValueError extends UnreadableValueError {
  readonly prefix: string

  constructor(message: string, prefix: string, options: ErrorOptions) {
    super(message, options)
    this.prefix = prefix
  }
}

/**
 * An encrypted value: two bytes as in the header of a stored value (`shared/core/src/stored/envelope.ts`: format, transformer), then the prefix of the
 * transformer in ASCII, then the transformer's ciphertext of the whole stored value.
 */
const mark = Buffer.from([1, 1])
const prefixStart = Buffer.from('k8s:enc:')
/** Maximum length of a prefix. Names in a configuration are short; a longer prefix is not valid. */
const prefixBytesMax = 512

/** The prefix of an encrypted value, such as `k8s:enc:aescbc:v1:key1:`; '' for an unencrypted value. */
function prefixOf(value: Uint8Array): string {
  if (value[0] !== mark[0] || value[1] !== mark[1]) return ''
  const bytes = Buffer.from(value.buffer, value.byteOffset + mark.length, Math.min(value.length - mark.length, prefixBytesMax))
  if (!bytes.subarray(0, prefixStart.length).equals(prefixStart)) return ''
  // A colon ends each of scheme, version and name.
  let end = prefixStart.length - 1
  for (let count = 0; count < 3; count++) {
    end = bytes.indexOf(0x3a, end + 1)
    if (end < 0) return ''
  }
  return bytes.toString('latin1', 0, end + 1)
}

/** Encryption by a configuration that can be replaced while values are read and written. */
export class ConfiguredEncryption implements Encryption {
  #elements: readonly EncryptedResources[]
  /** Cached transformers, by the resource's key prefix. */
  readonly #byResource = new Map<string, readonly Transformer[]>()

  observer: TransformObserver | undefined

  constructor(elements: readonly EncryptedResources[]) {
    this.#elements = elements
  }

  /** Uses these elements for all later writes. */
  replace(elements: readonly EncryptedResources[]): void {
    this.#elements = elements
    this.#byResource.clear()
  }

  seal(key: string, value: Uint8Array): Uint8Array {
    const writer = at(this.#transformersOf(key), 0)
    if (writer.prefix === '') return value
    const sealed = this.#observed('to_storage', writer.prefix, () => writer.seal(key, value))
    return Buffer.concat([mark, Buffer.from(writer.prefix, 'latin1'), sealed])
  }

  #observed<T>(direction: 'to_storage' | 'from_storage', prefix: string, transform: () => T): T {
    const { observer } = this
    if (observer === undefined) return transform()
    const began = observer.began()
    let hasFailed = true
    try {
      const transformed = transform()
      hasFailed = false
      return transformed
    } finally {
      observer.ended({ direction, prefix, hasFailed }, began)
    }
  }

  open(key: string, value: Uint8Array): Uint8Array | undefined {
    const prefix = prefixOf(value)
    const reader = this.#readerOf(key, prefix)
    if (prefix === '') return value
    try {
      return this.#observed('from_storage', prefix, () => reader.open(key, contentOf(value, prefix)))
    } catch (cause) {
      const message = `${key} cannot be decrypted with ${prefix}: the value or the key is not the one that it was written with`
      throw new AlteredValueError(message, prefix, { cause })
    }
  }

  async prepare(records: readonly { readonly key: string; readonly value: Uint8Array }[]): Promise<void> {
    const wanted = new Map<Transformer, Uint8Array[]>()
    for (const { key, value } of records) {
      const prefix = prefixOf(value)
      if (prefix === '') continue
      const reader = this.#readerOf(key, prefix)
      getOrMake(wanted, reader, () => []).push(contentOf(value, prefix))
    }
    try {
      await Promise.all([...wanted].map(([reader, contents]) => reader.prepare?.(contents)))
    } catch (cause) {
      throw new UnreadableValueError(cause instanceof Error ? cause.message : String(cause), { cause })
    }
  }

  labelOf(key: string, value: Uint8Array): string {
    const prefix = prefixOf(value)
    if (prefix === '') return ''
    return prefix + (this.#readerOf(key, prefix).keyId?.(contentOf(value, prefix)) ?? '')
  }

  presentLabel(key: string): string {
    const writer = at(this.#transformersOf(key), 0)
    return writer.prefix + (writer.keyId?.() ?? '')
  }

  isEncrypted(key: string): boolean {
    return at(this.#transformersOf(key), 0).prefix !== ''
  }

  #readerOf(key: string, prefix: string): Transformer {
    const reader = this.#transformersOf(key).find((one) => one.prefix === prefix)
    if (reader !== undefined) return reader
    throw new UnreadableValueError(
      prefix === ''
        ? `${key} is not encrypted, and the providers of its resource do not contain identity`
        : `${key} is encrypted with ${prefix}, and no provider of its resource has that key`,
    )
  }

  #transformersOf(key: string): readonly Transformer[] {
    const resource = resourcePrefix(key)
    const known = this.#byResource.get(resource)
    if (known !== undefined) return known
    const [group = '', plural = ''] = resource.split('/')
    const element = this.#elements.find(({ resources }) => resources.some((one) => covers(one, group === 'core' ? '' : group, plural)))
    const transformers = element?.transformers ?? [identity]
    this.#byResource.set(resource, transformers)
    return transformers
  }
}

function contentOf(value: Uint8Array, prefix: string): Uint8Array {
  return value.subarray(mark.length + prefix.length)
}

/** True if a resource of the configuration, such as `deployments.apps`, covers the resource of a key. */
function covers(resource: string, group: string, plural: string): boolean {
  const dot = resource.indexOf('.')
  const [name, itsGroup] = dot < 0 ? [resource, ''] : [resource.slice(0, dot), resource.slice(dot + 1)]
  if (itsGroup === '*') return true
  return itsGroup === group && (name === '*' || name === plural)
}
