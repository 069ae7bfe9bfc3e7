import { type BigIntStats, closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import {
  DamageError,
  type MetaPage,
  metaBytes,
  metaPages,
  nodeFlags,
  nodeHeaderBytes,
  noPage,
  overflowReferenceBytes,
  pageFlags,
  pageHeaderBytes,
  readMetaPage,
  readNumber,
  readPageHead,
  readTree,
  type Tree,
  treeBytes,
} from './lmdb-file.ts'

/**
 * Checks LMDB's data file before LMDB maps it into memory: LMDB trusts its page numbers and offsets, and a wrong one ends the process. Reads every
 * page that the last transaction refers to; of a large value only the first page. Throws a DamageError that names the error. Changed bytes inside
 * keys or values are not detected here, but by the checksums of log entries. `trees` are the required trees. If the file's state equals `closedAs`,
 * which `stateOfFile` returned when a store closed it, the file was sound and has not changed since, so its pages are not read.
 */
export function checkFile(path: string, trees: readonly string[], closedAs = ''): void {
  withFile(path, (descriptor, stats, meta) => {
    if (closedAs === stateOf(stats, meta)) return
    const found = new FileCheck(descriptor, meta).run()
    for (const name of trees) if (!found.includes(name)) throw new DamageError(`it has no tree "${name}"`)
  })
}

/** Identifies the state of a data file: its last transaction and the file system's metadata. It changes with any write. */
export function stateOfFile(path: string): string {
  return withFile(path, (_descriptor, stats, meta) => stateOf(stats, meta))
}

function stateOf({ ino, size, mtimeNs, ctimeNs }: BigIntStats, { transaction, sum }: LatestMeta): string {
  return `transaction ${transaction}, inode ${ino}, ${size} bytes, modified ${mtimeNs}, changed ${ctimeNs}, first pages ${sum}`
}

/** The meta page of the last transaction, and a checksum of the first pages and of the trees' counts and roots. */
type LatestMeta = ReturnType<typeof latestMeta>

function withFile<T>(path: string, use: (descriptor: number, stats: BigIntStats, meta: LatestMeta) => T): T {
  const descriptor = openSync(path, 'r')
  try {
    const stats = fstatSync(descriptor, { bigint: true })
    return use(descriptor, stats, latestMeta(descriptor, Number(stats.size)))
  } finally {
    closeSync(descriptor)
  }
}

/** The meta page of the last transaction, after both of the first pages were found sound. */
function latestMeta(descriptor: number, size: number) {
  const firstBytes = readAt(descriptor, 0, metaBytes)
  const first = readMetaPage(firstBytes, 0)
  const secondBytes = readAt(descriptor, first.pageSize, metaBytes)
  const second = readMetaPage(secondBytes, 1)
  if (second.pageSize !== first.pageSize) throw new DamageError('its first two pages name different sizes of pages')
  const latest = second.transaction > first.transaction ? second : first
  if (Math.abs(second.transaction - first.transaction) > 1) throw new DamageError('its first two pages are not of successive transactions')
  const needed = (latest.lastPage + 1) * latest.pageSize
  if (size < needed) throw new DamageError(`it has ${size} bytes, and its pages need ${needed}`)
  const { pageSize, lastPage, main } = latest
  const table = main.root <= lastPage ? readAt(descriptor, main.root * pageSize, pageSize) : Buffer.alloc(0)
  return { ...latest, sum: crc32(table, crc32(secondBytes, crc32(firstBytes))) }
}

function readAt(descriptor: number, at: number, length: number): Buffer {
  return readInto(Buffer.allocUnsafe(length), descriptor, at)
}

function readInto(bytes: Buffer, descriptor: number, at: number): Buffer {
  const read = readSync(descriptor, bytes, 0, bytes.length, at)
  if (read < bytes.length) throw new DamageError(`it ends after ${at + read} bytes, within its first pages`)
  return bytes
}

/** A leaf's node whose key and value are inside the page. */
interface LeafNode {
  readonly flags: number
  readonly key: Buffer
  /** The bytes in the page: the value, or the location of its pages. */
  readonly data: Buffer
  readonly length: number
}

/** Receives the nodes of a tree with relevant contents; for other trees no node objects are created. */
type Visit = (node: LeafNode) => void

interface Counts {
  branchPages: number
  leafPages: number
  overflowPages: number
  entries: number
}

/** A tree during the check. */
interface Checked {
  readonly name: string
  readonly tree: Tree
  readonly counts: Counts
  readonly visit: Visit | undefined
}

/** The check of one file; `run` reads all pages. */
export class FileCheck {
  readonly #descriptor: number
  readonly #meta: MetaPage
  /** One bit for each referenced page. */
  readonly #seen: Uint8Array
  /** The page in use and the head of another page: one of each at a time. */
  readonly #page: Buffer
  readonly #view: DataView
  readonly #head = Buffer.alloc(pageHeaderBytes)

  constructor(descriptor: number, meta: MetaPage) {
    this.#descriptor = descriptor
    this.#meta = meta
    this.#page = Buffer.alloc(meta.pageSize)
    this.#view = new DataView(this.#page.buffer, this.#page.byteOffset, meta.pageSize)
    this.#seen = new Uint8Array(Math.ceil((meta.lastPage + 1) / 8))
  }

  /** The names of the trees. */
  run(): string[] {
    const { free, main } = this.#meta
    const trees: { readonly key: string; readonly name: string; readonly tree: Tree }[] = []
    this.#checkTree('the table of trees', main, (node) => {
      const { flags, data } = node
      const key = node.key.toString('latin1').replace(/\0+$/, '')
      const name = `the tree ${JSON.stringify(key)}`
      if (flags !== nodeFlags.tree) throw new DamageError(`${name} has no description`)
      const tree = readTree(data, 0)
      if (tree.flags !== 0) throw new DamageError(`${name} is of another kind`)
      trees.push({ key, name, tree })
    })
    for (const { name, tree } of trees) this.#checkTree(name, tree)
    const lists: Buffer[] = []
    this.#checkTree('the list of free pages', free, (node) => lists.push(this.#value(node)))
    // Runs when all pages in use are known.
    for (const list of lists) this.#checkFreePages(list)
    return trees.map(({ key }) => key)
  }

  #checkTree(name: string, tree: Tree, visit?: Visit): void {
    if (tree.root >= noPage - 1) {
      if (tree.entries !== 0) throw new DamageError(`${name} has ${tree.entries} entries and no root`)
      return
    }
    const counts = { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 }
    this.#checkPages({ name, tree, visit, counts })
    for (const what of ['branchPages', 'leafPages', 'overflowPages', 'entries'] as const)
      if (counts[what] !== tree[what]) throw new DamageError(`${name} has ${counts[what]} ${words[what]} where ${tree[what]} were expected`)
  }

  #checkPages(checked: Checked): void {
    const { name, tree, counts } = checked
    const open = [{ number: tree.root, level: 1 }]
    // Takes pages from the end, so that only the pages of one path and their neighbours are open.
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { number, level } = next
      if (level === tree.depth) {
        const count = this.#readNodes(number, name, pageFlags.leaf)
        counts.leafPages++
        counts.entries += count
        this.#checkLeaf(number, count, checked)
        continue
      }
      const count = this.#readNodes(number, name, pageFlags.branch)
      // LMDB ends the process when a branch has one child, except in the list of free pages.
      if (count < 2 && tree !== this.#meta.free) throw damagedPage(name, number, 'has one child')
      counts.branchPages++
      for (let index = 0; index < count; index++) open.push({ number: this.#child(this.#nodeAt(index)), level: level + 1 })
    }
  }

  /** Checks a page and returns the number of its nodes, whose heads and keys are inside it. */
  #readNodes(number: number, name: string, flags: number): number {
    const { pageSize, transaction } = this.#meta
    this.#see(number, 1, name)
    const head = readPageHead(readInto(this.#page, this.#descriptor, number * pageSize))
    if (head.number !== number || head.flags !== flags) throw damagedPage(name, number, 'is not a page of it')
    // LMDB writes to pages that it takes for pages of an open transaction.
    if (head.transaction > transaction) throw damagedPage(name, number, 'is of a transaction that was not')
    const { lower, upper } = head
    if (lower < 2 || lower % 2 !== 0 || lower > upper || upper > pageSize - pageHeaderBytes)
      throw damagedPage(name, number, 'has wrong bounds')
    const view = this.#view
    const count = lower >> 1
    for (let index = 0; index < count; index++) {
      const start = this.#nodeAt(index)
      const offset = start - pageHeaderBytes
      if (offset < upper || offset % 2 !== 0 || start + nodeHeaderBytes > pageSize)
        throw damagedPage(name, number, 'has a node outside of it')
      if (start + nodeHeaderBytes + view.getUint16(start + 6, true) > pageSize)
        throw damagedPage(name, number, 'has a key that is too long')
    }
    return count
  }

  /** The offset of a node in the page. */
  #nodeAt(index: number): number {
    return pageHeaderBytes + this.#view.getUint16(pageHeaderBytes + 2 * index, true)
  }

  /** The 48-bit page number of a branch's node. Node.js' reader of such numbers is slow until it is compiled. */
  #child(node: number): number {
    return this.#view.getUint32(node, true) + this.#view.getUint16(node + 4, true) * 2 ** 32
  }

  /** A start checks thousands of nodes before its code is fast, so a correct node creates no object. */
  #checkLeaf(number: number, count: number, { name, visit, counts }: Checked): void {
    const { pageSize } = this.#meta
    const view = this.#view
    for (let index = 0; index < count; index++) {
      const at = this.#nodeAt(index)
      const length = view.getUint32(at, true)
      const flags = view.getUint16(at + 4, true)
      const keyBytes = view.getUint16(at + 6, true)
      const dataStart = at + nodeHeaderBytes + keyBytes
      const isOverflow = flags === nodeFlags.overflow
      const dataEnd = dataStart + (isOverflow ? overflowReferenceBytes : length)
      if (keyBytes === 0 || flags > nodeFlags.tree || dataEnd > pageSize) throw damagedPage(name, number, 'has a value outside of it')
      if (flags === nodeFlags.tree && length !== treeBytes) throw damagedPage(name, number, 'describes a tree wrongly')
      if (isOverflow) counts.overflowPages += this.#checkOverflow(dataStart, length, name)
      if (visit !== undefined) {
        const [key, data] = [this.#page.subarray(at + nodeHeaderBytes, dataStart), this.#page.subarray(dataStart, dataEnd)]
        visit({ flags, key, data, length })
      } else if (flags === nodeFlags.tree) throw new DamageError(`${name} holds another tree`)
    }
  }

  #checkOverflow(reference: number, length: number, name: string): number {
    const { pageSize, transaction } = this.#meta
    const first = readNumber(this.#page, reference)
    const pages = readNumber(this.#page, reference + 16)
    if (pages !== Math.floor((pageHeaderBytes - 1 + length) / pageSize) + 1)
      throw damagedPage(name, first, 'has another length than its value')
    this.#see(first, pages, name)
    const head = readPageHead(readInto(this.#head, this.#descriptor, first * pageSize))
    if (head.number !== first || head.flags !== pageFlags.overflow || head.pages !== pages)
      throw damagedPage(name, first, 'is not a value of it')
    if (head.transaction > transaction || readNumber(this.#page, reference + 8) > transaction)
      throw damagedPage(name, first, 'is of a transaction that was not')
    return pages
  }

  /** A copy of a node's value. */
  #value({ flags, data, length }: LeafNode): Buffer {
    if (flags !== nodeFlags.overflow) return Buffer.from(data)
    return readAt(this.#descriptor, readNumber(data, 0) * this.#meta.pageSize + pageHeaderBytes, length)
  }

  /**
   * Free pages must not be in use. A list contains the number of entries, then single pages, or a first page followed by minus the count of the pages
   * before it; 0 is an empty slot.
   */
  #checkFreePages(list: Buffer): void {
    const name = 'the list of free pages'
    const count = list.length < 8 ? Number.NaN : readNumber(list, 0)
    if (!(count * 8 + 8 <= list.length)) throw new DamageError(`${name} has an entry with a wrong length`)
    for (let place = 1; place <= count; place++) {
      const entry = Number(list.readBigInt64LE(place * 8))
      if (entry === 0) continue
      if (entry < 0 && place === count) throw new DamageError(`${name} has an entry that is cut off`)
      const first = entry > 0 ? entry : Number(list.readBigInt64LE(++place * 8))
      const end = first + (entry > 0 ? 1 : -entry)
      if (first < metaPages || end > this.#meta.lastPage + 1)
        throw new DamageError(`${name} names page ${first}, which the file does not have`)
      for (let number = first; number < end; number++)
        if (this.#isSeen(number)) throw new DamageError(`${name} names page ${number}, which is in use`)
    }
  }

  #see(first: number, pages: number, name: string): void {
    if (first < metaPages || first + pages - 1 > this.#meta.lastPage)
      throw new DamageError(`${name} refers to page ${first}, which the file does not have`)
    for (let number = first; number < first + pages; number++) {
      if (this.#isSeen(number)) throw new DamageError(`${name} refers to page ${number}, which is in use elsewhere`)
      this.#seen[number >> 3]! |= 1 << (number & 7)
    }
  }

  #isSeen(number: number): boolean {
    return (this.#seen[number >> 3]! & (1 << (number & 7))) !== 0
  }
}

const words = { branchPages: 'branch pages', leafPages: 'leaf pages', overflowPages: 'pages of large values', entries: 'entries' } as const

function damagedPage(name: string, number: number, what: string): DamageError {
  return new DamageError(`page ${number} of ${name} ${what}`)
}
