import type { Resource } from '@orch/core/catalogue'
import { objectKey, type StorageService } from '@orch/core/contracts'
import { decodeServingRow, type ServingRow, servingKey } from '@orch/core/definitions'
import { failed, serviceUnavailable } from '@orch/core/meta'
import { readBytesOfOurs } from '../conversion/convert.ts'
import { definitionTerminates } from '../write/checks.ts'
import type { Condition, Draft, Reservation } from '../write/draft.ts'
import type { Reserver } from '../write/reservation.ts'

/** The dependencies of reading the rows. */
export interface ServingConditionOptions {
  readonly storage: StorageService
  /** Storage prefix of definitions. */
  readonly definitionPrefix: string
  /** This gateway's view of the definitions. */
  readonly definitions: { uidOf(name: string): string | undefined; lookUp(name: string): Promise<void> }
}

/** Maximum number of cached rows: far more than definitions in use. */
const rowsMax = 10_000

const nothingToDo = async (): Promise<void> => {}

/**
 * The precondition of creates of custom resources: their definition is served unchanged, and is not being deleted. A row is read at the first create of
 * a kind and cached from then on; after a failed commit the next create reads it again. A dry run, which no commit checks, always reads it.
 */
export class ServingConditions implements Reserver {
  readonly #options: ServingConditionOptions
  /** Rows of definitions whose objects are created here. */
  readonly #rows = new Map<string, { readonly row: ServingRow; readonly revision: number }>()

  constructor(options: ServingConditionOptions) {
    this.#options = options
  }

  async reserve(draft: Draft): Promise<Reservation> {
    const { live, write } = draft
    const { target, options } = write
    if (live !== undefined) return { settle: nothingToDo, release: nothingToDo }
    const { resource } = target.served
    const refusal = () => definitionTerminates(draft)
    const definition = `${resource.plural}.${resource.group}`
    const key = servingKey(definition)
    const known = options.isDryRun ? undefined : this.#rows.get(key)
    const isKnown = known !== undefined && this.#isUsable(known.row, definition, resource)
    const { row, revision } = isKnown ? known : await this.#latest(key)
    const conditions = row === undefined ? [await this.#definitionAsItIs(definition, refusal)] : [{ key, revision }]
    if (row?.isTerminating === true) throw refusal()
    if (row !== undefined && !this.#isUsable(row, definition, resource)) await this.#refuseOutdated(definition)
    return { conditions, settle: nothingToDo, release: options.isDryRun ? nothingToDo : async () => void this.#rows.delete(key) }
  }

  async release(): Promise<void> {}

  /** True if objects may be created by this gateway's view of their definition. */
  #isUsable({ uid, scope, storageVersion, isTerminating }: ServingRow, definition: string, { isNamespaced, stored }: Resource): boolean {
    const isSameResource = storageVersion === stored.version && scope === (isNamespaced ? 'Namespaced' : 'Cluster')
    return !isTerminating && isSameResource && uid === this.#options.definitions.uidOf(definition)
  }

  /** This gateway has not received the definition's change yet: the client's next attempt succeeds. */
  async #refuseOutdated(definition: string): Promise<never> {
    await this.#options.definitions.lookUp(definition)
    throw serviceUnavailable(`the definition ${definition} has been changed; try again`, { retryAfterSeconds: 1 })
  }

  /** For a definition without a row (restored data), writes depend on its current revision. */
  async #definitionAsItIs(definition: string, refusal: () => Error): Promise<Condition> {
    const key = objectKey(this.#options.definitionPrefix, undefined, definition)
    const { entry } = await this.#options.storage.get({ key, read: { kind: 'latest' } })
    if (entry === undefined) {
      await this.#options.definitions.lookUp(definition)
      throw failed(404, 'NotFound', 'the server could not find the requested resource', { details: {} })
    }
    if (readBytesOfOurs(entry.value).object.metadata.deletionTimestamp != null) throw refusal()
    return { key, revision: entry.revision }
  }

  async #latest(key: string): Promise<{ readonly row: ServingRow | undefined; readonly revision: number }> {
    const { entry } = await this.#options.storage.get({ key, read: { kind: 'latest' } })
    const row = decodeServingRow(entry)
    if (row === undefined || entry === undefined) {
      this.#rows.delete(key)
      return { row: undefined, revision: 0 }
    }
    const known = { row, revision: entry.revision }
    // Removed definitions leave their rows.
    if (this.#rows.size >= rowsMax) this.#rows.clear()
    this.#rows.set(key, known)
    return known
  }
}
