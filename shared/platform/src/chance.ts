import { createCipheriv, createHash, randomBytes, randomUUID } from 'node:crypto'
import { getOrMake } from '@orch/core/memo'

/**
 * Randomness for services: names, uids, tie-breaks, pauses. Not for keys and other secrets, because a client that
 * knows the seed can compute all values; every server takes secrets from `node:crypto`.
 */
export interface Chance {
  /** A number from 0 to below 1. */
  readonly fraction: () => number
  /** A UUID of version 4. */
  readonly uuid: () => string
  /** Random bytes of this length. */
  readonly bytes: (length: number) => Uint8Array
  /** The randomness of one purpose. Values drawn for one purpose do not affect other purposes. */
  stream(purpose: string): Chance
  /** A copy that continues with the same values. Values drawn from one copy do not affect the other. */
  fork(): Chance
}

/** Number of bytes that are generated at once. */
const blockBytes = 4_096

/** The system's generator. It is cryptographically strong, except for `fraction`. */
export const systemChance: Chance = {
  fraction: Math.random,
  // Node concatenates a UUID from twenty strings, which stay in memory until the text is flattened; `toLowerCase` flattens it.
  uuid: () => randomUUID().toLowerCase(),
  bytes: pooledBytes(),
  stream: () => systemChance,
  fork: () => systemChance,
}

/** Cuts bytes from larger draws, as each draw is a call of the system. No byte is given twice. */
function pooledBytes(): Chance['bytes'] {
  let [pool, used] = [Buffer.alloc(0), 0]
  return (length) => {
    if (length > blockBytes) return randomBytes(length)
    if (used + length > pool.length) [pool, used] = [randomBytes(blockBytes), 0]
    used += length
    return pool.subarray(used - length, used)
  }
}

/**
 * Seeded randomness: the same seed gives the same values, per purpose and in the order of the calls. A value is
 * the next part of the AES-256 key stream in counter mode, under the hash of seed and purpose. For tests only; see `Chance`.
 */
export function seededChance(seed: number | string): Chance {
  return new SeededChance(JSON.stringify([String(seed)]))
}

const zeros = Buffer.alloc(blockBytes)
/** Block size of the cipher; the counter counts blocks. */
const cipherBytes = 16

class SeededChance implements Chance {
  /** The seed and the purposes as JSON, which is different for different lists. */
  readonly #path: string
  readonly #keyStream
  readonly #streams = new Map<string, SeededChance>()
  #block: Buffer = Buffer.alloc(0)
  #used = 0
  /** Number of generated blocks. */
  #made: number

  constructor(path: string, made = 0) {
    this.#path = path
    this.#made = made
    const counter = Buffer.alloc(cipherBytes)
    counter.writeBigUInt64BE((BigInt(made) * BigInt(blockBytes)) / BigInt(cipherBytes), cipherBytes - 8)
    this.#keyStream = createCipheriv('aes-256-ctr', createHash('sha256').update(path).digest(), counter)
  }

  fork = (): Chance => this.#fork()

  #fork(): SeededChance {
    const fork = new SeededChance(this.#path, this.#made)
    fork.#block = this.#block
    fork.#used = this.#used
    for (const [purpose, stream] of this.#streams) fork.#streams.set(purpose, stream.#fork())
    return fork
  }

  /** Uses 48 bits, the maximum of `readUIntBE`. */
  fraction = (): number => this.#take(6).readUIntBE(0, 6) / 2 ** 48

  uuid = (): string => {
    const bytes = Buffer.from(this.#take(16))
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
    const text = bytes.toString('hex')
    return `${text.slice(0, 8)}-${text.slice(8, 12)}-${text.slice(12, 16)}-${text.slice(16, 20)}-${text.slice(20)}`
  }

  bytes = (length: number): Uint8Array => {
    const parts: Uint8Array[] = []
    for (let left = length; left > 0; left -= blockBytes) parts.push(Uint8Array.from(this.#take(Math.min(left, blockBytes))))
    return Buffer.concat(parts)
  }

  stream(purpose: string): Chance {
    return getOrMake(this.#streams, purpose, () => new SeededChance(JSON.stringify([this.#path, purpose])))
  }

  /** The next bytes of the key stream, at most a block. They are valid until the next call. */
  #take(length: number): Buffer {
    if (this.#used + length > this.#block.length) {
      this.#block = this.#keyStream.update(zeros)
      this.#used = 0
      this.#made += 1
    }
    this.#used += length
    return this.#block.subarray(this.#used - length, this.#used)
  }
}
