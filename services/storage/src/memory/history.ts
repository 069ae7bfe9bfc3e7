import type { Change } from '@orch/core/contracts'
import type { Revision } from '@orch/core/meta'
import { limits } from '../limits.ts'
import { SortedTree } from './sorted-tree.ts'
import type { StoredObject } from './stored-object.ts'
import type { Tree } from './tree.ts'

/** One change as memory keeps it. */
export interface Happened {
  readonly change: Change
  readonly before: StoredObject | undefined
  readonly after: StoredObject | undefined
}

interface Kept extends Happened {
  /** The revision of the change. */
  readonly key: Revision
}

/** The memory of a change in addition to its objects. */
const overheadBytes = 400

/**
 * The last changes, oldest first, within a limit of bytes. It contains every change after its floor.
 *
 *   floor 4, changes 5 7 9      after(6) → 7 9      dropping the oldest: floor 5, changes 7 9
 */
export class History {
  #bytesMax: number
  #items: SortedTree<Kept, never, Revision>
  #bytes = 0
  #floor: Revision

  constructor(floor: Revision, bytesMax: number, items = SortedTree.create<Kept, never, Revision>()) {
    this.#floor = floor
    this.#bytesMax = bytesMax
    this.#items = items
  }

  /** A copy of the history, in constant time. */
  fork(): History {
    const fork = new History(this.#floor, this.#bytesMax, this.#items.fork())
    fork.#bytes = this.#bytes
    return fork
  }

  get floor(): Revision {
    return this.#floor
  }

  get bytes(): number {
    return this.#bytes
  }

  /** The bound from the next change on. */
  set bytesMax(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Adds a change, and drops the oldest ones that no longer fit. */
  push(happened: Happened): void {
    this.#items.set({ key: happened.change.revision, ...happened })
    this.#bytes += costOf(happened)
    while (this.#bytes > this.#bytesMax && this.#items.size > 0) this.#dropFirst()
  }

  /** Replaces the change with this revision if it is still known. */
  replace(happened: Happened): void {
    const { revision: key } = happened.change
    const replaced = this.#items.get(key)
    if (replaced === undefined) return
    this.#items.set({ key, ...happened })
    this.#bytes += costOf(happened) - costOf(replaced)
  }

  /** Removes changes up to a revision. */
  forget(upTo: Revision): void {
    if (this.after(upTo, 1).length === 0) {
      this.#items = SortedTree.create()
      this.#bytes = 0
    }
    while ((this.#items.at(0)?.key ?? Number.POSITIVE_INFINITY) <= upTo) this.#dropFirst()
    this.#floor = Math.max(this.#floor, upTo)
  }

  /** The changes after a revision, which must not be below the floor. */
  after(revision: Revision, limit: number): readonly Happened[] {
    const found: Happened[] = []
    for (const happened of this.#after(revision)) {
      if (found.length === limit) break
      found.push(happened)
    }
    return found
  }

  /** The key's object before its first change after the revision; 'unchanged' without such a change. */
  objectBefore(key: string, revision: Revision): StoredObject | undefined | 'unchanged' {
    for (const { change, before } of this.#after(revision)) if (change.key === key) return before
    return 'unchanged'
  }

  /** Undoes, in a tree of the current state, every change of a span of keys after a revision. */
  undo(tree: Tree, prefix: string, revision: Revision): void {
    for (const { change, before } of [...this.#after(revision)].reverse()) {
      if (!change.key.startsWith(prefix)) continue
      if (before === undefined) tree.delete(change.key)
      else tree.set(before)
    }
  }

  *#after(revision: Revision): Generator<Happened, void, undefined> {
    for (const { leaf, from, to } of this.#items.walk(revision + 1, Number.POSITIVE_INFINITY)) yield* leaf.items.slice(from, to)
  }

  #dropFirst(): void {
    const dropped = this.#items.at(0)
    if (dropped === undefined) return
    this.#items.delete(dropped.key)
    this.#floor = dropped.key
    this.#bytes -= costOf(dropped)
  }
}

function costOf({ change, before }: Happened): number {
  return overheadBytes + (before?.length ?? 0) + (change.after?.value.length ?? 0)
}

/**
 * Revisions of the last writes by write id: at most `max`, at least half as many. There are two maps, and the older one is dropped whole.
 * Deleting the oldest entry of one map for each write takes 13 µs, since its iterator first skips the entries deleted before.
 */
export class RecentWrites {
  readonly #half: number
  #newer = new Map<string, Revision>()
  #older = new Map<string, Revision>()

  constructor(max: number) {
    this.#half = Math.ceil(max / 2)
  }

  remember(writeId: string, revision: Revision): void {
    this.#newer.set(writeId, revision)
    if (this.#newer.size < this.#half) return
    this.#older = this.#newer
    this.#newer = new Map()
  }

  revisionOf(writeId: string): Revision | undefined {
    return this.#newer.get(writeId) ?? this.#older.get(writeId)
  }

  clear(): void {
    this.#newer.clear()
    this.#older = new Map()
  }
}

/** A part of the past: the objects superseded after the previous part, up to a revision. */
interface PastPart {
  upTo: Revision
  bytes: number
}

/** A part has this share of the limit, before compression. The server asks for the density at each part, and forgets one part at a time. */
const partOfPast = 1 / 16

interface PastBudgetOptions {
  readonly bytesMax: number
  /** Bytes in memory for each byte of a superseded object. */
  readonly density: () => number
  /** Receives the revision up to which the past must be forgotten. */
  readonly onFull: (upTo: Revision) => void
}

/**
 * Limits the bytes of superseded objects in a store in memory. The past is counted in parts; when the limit is reached, the oldest part is forgotten.
 *
 *   room for 160   8 at 5, 8 at 6 → part up to 6 …   full at 90 → forget up to 6
 */
export class PastBudget {
  readonly #options: PastBudgetOptions
  /** Oldest first. */
  #parts: PastPart[] = []
  #bytes = 0
  /** The limit in bytes of superseded objects, by the density when the newest part began. */
  #bytesMax = 0

  constructor(options: PastBudgetOptions) {
    this.#options = options
  }

  /** Counts an object that a change at this revision has superseded. */
  readonly count = ({ length }: Pick<StoredObject, 'length'>, revision: Revision): void => {
    const { bytesMax, density, onFull } = this.#options
    const bytes = length + limits.pastOverheadBytes
    this.#bytes += bytes
    const last = this.#parts.at(-1)
    if (last === undefined || last.bytes >= bytesMax * partOfPast) {
      this.#bytesMax = bytesMax / density()
      this.#parts.push({ upTo: revision, bytes })
    } else {
      last.upTo = revision
      last.bytes += bytes
    }
    let forgotten: Revision | undefined
    while (this.#bytes > this.#bytesMax) {
      const oldest = this.#parts.shift()
      if (oldest === undefined) break
      this.#bytes -= oldest.bytes
      forgotten = oldest.upTo
    }
    if (forgotten !== undefined) onFull(forgotten)
  }
}
