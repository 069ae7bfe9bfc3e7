import { type FieldError, internal, invalid } from '@orch/core/meta'
import type { Served } from '../served.ts'
import type { ReservedKeys } from './reserved-keys.ts'

/** Random tries before a range is searched from one end to the other. */
const randomTries = 16

/** What any one of may be given. */
export interface Pool {
  /** Of its reservations' keys. */
  readonly prefix: string
  /** From 0 to `size - 1`. */
  readonly nameAt: (index: number) => string
  readonly size: number
  /** So many at the beginning are given last. */
  readonly staticSize: number
}

/** The Service that a refusal names. */
export interface Subject {
  readonly served: Served
  readonly name: string
}

/** A refusal of what one field asks for. */
export function refused({ served, name }: Subject, field: string, message: string): Error {
  const error: FieldError = { reason: 'FieldValueInvalid', field, message }
  return invalid(served.kind, name, [error])
}

/** For whom something is reserved. */
export interface Claimant {
  readonly keys: ReservedKeys
  readonly uid: string
  readonly isDryRun: boolean
  /** What its object has already, and need not reserve again. */
  readonly own: readonly string[]
}

/** What one write reserves, or in a dry run would. */
export class Claim {
  /** The keys that it has taken. */
  readonly taken: string[] = []
  readonly #keys: ReservedKeys
  readonly #uid: string
  readonly #isDryRun: boolean
  readonly #own: Set<string>

  constructor({ keys, uid, isDryRun, own }: Claimant) {
    this.#keys = keys
    this.#uid = uid
    this.#isDryRun = isDryRun
    this.#own = new Set(own)
  }

  async one(prefix: string, name: string): Promise<'taken' | undefined> {
    const key = `${prefix}/${name}`
    if (this.#own.has(key)) return undefined
    if (this.#isDryRun ? await this.#keys.isTaken(key) : !(await this.#take(key))) return 'taken'
    this.#own.add(key)
    return undefined
  }

  /** It is not known what a failed call has taken. */
  async #take(key: string): Promise<boolean> {
    this.taken.push(key)
    const isTaken = await this.#keys.take(key, this.#uid)
    if (!isTaken) this.taken.pop()
    return isTaken
  }

  async any({ prefix, nameAt, size, staticSize }: Pool): Promise<string> {
    for (let attempt = 0; attempt < randomTries; attempt++) {
      const name = nameAt(staticSize + this.#keys.random(size - staticSize))
      if (!this.#own.has(`${prefix}/${name}`) && (await this.one(prefix, name)) === undefined) return name
    }
    const used = await this.#keys.namesBelow(prefix)
    for (let step = 0; step < size; step++) {
      const name = nameAt((staticSize + step) % size)
      if (!used.has(name) && !this.#own.has(`${prefix}/${name}`) && (await this.one(prefix, name)) === undefined) return name
    }
    throw internal('failed to allocate a serviceIP or port: the range is full')
  }
}
