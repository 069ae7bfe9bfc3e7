import type { StorageService } from '@orch/core/contracts'
import { decodeServingRow, type ServingRow, servingKey, servingPrefix } from '@orch/core/definitions'
import { failed } from '@orch/core/meta'
import { type Clock, type Log, Reflector } from '@orch/platform'
import type { Reservation } from '../write/draft.ts'
import type { Reserver } from '../write/reservation.ts'

/** What following the rows needs. */
export interface ServingConditionOptions {
  readonly storage: StorageService
  readonly clock: Clock
  readonly log: Log
  /** A number in [0, 1). */
  readonly random: () => number
}

interface KnownRow {
  readonly row: ServingRow
  readonly revision: number
}

const nothingToDo = async (): Promise<void> => {}

/**
 * What creates of custom resources rest on: that their definition is served as it was, and does not go. Rows are taken from memory;
 * after a commit that was not made the next one asks storage.
 */
export class ServingConditions {
  readonly #options: ServingConditionOptions
  readonly #closed = new AbortController()
  readonly #rows = new Map<string, KnownRow>()
  readonly #doubtful = new Set<string>()

  constructor(options: ServingConditionOptions) {
    this.#options = options
  }

  /** Begins to follow the rows; resolves when all are known. */
  async load(): Promise<void> {
    const { storage, clock, log, random } = this.#options
    const decode = (value: Uint8Array) => decodeServingRow({ value })
    const reflector = new Reflector({ storage, clock, log, random, resource: servingPrefix, decode, signal: this.#closed.signal })
    reflector.onChange(({ key, after, revision }) => {
      if (after === undefined) this.#rows.delete(key)
      else this.#rows.set(key, { row: after, revision })
    })
    await reflector.ready
  }

  close(): void {
    this.#closed.abort()
  }

  /** What is reserved for the creates of one definition's objects. */
  of(definition: string): Reserver {
    const key = servingKey(definition)
    return {
      reserve: async ({ live }) => (live === undefined ? this.#reserve(key) : { settle: nothingToDo, release: nothingToDo }),
      release: nothingToDo,
    }
  }

  async #reserve(key: string): Promise<Reservation> {
    const known = this.#doubtful.delete(key) ? undefined : this.#rows.get(key)
    const { row, revision } = known === undefined || known.row.isTerminating ? await this.#latest(key) : known
    if (row?.isTerminating === true) {
      throw failed(405, 'MethodNotAllowed', 'create not allowed while custom resource definition is terminating')
    }
    const release = async (): Promise<void> => void this.#doubtful.add(key)
    return { conditions: row === undefined ? [] : [{ key, revision }], settle: nothingToDo, release }
  }

  async #latest(key: string): Promise<{ readonly row: ServingRow | undefined; readonly revision: number }> {
    const { entry } = await this.#options.storage.get({ key, read: { kind: 'latest' } })
    return { row: decodeServingRow(entry), revision: entry?.revision ?? 0 }
  }
}
