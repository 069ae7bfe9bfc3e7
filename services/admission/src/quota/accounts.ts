import { type AdmissionRuleSource, listEntries, objectKey } from '@orch/core/contracts'
import { getOrMake } from '@orch/core/memo'
import { serviceUnavailable } from '@orch/core/meta'
import { ended, Reflector } from '@orch/platform'
import { limits } from '../limits.ts'
import type { PluginNeeds } from '../plugin.ts'
import { ledgerPrefix, openQuotaAccount, type QuotaAccount } from './account.ts'
import { decodeQuota, type StoredQuota } from './quota-object.ts'

/** Prefix of the keys of quotas. */
const quotaPrefix = 'core/resourcequotas'

/** All quotas, and the accounts of the used ones. */
export class QuotaAccounts {
  readonly #needs: PluginNeeds
  readonly #writeId: () => string
  readonly #closed = new AbortController()
  readonly #reflector: Reflector<StoredQuota>
  readonly #keysByNamespace = new Map<string, Set<string>>()
  readonly #accounts = new Map<string, QuotaAccount>()
  #onChange: () => void = () => {}
  #isLoaded = false

  constructor(needs: PluginNeeds) {
    const { storage, chance, clock, log, random } = needs
    this.#needs = needs
    this.#writeId = chance.stream('write id').uuid
    const decode = (value: Uint8Array, key: string) => decodeQuota({ key, value })
    this.#reflector = new Reflector({ storage, clock, log, random, resource: quotaPrefix, decode, signal: this.#closed.signal })
    this.#reflector.ready.then(
      () => {
        this.#isLoaded = true
        this.#onChange()
      },
      () => undefined,
    )
    this.#reflector.onChange(({ key, before, after }) => this.#noted(key, before, after))
  }

  get sources(): readonly AdmissionRuleSource[] {
    return [{ resource: quotaPrefix, revision: this.#reflector.revision }]
  }

  /** Namespaces with a quota; undefined before the first load. */
  get namespaces(): readonly string[] | undefined {
    return this.#isLoaded ? [...this.#keysByNamespace.keys()] : undefined
  }

  /** Listeners for changed quotas. */
  onChange(listener: () => void): void {
    this.#onChange = listener
  }

  /** The quotas of a namespace, by name. */
  in(namespace: string): StoredQuota[] {
    const keys = [...(this.#keysByNamespace.get(namespace) ?? [])].sort()
    return keys.map((key) => this.#reflector.get(key)).filter((quota) => quota !== undefined)
  }

  /** The quotas of a namespace, for callers that must not miss one because memory is outdated. */
  async surelyIn(namespace: string): Promise<StoredQuota[]> {
    if (!this.#isLoaded) await this.#reflector.ready
    const known = this.in(namespace)
    if (known.length > 0) return known
    const keys = await this.#storedIn(namespace)
    const missing = keys.filter((key) => this.#reflector.get(key) === undefined)
    if (missing.length > 0) await this.#arrival(missing)
    return this.in(namespace)
  }

  async #storedIn(namespace: string): Promise<string[]> {
    const scope = { resource: quotaPrefix, namespace }
    const keys: string[] = []
    for await (const page of listEntries(this.#needs.storage, scope)) keys.push(...page.map(({ key }) => key))
    return keys
  }

  /** Resolves when all of these quotas are in memory. */
  async #arrival(keys: readonly string[]): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const forget = this.#reflector.onChange(() => {
      if (keys.every((key) => this.#reflector.get(key) !== undefined)) resolve()
    })
    const late = () => reject(serviceUnavailable('the quotas of the namespace are not known yet'))
    const timer = this.#needs.clock.after(limits.quotaArrivalMs, late)
    await promise.finally(() => {
      forget()
      timer.cancel()
    })
  }

  /** The account of an existing quota. */
  account(key: string): QuotaAccount {
    const { storage, catalogue, clock, log } = this.#needs
    return getOrMake(this.#accounts, key, () =>
      openQuotaAccount({ storage, catalogue, clock, writeId: this.#writeId, log, quota: () => this.#reflector.get(key) }),
    )
  }

  close(): void {
    this.#closed.abort(ended)
    for (const account of this.#accounts.values()) account.close()
  }

  #noted(key: string, before: StoredQuota | undefined, after: StoredQuota | undefined): void {
    const isSame = before?.object.metadata.uid === after?.object.metadata.uid
    if (before !== undefined && !isSame) this.#forget(key, before)
    if (!isSame) this.#place(key, after ?? before, after !== undefined)
    // Also if the namespaces are unchanged: gateways wait for the news that a change has been seen.
    this.#onChange()
  }

  #place(key: string, quota: StoredQuota | undefined, isThere: boolean): void {
    const namespace = quota?.object.metadata.namespace ?? ''
    const keys = this.#keysByNamespace.get(namespace) ?? new Set()
    if (isThere) keys.add(key)
    else keys.delete(key)
    if (keys.size === 0) this.#keysByNamespace.delete(namespace)
    else this.#keysByNamespace.set(namespace, keys)
  }

  /** Deletes a quota's account, and its stored row. */
  #forget(key: string, { object: { metadata } }: StoredQuota): void {
    const { storage, log } = this.#needs
    const writeId = this.#writeId
    // A task in progress finds no limit, or that of a new quota with the same name.
    this.#accounts.delete(key)
    const row = objectKey(ledgerPrefix, metadata.namespace, metadata.name ?? '')
    const remove = async () => {
      const { entry } = await storage.get({ key: row, read: { kind: 'latest' } })
      // A quota of the same name may already exist, with a separate ledger.
      if (entry === undefined || this.#reflector.get(key) !== undefined) return
      await storage.commit({ key: row, expected: entry.revision, conditions: [], writeId: writeId() })
    }
    remove().catch((error) => log.debug({ err: error, key: row }, 'the ledger of a deleted quota could not be removed'))
  }
}
