import { at } from '@orch/core/json'
import { joinedBytesMax } from '../limits.ts'
import { isRead, jsonOf, read, type StoredObject } from './stored-object.ts'

const itemsMax = 64
const comma = 0x2c

interface Leaf {
  owner: object
  readonly objects: StoredObject[]
  joined?: Joined | undefined
}

/** A leaf's objects with commas between them. Object i begins at `starts[i]`; the last element is one past the end. */
interface Joined {
  readonly bytes: Uint8Array
  readonly starts: Uint32Array
}

interface Branch {
  owner: object
  readonly children: Node[]
  /** Lowest key below each child; that of the first is not looked at. */
  readonly lows: string[]
  size: number
}

type Node = Leaf | Branch

/** Consecutive objects of one leaf. */
export interface Run {
  readonly objects: readonly StoredObject[]
  readonly from: number
  readonly to: number
  /** The objects' JSON with commas between them. Only objects that are large make it more than one piece. */
  join(): Generator<Piece, void, undefined>
}

/** Objects that follow each other, as JSON with commas between them. */
export interface Piece {
  readonly bytes: Uint8Array
  readonly count: number
}

/**
 * Objects in the order of their keys: a B+tree that copies shared nodes. `fork` gives a second tree in no time; from
 * then on each of the two copies a node before it changes it, and changes the copies in place.
 *
 *   root ─┬─ leaf a b c      fork, then set(e'):     root' ─┬─ leaf a b c   (shared)
 *         └─ leaf d e f                                     └─ leaf d e' f  (copied; the old leaf is unchanged)
 */
export class Tree {
  #root: Node
  #owner: object = {}
  /** Joining a leaf of the past must not make its bytes the place of present objects. */
  readonly #isPast: boolean

  private constructor(root: Node | undefined, isPast: boolean) {
    this.#root = root ?? { owner: this.#owner, objects: [] }
    this.#isPast = isPast
  }

  /** An empty tree for the current state. */
  static create(): Tree {
    return new Tree(undefined, false)
  }

