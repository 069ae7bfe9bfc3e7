import { objectKey } from '@orch/core/contracts'
import { type NamesRow, namesPrefix, type ServingRow, servingKey, settleStatus, specOf, statusOf, takenNames } from '@orch/core/definitions'
import { type ApiObject, conflict, printTime, toInstant } from '@orch/core/meta'
import { readBytesOfOurs } from '../conversion/convert.ts'
import type { Draws } from '../request/draws.ts'
import type { Surroundings } from '../surroundings.ts'
import type { Served, ServedResources } from '../target/target.ts'
import type { ChangeDraft, Condition, Draft, Reservation } from '../write/draft.ts'
import { KeyedMutex, type Release } from '../write/keyed-mutex.ts'
import { ownersOfStatus, setOwners } from '../write/ownership.ts'
import { inOrder } from '../write/prepare.ts'
import type { Reserver } from '../write/reservation.ts'
import { Sweep } from '../write/sweep.ts'
import { DefinitionRows, type Found } from './definition-rows.ts'

/** The dependencies of managing names of definitions. */
export interface DefinitionKeeperOptions extends Pick<Surroundings, 'storage' | 'clock' | 'log' | 'random' | 'names' | 'level'> {
  readonly writeId: Draws['writeId']
  /** Finds the versions in which managers have written. */
  readonly served: Pick<ServedResources, 'find'>
  /** Storage prefix of definitions. */
  readonly prefix: string
}

/** Age after which a row without a definition is repaired, and the delay of checks after a change. */
const orphanMs = 5_000
const sweepDelayMs = 2_000
/** Maximum time that a write of a group delays the others. Rows keep the writes apart; the delay avoids conflicts. */
const turnMs = 3_000
/** Maximum wait for earlier writes of a group. Writes that do not wait make each other stale, and none of a crowd may succeed. */
const waitMs = 30_000
const attemptsMax = 20

const nothingToDo = async (): Promise<void> => {}

/**
 * Settles names and conditions of definitions in their own write. A definition needs two additional commits, since one commit changes one key: its names
 * are put into the row of its group, and its serving state into a separate row. Then the definition is committed on condition that both rows are
 * unchanged. A row whose write was interrupted is repaired by any gateway.
 */
export class DefinitionKeeper implements Reserver {
  readonly #options: DefinitionKeeperOptions
  readonly #rows: DefinitionRows
  readonly #mutex = new KeyedMutex()
  readonly #sweep: Sweep
  /** Time at which a write was first seen, by group, definition and id. */
  #pending = new Map<string, number>()

