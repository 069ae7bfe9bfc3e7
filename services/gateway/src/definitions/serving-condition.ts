import type { Resource } from '@orch/core/catalogue'
import { objectKey, type StorageService } from '@orch/core/contracts'
import { decodeServingRow, type ServingRow, servingKey, servingPrefix } from '@orch/core/definitions'
import { failed, serviceUnavailable } from '@orch/core/meta'
import { type Clock, type Log, Reflector } from '@orch/platform'
import { readBytesOfOurs } from '../convert.ts'
import type { Condition, Draft, Reservation } from '../write/draft.ts'
import type { Reserver } from '../write/reservation.ts'

/** What following the rows needs. */
export interface ServingConditionOptions {
  readonly storage: StorageService
  readonly clock: Clock
  readonly log: Log
  /** A number in [0, 1). */
  readonly random: () => number
  /** Storage prefix of definitions. */
  readonly definitionPrefix: string
  /** What this gateway knows of them. */
  readonly definitions: { uidOf(name: string): string | undefined; lookUp(name: string): Promise<void> }
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
export class ServingConditions implements Reserver {
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

  async reserve({ live, write: { target } }: Draft): Promise<Reservation> {
    if (live !== undefined) return { settle: nothingToDo, release: nothingToDo }
    const { resource } = target.served
    const definition = `${resource.plural}.${resource.group}`
    const key = servingKey(definition)
    const known = this.#doubtful.delete(key) ? undefined : this.#rows.get(key)
    const { row, revision } = known === undefined || !this.#isUsable(known.row, definition, resource) ? await this.#latest(key) : known
    const conditions = row === undefined ? [await this.#definitionAsItIs(definition)] : [{ key, revision }]
    if (row?.isTerminating === true) throw terminating()
    if (row !== undefined && !this.#isUsable(row, definition, resource)) await this.#refuseOutdated(definition)
    const release = async (): Promise<void> => void this.#doubtful.add(key)
    return { conditions, settle: nothingToDo, release }
  }

  async release(): Promise<void> {}

  /** Whether objects may be created as this gateway knows their definition. */
  #isUsable({ uid, scope, storageVersion, isTerminating }: ServingRow, definition: string, { isNamespaced, stored }: Resource): boolean {
    const isSameResource = storageVersion === stored.version && scope === (isNamespaced ? 'Namespaced' : 'Cluster')
    return !isTerminating && isSameResource && uid === this.#options.definitions.uidOf(definition)
  }

  /** The gateway has not seen yet what has become of the definition: the client's next attempt meets it. */
  async #refuseOutdated(definition: string): Promise<never> {
    await this.#options.definitions.lookUp(definition)
    throw serviceUnavailable(`the definition ${definition} has been changed; try again`, { retryAfterSeconds: 1 })
  }

  /** A definition without a row, as of data from elsewhere: objects are created as long as it is what it is now. */
  async #definitionAsItIs(definition: string): Promise<Condition> {
    const key = objectKey(this.#options.definitionPrefix, undefined, definition)
    const { entry } = await this.#options.storage.get({ key, read: { kind: 'latest' } })
    if (entry === undefined) {
      await this.#options.definitions.lookUp(definition)
      throw failed(404, 'NotFound', 'the server could not find the requested resource', { details: {} })
    }
    if (readBytesOfOurs(entry.value).object.metadata.deletionTimestamp != null) throw terminating()
    return { key, revision: entry.revision }
  }

  async #latest(key: string): Promise<{ readonly row: ServingRow | undefined; readonly revision: number }> {
    const { entry } = await this.#options.storage.get({ key, read: { kind: 'latest' } })
    return { row: decodeServingRow(entry), revision: entry?.revision ?? 0 }
  }
}

function terminating(): Error {
  return failed(405, 'MethodNotAllowed', 'create not allowed while custom resource definition is terminating')
}
