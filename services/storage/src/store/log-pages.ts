import { at } from '@orch/core/json'
import { getOrMake } from '@orch/core/memo'
import type { Revision } from '@orch/core/meta'
import { limits } from '../limits.ts'
import { LogPage } from './log-page.ts'
import type { LogEntry, WrittenEntry } from './tables.ts'

/** Pages that decide the density. */
const densityPages = 64

/**
 * The entries of a log in memory, in pages of bytes. The newest pages are plain, so that a server with few writes never packs one.
 *
 *   append   [packed] [packed] [plain] [plain] [plain, open]
 *   fork     both logs share all pages, and each begins a new page at its next entry
 */
export class LogPages {
  #pages: LogPage[]
  /** Values that replace those in pages, which other logs may share. */
  readonly #amended: Map<Revision, Uint8Array>
  /** True if no other log has the last page. */
  #isOpen = false
  /** Bytes in memory for each byte of an entry: an average of the pages that this log has packed last. */
  density = 1
  /** The unpacked bytes of pages that this turn of the event loop has read. */
  readonly #unpacked = new Map<LogPage, Buffer>()

  constructor(pages: LogPage[] = [], amended = new Map<Revision, Uint8Array>()) {
    this.#pages = pages
    this.#amended = amended
  }

  fork(): LogPages {
    this.#isOpen = false
    const fork = new LogPages(this.#pages.slice(), new Map(this.#amended))
    fork.density = this.density
    return fork
  }

  /** Bytes in memory. */
  get size(): number {
    return this.#pages.reduce((size, page) => size + page.size, 0)
  }

  /** Appends an entry. Entries of one key should share its string. */
  append(entry: LogEntry, key: string): void {
    const last = this.#isOpen ? this.#pages.at(-1) : undefined
    if (last?.append(entry, key) === true) return
    this.#packOld()
    // The first page of a log is small, because a fork may have few writes.
    const page = last === undefined ? new LogPage() : new LogPage(Buffer.allocUnsafeSlow(limits.logPageBytes))
    page.append(entry, key)
    this.#pages.push(page)
    this.#isOpen = true
  }

  get(revision: Revision): WrittenEntry | undefined {
    const page = this.#pages[this.#placeAfter(revision - 1)]
    const index = page?.indexAfter(revision - 1) ?? 0
    return page?.mark(index, 'revision') === revision ? new PagedEntry(this, page, index) : undefined
  }

  /** Entries above a revision, in order. The log must not change meanwhile. */
  *after(revision: Revision): Generator<WrittenEntry, void, undefined> {
    for (let place = this.#placeAfter(revision); place < this.#pages.length; place++) {
      const page = at(this.#pages, place)
      for (let index = page.indexAfter(revision); index < page.count; index++) yield new PagedEntry(this, page, index)
    }
  }

  /** Replaces the value of an entry. */
  amend(revision: Revision, value: Uint8Array): void {
    this.#amended.set(revision, value)
  }

  amendedValue(revision: Revision): Uint8Array | undefined {
    return this.#amended.get(revision)
  }

  /** Removes entries, and joins neighbouring pages that fit into one page. */
  remove(revisions: readonly Revision[]): void {
    const removed = new Map<LogPage, Set<number>>()
    for (const revision of revisions) {
      const page = this.#pages[this.#placeAfter(revision - 1)]
      const index = page?.indexAfter(revision - 1) ?? 0
      if (page?.mark(index, 'revision') !== revision) continue
      getOrMake(removed, page, () => new Set()).add(index)
      this.#amended.delete(revision)
    }
    if (removed.size === 0) return
    const kept = this.#pages.map((page) => without(page, removed.get(page)))
    this.#pages = joined(kept.filter(({ count }) => count > 0))
    this.#isOpen = false
  }

  /** The unpacked bytes of a page. */
  bytesOf(page: LogPage): Buffer {
    if (!page.isPacked) return page.unpacked()
    const known = this.#unpacked.get(page)
    if (known !== undefined) return known
    if (this.#unpacked.size >= limits.unpackedPagesMax) this.#unpacked.clear()
    if (this.#unpacked.size === 0) setImmediate(() => this.#unpacked.clear())
    const bytes = page.unpacked()
    this.#unpacked.set(page, bytes)
    return bytes
  }

  /** The place of the first page with an entry above a revision. */
  #placeAfter(revision: Revision): number {
    let [low, high] = [0, this.#pages.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (at(this.#pages, middle).last <= revision) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Packs all pages but the newest ones. */
  #packOld(): void {
    let plainBytes = 0
    for (let place = this.#pages.length - 1; place >= 0; place--) {
      const page = at(this.#pages, place)
      if (page.isPacked) break
      plainBytes += page.length
      if (plainBytes <= limits.plainLogBytesMax) continue
      page.pack()
      this.density += (page.size / page.length - this.density) / densityPages
    }
  }
}

/** An entry of a page, which is decoded where a member needs it. */
class PagedEntry implements WrittenEntry {
  readonly revision: Revision
  readonly previous: Revision
  readonly replaces: Revision
  readonly key: string
  readonly length: number
  readonly #pages: LogPages
  readonly #page: LogPage
  readonly #index: number
  #read: ReturnType<LogPage['noteOf']> | undefined

  constructor(pages: LogPages, page: LogPage, index: number) {
    const { revision, previous, replaces } = page.placeOf(index)
    this.revision = revision
    this.previous = previous
    this.replaces = replaces
    this.key = page.key(index)
    this.#pages = pages
    this.#page = page
    this.#index = index
    this.length = page.mark(index, 'length')
  }

  get value(): Uint8Array | undefined {
    return this.#pages.amendedValue(this.revision) ?? this.#page.valueOf(this.#index, this.#pages.bytesOf(this.#page))
  }

  get writeId(): string {
    return this.#note.writeId
  }

  get timeMs(): LogEntry['timeMs'] {
    return this.#note.timeMs
  }

  get origin(): LogEntry['origin'] {
    return this.#note.origin
  }

  get #note() {
    this.#read ??= this.#page.noteOf(this.#index, this.#pages.bytesOf(this.#page))
    return this.#read
  }
}

function without(page: LogPage, removed: ReadonlySet<number> | undefined): LogPage {
  if (removed === undefined) return page
  return page.keeping([...Array(page.count).keys()].filter((index) => !removed.has(index)))
}

/** The same entries in fewer pages: no two neighbours fit into one page, and half of a page's bytes are of its entries. */
function joined(pages: readonly LogPage[]): LogPage[] {
  const groups: LogPage[][] = []
  let length = Number.POSITIVE_INFINITY
  for (const page of pages) {
    length += page.length
    const group = groups.at(-1)
    if (group !== undefined && length <= limits.logPageBytes) group.push(page)
    else {
      groups.push([page])
      length = page.length
    }
  }
  return groups.map((group) => {
    const first = at(group, 0)
    if (group.length === 1 && !first.isThin) return first
    const page = new LogPage()
    for (const one of group) page.join(one)
    if (group.some(({ isPacked }) => isPacked)) page.pack()
    return page
  })
}
