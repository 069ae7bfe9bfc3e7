/**
 * The layout of LMDB's data file (format 2, 64 bits, little endian): pages of one size, of which the first two hold the
 * start of a transaction. Each transaction overwrites the older of the two.
 *
 *   page       u64 its own number, u64 transaction, u16 -, u16 flags, u16 lower, u16 upper (overflow: u32 pages), then from 24 on
 *   leaf       u16 offset of each node (from 24 on) … nodes: u32 value's bytes, u16 flags, u16 key's bytes, key, value
 *   branch     the same, nodes: u48 page of the child, u16 key's bytes, key
 *   meta       u32 magic, u32 version, u64 -, u64 -, tree of free pages, tree of trees, u64 last page, u64 transaction
 *   tree       u32 page size (free pages only), u16 flags, u16 depth, u64 branch, leaf and overflow pages, entries, root page
 */
export const pageHeaderBytes = 24
export const nodeHeaderBytes = 8
export const treeBytes = 48
/** A node's value on overflow pages: u64 first page, u64 transaction, u64 pages. */
export const overflowReferenceBytes = 24
export const metaPages = 2
export const metaBytes = pageHeaderBytes + 144
export const pageFlags = { branch: 1, leaf: 2, overflow: 4, meta: 8 } as const
/** Flags that may remain on a page and mean nothing in a file. */
const pageFlagsMask = 0x0fff
export const nodeFlags = { overflow: 1, tree: 2 } as const
/** The root page of a tree without entries. */
export const noPage = 2 ** 64

const magic = 0xbeefc0de
const formatVersion = 2
const pageBytesMin = 256
const pageBytesMax = 65_536
/** The keys of the tree of free pages are integers. */
const integerKeys = 8
const keyFlagsMask = 0xff

/** One tree, as its parent describes it. */
export type Tree = ReturnType<typeof readTree>

/** The state before a transaction. */
export interface MetaPage {
  readonly pageSize: number
  readonly free: Tree
  readonly main: Tree
  readonly lastPage: number
  readonly transaction: number
}

/** The reason why a file cannot be opened. */
export class DamageError extends Error {}

/** A 64-bit number; above 2^53 it is imprecise. */
export function readNumber(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 2 ** 32
}

export function readPageHead(bytes: Buffer) {
  return {
    number: readNumber(bytes, 0),
    /** The transaction that wrote the page. */
    transaction: readNumber(bytes, 8),
    flags: bytes.readUInt16LE(18) & pageFlagsMask,
    lower: bytes.readUInt16LE(20),
    upper: bytes.readUInt16LE(22),
    /** Number of consecutive pages, for an overflow page. */
    pages: bytes.readUInt32LE(20),
  }
}

/** Reads the description of a tree. */
export function readTree(bytes: Buffer, at: number) {
  return {
    flags: bytes.readUInt16LE(at + 4),
    depth: bytes.readUInt16LE(at + 6),
    branchPages: readNumber(bytes, at + 8),
    leafPages: readNumber(bytes, at + 16),
    overflowPages: readNumber(bytes, at + 24),
    entries: readNumber(bytes, at + 32),
    root: readNumber(bytes, at + 40),
  }
}

/** Reads one of the first two pages; a DamageError names its error. */
export function readMetaPage(bytes: Buffer, number: number): MetaPage {
  const head = readPageHead(bytes)
  if (head.number !== number || head.flags !== pageFlags.meta) throw new DamageError(`page ${number} is not one of LMDB's first pages`)
  if (bytes.readUInt32LE(24) !== magic) throw new DamageError(`page ${number} does not begin as those of LMDB do`)
  const version = bytes.readUInt32LE(28)
  if (version !== formatVersion)
    throw new DamageError(`page ${number} has version ${version} of LMDB's format, ${formatVersion} was expected`)
  const pageSize = bytes.readUInt32LE(48)
  if (pageSize < pageBytesMin || pageSize > pageBytesMax || (pageSize & (pageSize - 1)) !== 0)
    throw new DamageError(`page ${number} names pages of ${pageSize} bytes`)
  const meta = {
    pageSize,
    free: readTree(bytes, 48),
    main: readTree(bytes, 96),
    lastPage: readNumber(bytes, 144),
    transaction: readNumber(bytes, 152),
  }
  if ((meta.free.flags & keyFlagsMask) !== integerKeys || meta.main.flags !== 0)
    throw new DamageError(`page ${number} describes trees of another kind`)
  if (!Number.isSafeInteger(meta.transaction) || !Number.isSafeInteger(meta.lastPage) || meta.lastPage < metaPages - 1)
    throw new DamageError(`page ${number} names transaction ${meta.transaction} and ${meta.lastPage} as the last page`)
  return meta
}
