/** Maximum number of cached parsed objects: parameters and namespaces, which most requests of a policy share. */
const objectsMax = 128
const bytesMax = 16 * 1024

const decoder = new TextDecoder()

/** Parses stored objects, and caches the last one of each key, so that equal bytes are parsed once. The results must not be changed. */
export class ParsedObjects {
  /** The most recently used object is at the end. */
  readonly #kept = new Map<string, { readonly bytes: Uint8Array; readonly object: unknown }>()

  parse(key: string, bytes: Uint8Array): unknown {
    const known = this.#kept.get(key)
    if (known !== undefined && known.bytes.length === bytes.length && Buffer.compare(known.bytes, bytes) === 0) return known.object
    const object: unknown = JSON.parse(decoder.decode(bytes))
    if (bytes.length <= bytesMax) this.#keep(key, bytes, object)
    return object
  }

  #keep(key: string, bytes: Uint8Array, object: unknown): void {
    this.#kept.delete(key)
    // The bytes are copied, as storage may reuse its buffer.
    this.#kept.set(key, { bytes: bytes.slice(), object })
    const [first] = this.#kept.keys()
    if (this.#kept.size > objectsMax && first !== undefined) this.#kept.delete(first)
  }
}
