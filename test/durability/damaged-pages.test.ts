import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkFile } from '../../services/storage/src/store/file-check.ts'
import { writeSampleStore } from './sample-store.ts'

const folder = mkdtempSync(join(tmpdir(), 'durability-pages-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const pageSize = 4096
const headBytes = 24
const trees = ['log', 'latest', 'about']
let sound = Buffer.alloc(0)
let places: Places

beforeAll(async () => {
  await writeSampleStore(join(folder, 'store'))
  sound = readFileSync(join(folder, 'store', 'state.mdb'))
  places = placesIn(sound)
})

/** File positions of the values that LMDB trusts. */
interface Places {
  readonly meta: number
  /** A branch page and a leaf page of the tree `latest`. */
  readonly branch: number
  readonly leaf: number
  /** The first node of that leaf, and the field of the page that gives the node's position. */
  readonly node: number
  /** The description of the tree `latest`. */
  readonly description: number
  /** A node of the tree `log` whose value has overflow pages, the reference to these pages, and the first page. */
  readonly largeNode: number
  readonly reference: number
  readonly large: number
  /** The value of a node in the list of free pages. */
  readonly freeList: number
}

function placesIn(bytes: Buffer): Places {
  const number = (at: number) => bytes.readUIntLE(at, 6)
  const meta = number(152) > number(pageSize + 152) ? 0 : pageSize
  const nodesOf = (page: number) =>
    Array.from(
      { length: bytes.readUInt16LE(page + 20) / 2 },
      (_, index) => page + headBytes + bytes.readUInt16LE(page + headBytes + index * 2),
    )
  const dataOf = (node: number) => node + 8 + bytes.readUInt16LE(node + 6)
  /** The leaves below a page. */
  const leavesOf = (page: number): number[] =>
    bytes.readUInt16LE(page + 18) === 2 ? [page] : nodesOf(page).flatMap((node) => leavesOf(number(node) * pageSize))
  const main = nodesOf(number(meta + 136) * pageSize)
  const descriptionOf = (name: string) =>
    dataOf(main.find((node) => bytes.toString('latin1', node + 8, dataOf(node)).startsWith(name)) ?? 0)
  const description = descriptionOf('latest')
  const branch = number(description + 40) * pageSize
  const leaf = leavesOf(branch)[0] ?? 0
  const logNodes = leavesOf(number(descriptionOf('log') + 40) * pageSize).flatMap(nodesOf)
  const largeNode = logNodes.find((node) => bytes.readUInt16LE(node + 4) === 1) ?? 0
  const free = leavesOf(number(meta + 88) * pageSize).flatMap(nodesOf)
  return {
    ...{ meta, branch, leaf, node: nodesOf(leaf)[0] ?? 0, description },
    ...{ largeNode, reference: dataOf(largeNode), large: number(dataOf(largeNode)) * pageSize, freeList: dataOf(free[0] ?? 0) },
  }
}

function problemOf(bytes: Buffer): string {
  const path = join(folder, 'state.mdb')
  writeFileSync(path, bytes)
  try {
    checkFile(path, trees)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return ''
}

type Change = readonly [at: (places: Places) => number, bytes: number, value: (before: number, places: Places) => number]

function changed([at, length, value]: Change): Buffer {
  const bytes = Buffer.from(sound)
  const start = at(places)
  bytes.writeUIntLE(value(bytes.readUIntLE(start, length), places), start, length)
  return bytes
}

const far = 1_000_000

describe('the check of an LMDB page', () => {
  test('accepts a page that LMDB wrote', () => {
    expect(places.branch).not.toBe(places.leaf)
    expect([places.largeNode, places.large, places.freeList].every((at) => at > 2 * pageSize)).toBe(true)
    expect(problemOf(sound)).toBe('')
  })

  test.each<[string, Change, RegExp]>([
    ['a leaf of another number', [({ leaf }) => leaf, 6, (before) => before + 1], /is not a page of it$/],
    ['a leaf that says it is a branch', [({ leaf }) => leaf + 18, 2, () => 1], /is not a page of it$/],
    ['a branch that says it is a leaf', [({ branch }) => branch + 18, 2, () => 2], /is not a page of it$/],
    ['a leaf of a later transaction', [({ leaf }) => leaf + 8, 6, () => far], /is of a transaction that was not$/],
    ['a leaf without nodes', [({ leaf }) => leaf + 20, 2, () => 0], /has wrong bounds$/],
    ['a leaf with half a node', [({ leaf }) => leaf + 20, 2, (before) => before - 1], /has wrong bounds$/],
    ['a leaf whose bounds cross', [({ leaf }) => leaf + 20, 2, () => 4_000], /has wrong bounds$/],
    ['a leaf that begins behind its end', [({ leaf }) => leaf + 22, 2, () => pageSize - headBytes + 2], /has wrong bounds$/],
    ['a node above the nodes', [({ leaf }) => leaf + headBytes, 2, () => 2], /has a node outside of it$/],
    ['a node at an odd place', [({ leaf }) => leaf + headBytes, 2, (before) => before + 1], /has a node outside of it$/],
    ['a node at the end', [({ leaf }) => leaf + headBytes, 2, () => pageSize - headBytes - 6], /has a node outside of it$/],
    ['a key that is too long', [({ node }) => node + 6, 2, () => pageSize], /has a key that is too long$/],
    ['no key', [({ node }) => node + 6, 2, () => 0], /has a value outside of it$/],
    ['flags that are not known', [({ node }) => node + 4, 2, () => 3], /has a value outside of it$/],
    ['a value that is too long', [({ node }) => node, 4, () => pageSize], /has a value outside of it$/],
    ['a value that says it is a tree', [({ node }) => node + 4, 2, () => 2], /describes a tree wrongly$/],
    ['a branch with one child', [({ branch }) => branch + 20, 2, () => 2], /has one child$/],
    ['a tree with another count of leaves', [({ description }) => description + 16, 6, (before) => before + 1], /leaf pages where/],
    ['a tree with another count of branches', [({ description }) => description + 8, 6, (before) => before + 1], /branch pages where/],
    ['a tree with another count of entries', [({ description }) => description + 32, 6, (before) => before + 1], /entries where/],
    [
      'a tree with another count of large pages',
      [({ description }) => description + 24, 6, (before) => before + 1],
      /of large values where/,
    ],
    ['a tree that is less deep', [({ description }) => description + 6, 2, (before) => before - 1], /is not a page of it$/],
    ['a tree of another kind', [({ description }) => description + 4, 2, () => 4], /is of another kind$/],
    [
      'a large value of another length',
      [({ largeNode }) => largeNode, 4, (before) => before + pageSize],
      /has another length than its value$/,
    ],
    ['a large value outside of the file', [({ reference }) => reference, 6, () => far], /which the file does not have$/],
    [
      'a large value in a page that is in use',
      [({ reference }) => reference, 6, (_, { leaf }) => leaf / pageSize],
      /in use elsewhere|not a value of it/,
    ],
    ['a large value of a later transaction', [({ reference }) => reference + 8, 6, () => far], /is of a transaction that was not$/],
    ['a large page of another number', [({ large }) => large, 6, (before) => before + 1], /is not a value of it$/],
    ['a large page that says it is a leaf', [({ large }) => large + 18, 2, () => 2], /is not a value of it$/],
    ['a large page with another count of pages', [({ large }) => large + 20, 4, (before) => before + 1], /is not a value of it$/],
    ['a large page of a later transaction', [({ large }) => large + 8, 6, () => far], /is of a transaction that was not$/],
    ['a list of free pages that is longer than its entry', [({ freeList }) => freeList, 6, () => far], /has an entry with a wrong length$/],
    [
      'a free page outside of the file',
      [({ freeList }) => freeList + 8, 6, () => far],
      /names page 1000000, which the file does not have$/,
    ],
    ['a free page among the first', [({ freeList }) => freeList + 8, 6, () => 1], /names page 1, which the file does not have$/],
    ['a free page that is in use', [({ freeList }) => freeList + 8, 6, (_, { leaf }) => leaf / pageSize], /which is in use$/],
  ])('refuses %s', (_, change, expected) => {
    expect(problemOf(changed(change))).toMatch(expected)
  })
})
