import { trackUpdate } from '@orch/core/apply'
import { type Catalogue, type Resource, resourceCountedBy } from '@orch/core/catalogue'
import { type CommitOutcome, objectKey } from '@orch/core/contracts'
import { printTime, StatusError, serviceUnavailable, toInstant } from '@orch/core/meta'
import { type Amounts, parseAmounts, sameAmounts } from '@orch/core/quota'
import { encodeObject, encodeStoredObject } from '@orch/core/stored'
import type { Timer } from '@orch/platform'
import { limits } from '../limits.ts'
import type { PluginNeeds } from '../plugin.ts'
import { countUse } from './count.ts'
import {
  decodeLedger,
  type Ending,
  encodeLedger,
  type Ledger,
  type Reservation,
  recountIn,
  reserveIn,
  settleIn,
  totalOf,
} from './ledger.ts'
import { countedNames, decodeQuota, hardOf, type QuotaObject, type StoredQuota, usedOf } from './quota-object.ts'

/** Prefix of the keys of ledgers, which no request can address. */
export const ledgerPrefix = 'quota/reservations'

type Reserved = { readonly kind: 'reserved' } | { readonly kind: 'exceeded'; readonly message: string }

/** The result of a count, with the row of the ledger. */
interface Recounted {
  readonly used: Record<string, string>
  readonly ledger: { readonly key: string; readonly revision: number }
}

/** The usage of one quota, which other processes also reserve. */
export interface QuotaAccount {
  /** Reserves usage for a write. */
  reserve(wanted: Reservation): Promise<Reserved>
  /** Checks the usage of a dry run. */
  check(wanted: Reservation): Promise<Reserved>
  /** Ends the reservation of a write. Unused capacity is free when the promise resolves. */
  settle(ending: Ending): Promise<void>
  /** Counts again; the caller writes the usage into the quota. */
  recount(): Promise<Recounted>
  close(): void
}

export interface AccountNeeds extends Pick<PluginNeeds, 'storage' | 'catalogue' | 'clock' | 'log'> {
  /** Draws a write id. */
  readonly writeId: () => string
  /** The quota in memory; undefined after its deletion. */
  quota(): StoredQuota | undefined
}

/** A change of the ledger. It is computed again if another process has changed the ledger meanwhile. */
interface Task {
  /** True if it needs a separate count. */
  readonly counts: boolean
  /** True if it changes the usage. */
  readonly changesUse: boolean
  apply(ledger: Ledger, hasJustCounted: boolean): Ledger | 'count'
  finish(row: LedgerRow): void
  fail(error: unknown): void
}

interface LedgerRow {
  readonly ledger: Ledger
  /** 0 if it is not stored yet. */
  readonly revision: number
}

/** Tasks that arrive during a commit wait, and are then processed together in one commit. */
export function openQuotaAccount(needs: AccountNeeds): QuotaAccount {
  return new Account(needs)
}

class Account implements QuotaAccount {
  readonly #needs: AccountNeeds
  readonly #rows: LedgerRows
  #waiting: Task[] = []
  /** Ends that do not change the usage; they can wait for other tasks. */
  #unhurried: Task[] = []
  #timer: Timer | undefined
  #isBusy = false
  #isClosed = false

  constructor(needs: AccountNeeds) {
    this.#needs = needs
    this.#rows = new LedgerRows(needs)
  }

  reserve(wanted: Reservation): Promise<Reserved> {
    return this.#reserve(wanted, true)
  }

  check(wanted: Reservation): Promise<Reserved> {
    return this.#reserve(wanted, false)
  }