  /** The same objects in a tree of their own. */
  fork(): Tree {
    this.#owner = {}
    return new Tree(this.#root, true)
  }

  get size(): number {
    return sizeOf(this.#root)
  }

  get(key: string): StoredObject | undefined {
    let node = this.#root
    while ('children' in node) node = node.children[childOf(node, key)]!
    const object = node.objects[lowerBound(node.objects, key)]
    return object?.key === key ? object : undefined
  }

  /** Adds or replaces. Returns the earlier object. */
  set(object: StoredObject): StoredObject | undefined {
    const root = this.#owned(this.#root)
    this.#root = root
    const { replaced, split } = this.#setBelow(root, object)
    if (split !== undefined)
      this.#root = { owner: this.#owner, children: [root, split.node], lows: ['', split.low], size: sizeOf(root) + sizeOf(split.node) }
    return replaced
  }

  /** Returns the removed object. */
  delete(key: string): StoredObject | undefined {
    const found = this.get(key)
    if (found === undefined) return undefined
    this.#root = this.#owned(this.#root)
    this.#deleteBelow(this.#root, key)
    while ('children' in this.#root && this.#root.children.length === 1) this.#root = at(this.#root.children, 0)
    return found
  }

  /** The number of keys below this one. */
  rank(key: string): number {
    let node = this.#root
    let rank = 0
    while ('children' in node) {
      const index = childOf(node, key)
      for (let before = 0; before < index; before++) rank += sizeOf(node.children[before]!)
      node = node.children[index]!
    }
    return rank + lowerBound(node.objects, key)
  }

  /** The object with this many keys below it. */
  at(rank: number): StoredObject | undefined {
    let node = this.#root
    let left = rank
    while ('children' in node) {
      let index = 0
      while (index < node.children.length - 1 && left >= sizeOf(node.children[index]!)) left -= sizeOf(node.children[index++]!)
      node = node.children[index]!
    }
    return node.objects[left]
  }

  /** Objects with start ≤ key < end, leaf by leaf. The tree may not change meanwhile: walk a fork. */
  *walk(start: string, end: string): Generator<Run, void, undefined> {
    for (const leaf of leavesFrom(this.#root, start)) {
      const { objects } = leaf
      const from = lowerBound(objects, start)
      const to = lowerBound(objects, end)
      if (from < to) yield { objects, from, to, join: () => this.#join(leaf, from, to) }
      if (to < objects.length) return
    }
  }

  #setBelow(node: Node, object: StoredObject): { replaced: StoredObject | undefined; split?: { node: Node; low: string } | undefined } {
    if (!('children' in node)) return setInLeaf(node, object)
    const index = childOf(node, object.key)
    const child = this.#owned(at(node.children, index))
    node.children[index] = child
    const { replaced, split } = this.#setBelow(child, object)
    if (replaced === undefined) node.size++
    if (split === undefined) return { replaced }
    node.children.splice(index + 1, 0, split.node)
    node.lows.splice(index + 1, 0, split.low)
    return { replaced, split: splitBranch(node) }
  }

  #deleteBelow(node: Node, key: string): void {
    if (!('children' in node)) {
      node.objects.splice(lowerBound(node.objects, key), 1)
      return
    }
    const index = childOf(node, key)
    const child = this.#owned(at(node.children, index))
    node.children[index] = child
    this.#deleteBelow(child, key)
    node.size--
    if (sizeOf(child) === 0 && node.children.length > 1) {
      node.children.splice(index, 1)
      node.lows.splice(index, 1)
    } else {
      mergeWithNext(node, index)
    }
  }

  /** A node that this tree may change in place. */
  #owned(node: Node): Node {
    if (node.owner === this.#owner) {
      if ('objects' in node) node.joined = undefined
      return node
    }
    if ('children' in node) return { owner: this.#owner, children: node.children.slice(), lows: node.lows.slice(), size: node.size }
    return { owner: this.#owner, objects: node.objects.slice() }
  }

  *#join(leaf: Leaf, from: number, to: number): Generator<Piece, void, undefined> {
    const joined = leaf.joined ?? this.#joinLeaf(leaf, from, to)
    if (joined === undefined) yield* this.#joinLarge(leaf.objects, from, to)
    else yield { bytes: joined.bytes.subarray(joined.starts[from], joined.starts[to]! - 1), count: to - from }
  }

  /** Joins all of a leaf of which a part is asked for; undefined: that would be too large, or read objects that are not asked for. */
  #joinLeaf(leaf: Leaf, from: number, to: number): Joined | undefined {
    if (joinedLength(leaf.objects) > joinedBytesMax) return undefined
    if (!leaf.objects.every((object, index) => (from <= index && index < to) || isRead(object))) return undefined
    const joined = joinObjects(leaf.objects)
    if (this.#isPast) return joined
    leaf.joined = joined
    moveInto(joined, leaf.objects)
    return joined
  }

  /** A leaf of large objects is given in several pieces, so that a reader holds a few objects and never all of them. */
  *#joinLarge(objects: readonly StoredObject[], from: number, to: number): Generator<Piece, void, undefined> {
    for (let first = from; first < to; ) {
      let next = first + 1
      let length = objects[first]!.length
      while (next < to && length + 1 + objects[next]!.length <= joinedBytesMax) length += 1 + objects[next++]!.length
      yield { bytes: this.#joinSpan(objects.slice(first, next), length), count: next - first }
      first = next
    }
  }

  #joinSpan(objects: readonly StoredObject[], length: number): Uint8Array {
    for (const object of objects) read(object)
    const { bytes, start } = at(objects, 0)
    if (isJoinedAlready(objects)) return bytes.subarray(start, start + length)
    const joined = joinObjects(objects)
    if (!this.#isPast) moveInto(joined, objects)
    return joined.bytes
  }

  /** For the tree of the current state only: a fork for a reader of now, whose joined leaves are worth keeping. */
  forkForReading(): Tree {
    this.#owner = {}
    return new Tree(this.#root, false)
  }
}

function sizeOf(node: Node): number {
  return 'children' in node ? node.size : node.objects.length
}

function childOf({ lows }: Branch, key: string): number {
  let low = 1
  let high = lows.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (lows[middle]! <= key) low = middle + 1
    else high = middle
  }
  return low - 1
}

function lowerBound(objects: readonly StoredObject[], key: string): number {
  let low = 0
  let high = objects.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (objects[middle]!.key < key) low = middle + 1
    else high = middle
  }
  return low
}

function setInLeaf(
  leaf: Leaf,
  object: StoredObject,
): { replaced: StoredObject | undefined; split?: { node: Leaf; low: string } | undefined } {
  const { objects } = leaf
  const last = objects.at(-1)
  // A store that is read gives its keys in order.
  const index = last !== undefined && last.key < object.key ? objects.length : lowerBound(objects, object.key)
  const there = objects[index]
  if (there?.key === object.key) {
    objects[index] = object
    return { replaced: there }
  }
  objects.splice(index, 0, object)
  if (objects.length <= itemsMax) return { replaced: undefined }
  // Keys added in order fill their leaves: the new one begins a leaf of its own.
  const keep = index === objects.length - 1 ? itemsMax : objects.length >>> 1
  const node = { owner: leaf.owner, objects: objects.splice(keep) }
  return { replaced: undefined, split: { node, low: at(node.objects, 0).key } }
}

function splitBranch(branch: Branch): { node: Branch; low: string } | undefined {
  if (branch.children.length <= itemsMax) return undefined
  const half = branch.children.length >>> 1
  const children = branch.children.splice(half)
  const lows = branch.lows.splice(half)
  const size = children.reduce((sum, child) => sum + sizeOf(child), 0)
  branch.size -= size
  return { node: { owner: branch.owner, children, lows, size }, low: at(lows, 0) }
}

/** Two small leaves next to each other become one, so that deletions do not leave a tree of crumbs. */
function mergeWithNext(branch: Branch, index: number): void {
  const child = at(branch.children, index)
  const next = branch.children[index + 1]
  if (next === undefined || 'children' in child || 'children' in next) return
  if (child.objects.length + next.objects.length > itemsMax >>> 1) return
  branch.children[index] = { owner: child.owner, objects: [...child.objects, ...next.objects] }
  branch.children.splice(index + 1, 1)
  branch.lows.splice(index + 1, 1)
}

function* leavesFrom(node: Node, start: string): Generator<Leaf, void, undefined> {
  if (!('children' in node)) {
    yield node
    return
  }
  const first = childOf(node, start)
  for (let index = first; index < node.children.length; index++) yield* leavesFrom(at(node.children, index), index === first ? start : '')
}

function joinObjects(objects: readonly StoredObject[]): Joined {
  const starts = new Uint32Array(objects.length + 1)
  for (let index = 0; index < objects.length; index++) starts[index + 1] = starts[index]! + objects[index]!.length + 1
  const bytes = Buffer.allocUnsafeSlow(Math.max(0, starts[objects.length]! - 1))
  for (let index = 0; index < objects.length; index++) {
    if (index > 0) bytes[starts[index]! - 1] = comma
    bytes.set(jsonOf(objects[index]!), starts[index])
  }
  return { bytes, starts }
}

function joinedLength(objects: readonly StoredObject[]): number {
  return objects.reduce((sum, { length }) => sum + length + 1, -1)
}

/** Written objects have no gap; one byte between two of them is the comma of an earlier join. */
function isJoinedAlready(objects: readonly StoredObject[]): boolean {
  for (let index = 1; index < objects.length; index++) {
    const { bytes, start, length } = objects[index - 1]!
    const next = objects[index]!
    if (next.bytes !== bytes || next.start !== start + length + 1) return false
  }
  return true
}

/** The joined bytes replace each object's own, so that an object is in memory once. */
function moveInto(joined: Joined, objects: readonly StoredObject[]): void {
  for (let index = 0; index < objects.length; index++) {
    const object = objects[index]!
    object.bytes = joined.bytes
    object.start = joined.starts[index]!
  }
}
