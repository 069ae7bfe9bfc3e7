import { indexEntryBytes } from './index-entry.ts'
import { logEntryBytes } from './log-entry.ts'
import type { Batch } from './tables.ts'

/** The size of one tree of the data file. */
export interface TreeSize {
  readonly depth: number
  readonly branchPages: number
  readonly leafPages: number
  readonly overflowPages: number
}

/** The parts of the data file. */
export interface FileShape {
  readonly pageSize: number
  readonly log: TreeSize
  readonly latest: TreeSize
  /** LMDB's list of free pages. */
  readonly free: TreeSize
  readonly freePages: number
}

/** Bytes of a page and of a node that LMDB uses itself, and of a number as a key; the next even numbers. */
const pageHeaderBytes = 24
const nodeBytes = 12
const numberKeyBytes = 10
const pageNumberBytes = 8
/** LMDB puts a key and value of more than half a page on separate pages. */
const nodesPerPageMin = 2
/** The pages of the small trees: the table of trees, the store's notes, and their roots. */
const smallTreesPages = 12

/** The most pages that a batch's transaction takes without free pages. LMDB copies each changed page, and splits at most one per put. */
export function pagesNeeded({ appended, removed }: Pick<Batch, 'appended' | 'removed'>, shape: FileShape): number {
  const { pageSize, log, latest, free, freePages } = shape
  const room = pageSize - pageHeaderBytes
  let inlineBytes = 0
  let overflowPages = 0
  let keyBytes = 0
  for (const entry of appended) {
    const bytes = logEntryBytes(entry)
    if (bytes + nodeBytes + numberKeyBytes > room / nodesPerPageMin) overflowPages += Math.ceil((bytes + pageHeaderBytes) / pageSize)
    inlineBytes += nodeBytes + numberKeyBytes + Math.min(bytes, room / nodesPerPageMin)
    keyBytes += nodeBytes + Buffer.byteLength(entry.key) + indexEntryBytes(entry)
  }
  const added = Math.ceil((inlineBytes * 2) / room) + 1
  const appends = log.depth * 2 + added + Math.ceil(added / 8)
  const changed = changedPages(latest, appended.length)
  const splits = Math.min(appended.length, latest.leafPages + Math.ceil((keyBytes * 2) / room) + 1)
  const index = changed + splits + Math.ceil(splits / nodesPerPageMin) + latest.depth
  const removals = changedPages(log, removed.length)
  const freed = log.depth + changed + removals + (removed.length === 0 ? 0 : log.overflowPages) + free.leafPages + free.branchPages
  const freedPages = 2 * Math.ceil(((freed + smallTreesPages) * pageNumberBytes) / room)
  // The list of free pages may have half as many entries again as pages.
  const freeList = free.depth * 2 + free.leafPages + free.branchPages + Math.ceil((freePages * 1.5 * pageNumberBytes) / room) + 2
  return overflowPages + appends + index + removals + freedPages + freeList + smallTreesPages
}

/** The pages copied by this number of changes anywhere in a tree: their paths, and a neighbour of each page that becomes empty. */
function changedPages({ depth, branchPages, leafPages }: TreeSize, changes: number): number {
  if (changes === 0) return 0
  return depth + Math.min(changes * 2, leafPages) + Math.min(changes * 2 * Math.max(0, depth - 1), branchPages)
}