  settle(ending: Ending): Promise<void> {
    const isFreed = ending.revision === undefined
    return this.#add<void>(isFreed, (resolve) => ({
      counts: false,
      changesUse: isFreed,
      apply: (ledger) => settleIn(ledger, ending),
      finish: () => resolve(),
    }))
  }

  recount(): Promise<Recounted> {
    return this.#add<Recounted>(true, (resolve) => ({
      counts: true,
      changesUse: false,
      apply: (ledger) => ledger,
      finish: ({ ledger, revision }) => {
        const quota = this.#needs.quota()
        const used =
          quota === undefined ? {} : usedOf({ ...quota.object, status: { hard: quota.object.spec?.hard ?? {} } }, totalOf(ledger))
        resolve({ used, ledger: { key: this.#rows.key, revision } })
      },
    }))
  }

  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
    for (const task of [...this.#waiting, ...this.#unhurried]) task.fail(serviceUnavailable('admission is ending'))
    this.#waiting = []
    this.#unhurried = []
  }

  #reserve(wanted: Reservation, isKept: boolean): Promise<Reserved> {
    return this.#add<Reserved>(true, (resolve) => {
      let result: Reserved = { kind: 'reserved' }
      return {
        counts: false,
        changesUse: true,
        apply: (ledger, hasJustCounted) => {
          const quota = this.#needs.quota()
          if (quota === undefined) return ledger
          const outcome = reserveIn(ledger, wanted, { name: quota.object.metadata.name ?? '', hard: hardOf(quota.object) })
          result = outcome.kind === 'reserved' ? { kind: 'reserved' } : outcome
          if (outcome.kind === 'reserved') return isKept ? outcome.ledger : ledger
          // Memory may be outdated, as objects may have been deleted.
          return hasJustCounted ? ledger : 'count'
        },
        finish: () => resolve(result),
      }
    })
  }

  #add<T>(isHurried: boolean, make: (resolve: (value: T) => void) => Omit<Task, 'fail'>): Promise<T> {
    if (this.#isClosed) return Promise.reject(serviceUnavailable('admission is ending'))
    return new Promise<T>((resolve, reject) => {
      const task: Task = { ...make(resolve), fail: reject }
      if (isHurried) {
        this.#waiting.push(task)
        this.#start()
      } else {
        this.#unhurried.push(task)
        this.#timer ??= this.#needs.clock.after(limits.quotaEndingsDelayMs, () => {
          this.#timer = undefined
          this.#start()
        })
      }
    })
  }

  #start(): void {
    if (this.#isBusy || this.#isClosed) return
    this.#timer?.cancel()
    this.#timer = undefined
    const tasks = [...this.#unhurried.splice(0), ...this.#waiting.splice(0, limits.quotaTasksMax)]
    if (tasks.length === 0) return
    this.#isBusy = true
    this.#rows
      .change(tasks)
      .then(
        (row) => {
          for (const task of tasks) task.finish(row)
        },
        (error) => {
          for (const task of tasks) task.fail(error)
        },
      )
      .finally(() => {
        this.#isBusy = false
        // Endings may have become due meanwhile.
        const isDue = this.#unhurried.length > 0 && this.#timer === undefined
        if (this.#waiting.length > 0 || isDue) this.#start()
      })
  }
}

/** The row of a ledger, changed only at its read revision and copied to the quota's status. */
class LedgerRows {
  readonly key: string
  readonly #needs: AccountNeeds
  readonly #place: { readonly namespace: string; readonly name: string }
  #known: LedgerRow | undefined
  #countedMs = Number.NEGATIVE_INFINITY
  #quota: StoredQuota | undefined

  constructor(needs: AccountNeeds) {
    const { namespace = '', name = '' } = needs.quota()?.object.metadata ?? {}
    this.#needs = needs
    this.#place = { namespace, name }
    this.key = objectKey(ledgerPrefix, namespace, name)
  }

  /** Processes the tasks in one commit. If another process commits first, all are processed again with its result. */
  async change(tasks: readonly Task[]): Promise<LedgerRow> {
    let mayHaveWritten = false
    for (let attempt = 0; attempt < limits.quotaAttemptsMax; attempt++) {
      const quota = this.#needs.quota()
      const { row, next } = await this.#apply(tasks, quota)
      const written = next === row.ledger ? row : await this.#commit(next, row.revision)
      if (written === undefined) {
        mayHaveWritten = true
        continue
      }
      if (written === row && !mayHaveWritten) return row
      // The caller of a count writes the status itself, including any ends in the commit.
      const isShownByCaller = tasks.some(({ counts }) => counts) && tasks.every(({ changesUse }) => !changesUse)
      if (quota !== undefined && !isShownByCaller) await this.#show(written)
      return written
    }
    throw serviceUnavailable(`the use of quota ${this.#place.namespace}/${this.#place.name} is changed by too many at once`)
  }

  async #read(quota: StoredQuota | undefined): Promise<LedgerRow> {
    const { entry } = await this.#needs.storage.get({ key: this.key, read: { kind: 'latest' } })
    const quotaUid = quota?.object.metadata.uid ?? ''
    if (entry === undefined) return { ledger: { quotaUid, countedAt: 0, counted: {}, reservations: [] }, revision: 0 }
    const ledger = decodeLedger(entry)
    if (quota === undefined || ledger.quotaUid === quotaUid) return { ledger, revision: entry.revision }
    return { ledger: { quotaUid, countedAt: 0, counted: {}, reservations: [] }, revision: entry.revision }
  }

  /** Memory is sufficient for an approval; before a refusal, and before a count, the row is read. */
  async #apply(tasks: readonly Task[], quota: StoredQuota | undefined): Promise<{ row: LedgerRow; next: Ledger }> {
    // Another quota of the same name may have replaced the cached one.
    const isKnown = this.#known?.ledger.quotaUid === quota?.object.metadata.uid
    const row = this.#known !== undefined && isKnown ? this.#known : await this.#read(quota)
    if (quota === undefined) return { row, next: row.ledger }
    const mustCount = tasks.some(({ counts }) => counts) || this.#isUncounted(row.ledger, quota.object)
    const next = mustCount ? 'count' : applyAll(tasks, row.ledger, false)
    if (next !== 'count') return { row, next }
    const latest = row === this.#known ? await this.#read(quota) : row
    const isCounted = mustCount || this.#mayCountAgain()
    const ledger = isCounted ? await this.#count(latest.ledger, quota.object) : latest.ledger
    const settled = applyAll(tasks, ledger, true)
    if (settled === 'count') throw new Error('a quota that has just been counted was to be counted again')
    return { row: latest, next: settled }
  }

  /** An uncountable resource is in no count. */
  #isUncounted({ countedAt, counted }: Ledger, quota: QuotaObject): boolean {
    if (countedAt === 0) return true
    const { names } = this.#needs.catalogue
    return [...countedNames(quota)].some((name) => counted[name] === undefined && resourceCountedBy(names, name) !== undefined)
  }

  /** Counting is expensive, so refused writes do not count repeatedly. */
  #mayCountAgain(): boolean {
    return this.#needs.clock.monotonic() - this.#countedMs > limits.quotaCountIntervalMs
  }

  async #count(ledger: Ledger, quota: QuotaObject): Promise<Ledger> {
    const { storage, catalogue, clock } = this.#needs
    const keys = new Set(ledger.reservations.map(({ key }) => key))
    const count = await countUse(quota, keys, { storage, catalogue, nowMs: clock.now() })
    this.#countedMs = clock.monotonic()
    const recounted = recountIn(ledger, count)
    return isSameUse(ledger, recounted) ? ledger : recounted
  }

  async #commit(ledger: Ledger, expected: number): Promise<LedgerRow | undefined> {
    const writeId = this.#needs.writeId()
    const value = encodeLedger(ledger, this.#place, writeId)
    this.#known = undefined
    const outcome = await commitOrUnknown(this.#needs.storage.commit({ key: this.key, expected, conditions: [], value, writeId }))
    if (outcome?.kind !== 'written') return undefined
    this.#known = { ledger, revision: outcome.revision }
    return this.#known
  }

  /** Writes the usage into the quota's status. If another process changes the ledger first, that process writes the status. */
  async #show({ ledger, revision }: LedgerRow): Promise<void> {
    const total = totalOf(ledger)
    for (let attempt = 0; attempt < limits.quotaAttemptsMax; attempt++) {
      const quota = await this.#latestQuota(attempt)
      if (quota === undefined || isShown(quota.object, total)) return
      const object = this.#withStatus(quota.object, total)
      const outcome = await this.#commitStatus({ ...quota, object }, { key: this.key, revision })
      if (outcome?.kind === 'written') this.#quota = { ...quota, revision: outcome.revision, object }
      else this.#quota = undefined
      if (outcome?.kind === 'written' || outcome?.kind === 'unmet') return
    }
  }

  /** Memory may be older than the last write of this process, and of others. */
  async #latestQuota(attempt: number): Promise<StoredQuota | undefined> {
    const known = this.#needs.quota()
    if (known === undefined) return undefined
    if (attempt === 0) return this.#quota !== undefined && this.#quota.revision > known.revision ? this.#quota : known
    const { entry } = await this.#needs.storage.get({ key: known.key, read: { kind: 'latest' } })
    return entry === undefined ? undefined : decodeQuota(entry)
  }

  /** The status is written without the gateway, so its owners are recorded here. */
  #withStatus(before: QuotaObject, total: Amounts): QuotaObject {
    const { catalogue, clock } = this.#needs
    const { readers, apiVersion } = quotaResource(catalogue)
    const after = { ...before, status: { hard: before.status?.hard ?? before.spec?.hard ?? {}, used: usedOf(before, total) } }
    const managedFields = trackUpdate({
      before,
      after,
      manager: catalogue.names.serverManager,
      apiVersion,
      subresource: 'status',
      now: printTime(toInstant(clock.now())),
      schema: readers.shape,
    })
    return managedFields.length === 0 ? after : { ...after, metadata: { ...after.metadata, managedFields } }
  }

  #commitStatus(quota: StoredQuota, ledger: { key: string; revision: number }): Promise<CommitOutcome | undefined> {
    const { storage, catalogue } = this.#needs
    const { stored } = quotaResource(catalogue)
    const { resourceVersion: _resourceVersion, ...metadata } = quota.object.metadata
    const object = { ...quota.object, metadata }
    const writeId = this.#needs.writeId()
    const value = encodeStoredObject({ stored, object, encoded: encodeObject(object), writeId, expiresAtMs: 0 })
    return commitOrUnknown(storage.commit({ key: quota.key, expected: quota.revision, conditions: [ledger], value, writeId }))
  }
}

