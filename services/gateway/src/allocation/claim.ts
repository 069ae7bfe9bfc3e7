import { type FieldError, internal, invalid, type LevelText } from '@orch/core/meta'
import type { Served } from '../target/target.ts'
import type { Holder } from './address-objects.ts'
import type { ReservedKeys } from './reserved-keys.ts'

/** Maximum number of random tries before a range is searched sequentially. */
const randomTries = 16

/** A range of addresses or ports for allocation. */
export interface Pool {
  /** Prefix of the keys of its reservations. */
  readonly prefix: string
  /** From 0 to `size - 1`. */
  readonly nameAt: (index: number) => string
  readonly size: number
  /** Number of addresses at the beginning that are allocated last. */
  readonly staticSize: number
}

/** The Service in the message of a refusal. */
export interface Subject {
  readonly served: Served
  readonly name: string
  /** Minor version of the release whose messages the refusal has. */
  readonly level: number
}

/** The 422 for a field whose requested address or port cannot be allocated. */
export function refused({ served, name, level }: Subject, field: string, message: LevelText): Error {
  const error: FieldError = { reason: 'FieldValueInvalid', field, message }
  return invalid(served.kind, name, [error], level)
}

/** The object that a claim is made for. */
export interface Claimant {
  readonly keys: ReservedKeys
  readonly holder: Holder
  readonly isDryRun: boolean
  /** Reservations that the object already holds. */
  readonly own: readonly string[]
}

/** The reservations of one write. A dry run checks them without making them. */
export class Claim {
  /** The keys reserved by this claim. */
  readonly taken: string[] = []
  readonly #keys: ReservedKeys
  readonly #holder: Holder
  readonly #isDryRun: boolean
  readonly #own: Set<string>

  constructor({ keys, holder, isDryRun, own }: Claimant) {
    this.#keys = keys
    this.#holder = holder
    this.#isDryRun = isDryRun
    this.#own = new Set(own)
  }

  /** True if the object has the address or port, whose range may have changed since. */
  holds(prefix: string, name: string): boolean {
    return this.#own.has(`${prefix}/${name}`)
  }

  async one(prefix: string, name: string): Promise<'taken' | undefined> {
    if (this.holds(prefix, name)) return undefined
    const key = `${prefix}/${name}`
    if (this.#isDryRun ? await this.#keys.isTaken(key) : !(await this.#take(key))) return 'taken'
    this.#own.add(key)
    return undefined
  }

  /** A failed call may have created the key. */
  async #take(key: string): Promise<boolean> {
    this.taken.push(key)
    const isTaken = await this.#keys.take(key, this.#holder)
    if (!isTaken) this.taken.pop()
    return isTaken
  }

  /** A free address or port of the pools, in order. */
  async anyOf(pools: AsyncIterable<Pool> | Iterable<Pool>): Promise<string> {
    for await (const pool of pools) {
      const name = await this.#anyIn(pool)
      if (name !== undefined) return name
    }
    throw internal('failed to allocate a serviceIP or port: the range is full')
  }

  async #anyIn({ prefix, nameAt, size, staticSize }: Pool): Promise<string | undefined> {
    for (let attempt = 0; attempt < randomTries; attempt++) {
      const name = nameAt(staticSize + this.#keys.random(size - staticSize))
      if (!this.holds(prefix, name) && (await this.one(prefix, name)) === undefined) return name
    }
    const used = await this.#keys.namesBelow(prefix)
    for (let step = 0; step < size; step++) {
      const name = nameAt((staticSize + step) % size)
      if (!used.has(name) && !this.holds(prefix, name) && (await this.one(prefix, name)) === undefined) return name
    }
    return undefined
  }
}
