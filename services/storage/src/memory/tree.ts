import { at } from '@orch/core/json'
import type { Revision } from '@orch/core/meta'
import { limits } from '../limits.ts'
import { type Leaf, SortedTree } from './sorted-tree.ts'
import { isRead, jsonOf, read, type StoredObject } from './stored-object.ts'

const comma = 0x2c

/** A leaf's objects with commas between them. Object i begins at `starts[i]`; the last element is one past the end. */
type Joined = ReturnType<typeof joinObjects>

/** Consecutive objects of one leaf. */
export interface Run {
  readonly objects: readonly StoredObject[]
  readonly from: number
  readonly to: number
  /** The objects' JSON with commas between them. Only large objects make more than one piece. */
  join(): Generator<Piece, void, undefined>
}

/** Objects that follow each other, as JSON with commas between them. */
export interface Piece {
  readonly bytes: Uint8Array
  readonly count: number
}

/** Objects in key order. A leaf keeps its joined objects after a read. */
export class Tree {
  readonly #objects: SortedTree<StoredObject, Joined>
  /** Joining a leaf does not move objects up to this revision: other trees may outlive this tree. */
  readonly #staysUpTo: Revision

  private constructor(objects: SortedTree<StoredObject, Joined>, staysUpTo: Revision) {
    this.#objects = objects
    this.#staysUpTo = staysUpTo
  }

  /** An empty tree for the current state. */
  static create(): Tree {
    return new Tree(SortedTree.create(), 0)
  }

  /** A separate tree with the same objects. */
  fork(): Tree {
    return new Tree(this.#objects.fork(), Number.POSITIVE_INFINITY)
  }

  /** A fork for the current state of another server; it shares all objects up to a revision. */
  forkForState(sharedUpTo: Revision): Tree {
    return new Tree(this.#objects.fork(), sharedUpTo)
  }

  /** For the current state only: a fork for a present reader, which keeps joined leaves. */
  forkForReading(): Tree {
    return new Tree(this.#objects.fork(), this.#staysUpTo)
  }

  get size(): number {
    return this.#objects.size
  }

  get(key: string): StoredObject | undefined {
    return this.#objects.get(key)
  }

  /** Adds or replaces an object; returns the earlier object. */
  set(object: StoredObject): StoredObject | undefined {
    return this.#objects.set(object)
  }

  /** Removes an object and returns it. */
  delete(key: string): StoredObject | undefined {
    return this.#objects.delete(key)
  }

  /** The number of keys below this key. */
  rank(key: string): number {
    return this.#objects.rank(key)
  }

  /** The object that has this number of keys below it. */
  at(rank: number): StoredObject | undefined {
    return this.#objects.at(rank)
  }

  /** Objects with start ≤ key < end, leaf by leaf. The tree must not change meanwhile: walk a fork. */
  *walk(start: string, end: string): Generator<Run, void, undefined> {
    for (const { leaf, from, to } of this.#objects.walk(start, end))
      yield { objects: leaf.items, from, to, join: () => this.#join(leaf, from, to) }
  }

  *#join(leaf: Leaf<StoredObject, Joined>, from: number, to: number): Generator<Piece, void, undefined> {
    const joined = leaf.memo ?? this.#joinLeaf(leaf, from, to)
    if (joined === undefined) yield* this.#joinLarge(leaf.items, from, to)
    else yield { bytes: joined.bytes.subarray(joined.starts[from], joined.starts[to]! - 1), count: to - from }
  }

  /** Joins a whole leaf when a part is requested; undefined if the leaf is too large, or would need unrequested objects. */
  #joinLeaf(leaf: Leaf<StoredObject, Joined>, from: number, to: number): Joined | undefined {
    if (leaf.items.reduce((sum, { length }) => sum + length + 1, -1) > limits.joinedBytesMax) return undefined
    if (!leaf.items.every((object, index) => (from <= index && index < to) || isRead(object))) return undefined
    const joined = joinObjects(leaf.items)
    // The bytes of a past leaf must not hold present objects.
    if (this.#staysUpTo === Number.POSITIVE_INFINITY) return joined
    leaf.memo = joined
    moveInto(joined, leaf.items, this.#staysUpTo)
    return joined
  }

  /** A leaf of large objects comes in several pieces, so that a reader holds a few objects and never all. */
  *#joinLarge(objects: readonly StoredObject[], from: number, to: number): Generator<Piece, void, undefined> {
    for (let first = from; first < to; ) {
      let next = first + 1
      let length = objects[first]!.length
      while (next < to && length + 1 + objects[next]!.length <= limits.joinedBytesMax) length += 1 + objects[next++]!.length
      yield { bytes: this.#joinSpan(objects.slice(first, next), length), count: next - first }
      first = next
    }
  }

  #joinSpan(objects: readonly StoredObject[], length: number): Uint8Array {
    for (const object of objects) read(object)
    const { bytes, start } = at(objects, 0)
    if (isJoinedAlready(objects)) return bytes.subarray(start, start + length)
    const joined = joinObjects(objects)
    moveInto(joined, objects, this.#staysUpTo)
    return joined.bytes
  }
}

function joinObjects(objects: readonly StoredObject[]) {
  const starts = new Uint32Array(objects.length + 1)
  for (let index = 0; index < objects.length; index++) starts[index + 1] = starts[index]! + objects[index]!.length + 1
  const bytes = Buffer.allocUnsafeSlow(Math.max(0, starts[objects.length]! - 1))
  for (let index = 0; index < objects.length; index++) {
    if (index > 0) bytes[starts[index]! - 1] = comma
    bytes.set(jsonOf(objects[index]!), starts[index])
  }
  return { bytes, starts }
}

/** True if the objects are adjacent, with the comma of an earlier join between two objects. */
function isJoinedAlready(objects: readonly StoredObject[]): boolean {
  for (let index = 1; index < objects.length; index++) {
    const { bytes, start, length } = objects[index - 1]!
    const next = objects[index]!
    if (next.bytes !== bytes || next.start !== start + length + 1) return false
  }
  return true
}

/** Replaces each object's bytes by the joined bytes, so that memory holds them once, except for objects up to a revision. */
function moveInto(joined: Joined, objects: readonly StoredObject[], staysUpTo: Revision): void {
  for (let index = 0; index < objects.length; index++) {
    const object = objects[index]!
    if (object.revision <= staysUpTo) continue
    object.bytes = joined.bytes
    object.start = joined.starts[index]!
  }
}