function quotaResource({ find }: Catalogue): Resource {
  const resource = find('', 'v1', 'resourcequotas')
  if (resource === undefined) throw new Error('the catalogue has no resourcequotas')
  return resource
}

function applyAll(tasks: readonly Task[], first: Ledger, hasJustCounted: boolean): Ledger | 'count' {
  let ledger = first
  for (const task of tasks) {
    const next = task.apply(ledger, hasJustCounted)
    if (next === 'count') return next
    ledger = next
  }
  return ledger
}

/** With an open reservation, the revision of the count matters. */
function isSameUse(before: Ledger, after: Ledger): boolean {
  if (before.countedAt === 0 || before.reservations.length > 0) return false
  return sameAmounts(parseAmounts(before.counted), parseAmounts(after.counted))
}

function isShown(quota: QuotaObject, total: Amounts): boolean {
  return quota.status?.hard !== undefined && sameAmounts(parseAmounts(quota.status.used), parseAmounts(usedOf(quota, total)))
}

/** Undefined for an unknown outcome, which the row itself shows. */
async function commitOrUnknown(committing: Promise<CommitOutcome>): Promise<CommitOutcome | undefined> {
  try {
    return await committing
  } catch (error) {
    if (error instanceof StatusError && error.code !== 504) throw error
    return undefined
  }
}
