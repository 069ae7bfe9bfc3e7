import { limits } from '../limits.ts'
import type { DataFile } from './data-file.ts'
import { type FileShape, pagesNeeded, type TreeSize } from './room.ts'
import { type Batch, NoRoomError } from './tables.ts'

/** The present data file. */
export interface MeasuredFile extends FileShape {
  /** The pages from the start of the file to the last page in use. */
  readonly usedPages: number
}

/** The dependencies of a reserve. */
export interface ReserveOptions {
  readonly file: Pick<DataFile, 'bytes' | 'extend'>
  /** Asks LMDB. */
  readonly measure: () => MeasuredFile
  /** The reason why the file could not be extended. */
  readonly explain: (cause: unknown) => string
}

/**
 * Ensures that a transaction finds its pages in the file, after those in use, before it begins: LMDB corrupts the
 * memory of its process when a write to the file fails (3.5.6, in `mdb_page_flush`), and free space that was only looked
 * at may be taken by another program.
 *
 *   used ████████ written ahead ░░░░░░░░░░   a batch needs 30, ordinary batches leave 256 → 286 or more, or the file is extended
 *   the disk is full, ahead 270               put refused     delete (leaves 128) continues     sweep (leaves 0) continues
 *   after sweeps: many free pages             they count as half of the pages to be left → put continues
 */
export class Reserve {
  readonly #options: ReserveOptions
  /** The pages that batches in flight may take. */
  #heldPages = 0
  #extension: Promise<void> = Promise.resolve()
  #isFull = false

  constructor(options: ReserveOptions) {
    this.#options = options
  }

  /** The last attempt to extend the file failed. */
  get isFull(): boolean {
    return this.#isFull
  }

  /** Holds the pages for a batch if the file has them; returns their number, to be given back. */
  tryHold(batch: Batch): number | undefined {
    const { pages, missing } = this.#look(batch)
    return missing <= 0 && !this.#isFull ? this.#take(pages) : undefined
  }

  /** Holds the pages for a batch, and extends the file if needed; throws a NoRoomError if that fails. */
  hold(batch: Batch): Promise<number> {
    // One after the other: each attempt finds the result of the previous attempt.
    const held = this.#extension.then(() => this.#makeRoom(batch))
    this.#extension = held.then(
      () => undefined,
      () => undefined,
    )
    return held
  }

  /** The batch is written or given up. */
  giveBack(pages: number): void {
    this.#heldPages -= pages
  }

  async #makeRoom(batch: Batch): Promise<number> {
    const { file, explain } = this.#options
    const { shape, pages, missing } = this.#look(batch)
    if (missing <= 0 && !this.#isFull) return this.#take(pages)
    const { pageSize, usedPages } = shape
    const growth = Math.min(Math.max((usedPages * pageSize) / 8, limits.fileGrowthBytesMin), limits.fileGrowthBytesMax)
    // While the disk is full, extends by the needed pages only; each batch tries again.
    const wanted = this.#isFull ? Math.max(missing, 1) : missing + Math.ceil(growth / pageSize)
    try {
      await file.extend((Math.floor(file.bytes / pageSize) + wanted) * pageSize)
      this.#isFull = false
    } catch (cause) {
      if (!isLackOfRoom(cause)) throw cause
      this.#isFull = true
      // A batch that could be written counts; an unfinished writer may have used pages.
      const { shape, pages, aheadPages, keptPages } = this.#look(batch)
      if (pages > aheadPages || aheadPages - pages + shape.freePages / 2 < keptPages) throw new NoRoomError(explain(cause), { cause })
    }
    return this.#take(pages)
  }

  #take(pages: number): number {
    this.#heldPages += pages
    return pages
  }

  #look(batch: Batch): { shape: MeasuredFile; pages: number; aheadPages: number; keptPages: number; missing: number } {
    const shape = this.#options.measure()
    const pages = pagesNeeded(batch, grown(shape, this.#heldPages))
    const aheadPages = Math.floor(this.#options.file.bytes / shape.pageSize) - shape.usedPages - this.#heldPages
    const keptPages = Math.ceil((limits.reserveBytes * keptPart[batch.purpose]) / shape.pageSize)
    return { shape, pages, aheadPages, keptPages, missing: pages + keptPages - aheadPages }
  }
}

/** True if the disk is full, the user's quota is used up, or the file has its maximum size. Any other error means that the disk is faulty. */
function isLackOfRoom(error: unknown): boolean {
  return error instanceof Error && 'code' in error && lackOfRoom.has(String(error.code))
}

const lackOfRoom: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])

/** The part of the reserve that a batch must leave: deletions leave room for compaction, and other writes leave room for deletions. */
const keptPart: Readonly<Record<Batch['purpose'], number>> = { put: 1, delete: 1 / 2, sweep: 0 }

/** The shape after an open batch has taken its pages, at any place. */
function grown(shape: FileShape, pages: number): FileShape {
  if (pages === 0) return shape
  const larger = (tree: TreeSize) => ({ ...tree, branchPages: tree.branchPages + pages, leafPages: tree.leafPages + pages })
  return { ...shape, log: larger(shape.log), latest: larger(shape.latest), freePages: shape.freePages + pages }
}