  constructor(options: DefinitionKeeperOptions) {
    this.#options = options
    this.#rows = new DefinitionRows(options.storage, options.writeId)
    this.#sweep = new Sweep({
      ...options,
      resources: [namesPrefix],
      delayMs: sweepDelayMs,
      sweep: () => this.#sweepOnce(),
      problem: 'names of definitions could not be swept',
    })
  }

  async reserve({ object, live, write: { target, options } }: Draft): Promise<Reservation> {
    if (options.isDryRun || object.metadata.deletionTimestamp != null) return nothing
    const { group = '' } = specOf({ ...object })
    return this.#whileLocked(group, target.served, nameOf(object), async () => {
      const found = await this.#rows.names(group)
      return this.#hold(this.#settled(object, live?.object, found.row, target.served), group, found)
    })
  }

  async reserveMark({ object, live, write: { target, options } }: ChangeDraft): Promise<Reservation> {
    if (options.isDryRun || live.object.metadata.deletionTimestamp != null) return nothing
    const { group = '' } = specOf({ ...object })
    return this.#whileLocked(group, target.served, nameOf(object), async () => this.#hold(object, group, await this.#rows.names(group)))
  }

  async release(object: ApiObject): Promise<void> {
    const { group = '' } = specOf({ ...object })
    await this.#orLater(group, async () => {
      const { row } = await this.#rows.names(group)
      const held = row.definitions[nameOf(object)]
      if (held?.uid === object.metadata.uid) await this.#tidy(group, nameOf(object), held?.pending)
    })
  }

  close(): void {
    this.#sweep.close()
  }

  /** Writes of one group are serialized within one gateway. */
  async #whileLocked(group: string, served: Served, name: string, reserve: () => Promise<Holding | undefined>): Promise<Reservation> {
    const end = await this.#lockGroup(group)
    try {
      for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
        const holding = await reserve()
        if (holding !== undefined) return this.#reservation(group, name, holding, end)
      }
    } catch (error) {
      end()
      throw error
    }
    end()
    throw conflict(served.name, name)
  }

  #reservation(group: string, name: string, { object, conditions, pending, isRenamed }: Holding, end: Release): Reservation {
    const tidy = () => (pending === undefined ? nothingToDo() : this.#orLater(group, () => this.#tidy(group, name, pending)))
    return {
      object,
      conditions,
      settle: async () => {
        end()
        if (isRenamed) await tidy()
      },
      release: async () => {
        end()
        await tidy()
      },
    }
  }

  async #lockGroup(group: string): Promise<Release> {
    const late = Promise.withResolvers<void>()
    const timer = this.#options.clock.after(waitMs, () => late.resolve())
    const end = await this.#mutex.take(group, late.promise)
    timer.cancel()
    if (end === undefined) return () => {}
    const last = this.#options.clock.after(turnMs, end)
    return () => {
      last.cancel()
      end()
    }
  }

  #settled(object: ApiObject, live: ApiObject | undefined, row: NamesRow, served: Served): ApiObject {
    const { clock, names, level } = this.#options
    const name = nameOf(object)
    const others = Object.entries(row.definitions).flatMap(([other, held]) => (other === name ? [] : [held.names, held.former ?? {}]))
    // Names are accepted here, and not by writers of the status.
    const given = { ...object, status: { ...statusOf({ ...object }), acceptedNames: statusOf({ ...live }).acceptedNames ?? {} } }
    const now = printTime(toInstant(clock.now()))
    const status = settleStatus(given, { taken: takenNames(others), names, now, level })
    if (status === given.status) return inOrder(served.resource, given)
    const settled = inOrder(served.resource, { ...given, status, metadata: { ...object.metadata } })
    // Versions may be large, and do not change here.
    const states = { before: withoutSpec(object), after: withoutSpec(settled) }
    setOwners(settled, ownersOfStatus(served, { ...states, manager: names.serverManager }, this.#options))
    return settled
  }

  /** Writes the rows for a future definition; undefined if another write was faster. */
  async #hold(object: ApiObject, group: string, found: Found<NamesRow>): Promise<Holding | undefined> {
    const [name, uid] = [nameOf(object), object.metadata.uid ?? '']
    const names = statusOf({ ...object }).acceptedNames ?? {}
    const before = found.row.definitions[name]
    const served = servingOf(object)
    const serving = await this.#rows.serving(name)
    const isServed = isSame(serving.row, served)
    const isOwn = before?.uid === uid
    if (isOwn && isServed && isSame(before.names, names)) return { object, conditions: [], pending: undefined, isRenamed: false }
    const pending = this.#options.writeId()
    const isRenamed = isOwn && !isSame(before.names, names)
    const held = { uid, names, ...(isRenamed && { former: before.names }), pending }
    const ofNames = await this.#rows.writeNames(group, { definitions: { ...found.row.definitions, [name]: held } }, found.revision)
    if (ofNames === undefined) return undefined
    const ofServing = isServed
      ? { key: servingKey(name), revision: serving.revision }
      : await this.#rows.writeServing(name, served, serving.revision)
    return ofServing && { object, conditions: [ofNames, ofServing], pending, isRenamed }
  }

  /** Writes the rows for the current definition, unless another write of it has intervened. */
  async #tidy(group: string, name: string, pending: string | undefined): Promise<void> {
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const found = await this.#rows.names(group)
      const held = found.row.definitions[name]
      if (held === undefined || held.pending !== pending) return
      const serving = await this.#rows.serving(name)
      const { definition, condition } = await this.#read(name)
      const { [name]: _held, ...others } = found.row.definitions
      const isGoing = definition?.metadata.deletionTimestamp != null
      const names = statusOf({ ...definition }).acceptedNames ?? {}
      const own = definition === undefined ? {} : { [name]: { uid: definition.metadata.uid ?? '', names, ...(isGoing && { pending }) } }
      const wanted = definition === undefined ? undefined : servingOf(definition)
      if (!isSame(serving.row, wanted) && !(await this.#rows.writeServing(name, wanted, serving.revision, [condition]))) continue
      const row: NamesRow = { definitions: { ...others, ...own } }
      if (isSame(row, found.row) || (await this.#rows.writeNames(group, row, found.revision, [condition])) !== undefined) return
    }
  }

  /** Under the lock of the group: a sweep of hundreds of definitions would make each commit of the group stale. */
  async #tidyLocked(group: string, name: string, pending: string): Promise<void> {
    const end = await this.#lockGroup(group)
    try {
      await this.#tidy(group, name, pending)
    } finally {
      end()
    }
  }

  /** The present definition, and the condition that it is unchanged. */
  async #read(name: string): Promise<{ readonly definition: ApiObject | undefined; readonly condition: Condition }> {
    const { prefix, storage } = this.#options
    const key = objectKey(prefix, undefined, name)
    const { entry } = await storage.get({ key, read: { kind: 'latest' } })
    const definition = entry === undefined ? undefined : readBytesOfOurs(entry.value).object
    return { definition, condition: { key, revision: entry?.revision ?? 0 } }
  }

  /** A sweep repeats failed repairs. */
  async #orLater(group: string, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#options.log.warn({ err: error, group }, 'names of definitions could not be released')
    }
  }

  /** True if writes seem to be in progress. */
  async #sweepOnce(): Promise<boolean> {
    const now = this.#options.clock.monotonic()
    const seen = new Map<string, number>()
    const rows = await this.#rows.pendingNames()
    for (const { group, row } of rows) {
      for (const [name, { pending }] of Object.entries(row.definitions)) {
        if (pending === undefined) continue
        const key = `${group} ${name} ${pending}`
        const since = this.#pending.get(key) ?? now
        seen.set(key, since)
        if (now - since >= orphanMs) await this.#tidyLocked(group, name, pending)
      }
    }
    this.#pending = seen
    return seen.size > 0
  }
}

interface Holding {
  readonly object: ApiObject
  readonly conditions: readonly Condition[]
  /** Id of the write in the rows; undefined if they are unchanged. */
  readonly pending: string | undefined
  readonly isRenamed: boolean
}

const nothing: Reservation = { settle: nothingToDo, release: nothingToDo }

function nameOf({ metadata }: ApiObject): string {
  return metadata.name ?? ''
}

function withoutSpec({ spec: _spec, ...rest }: ApiObject): ApiObject {
  return rest
}

function servingOf(definition: ApiObject): ServingRow {
  const { scope = '', versions } = specOf({ ...definition })
  return {
    uid: definition.metadata.uid ?? '',
    storageVersion: versions?.find(({ storage }) => storage === true)?.name ?? '',
    scope,
    isTerminating: definition.metadata.deletionTimestamp != null,
  }
}

function isSame(left: unknown, right: unknown): boolean {
  return JSON.stringify(sorted(left)) === JSON.stringify(sorted(right))
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sorted)
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, sorted(member)]),
  )
}
