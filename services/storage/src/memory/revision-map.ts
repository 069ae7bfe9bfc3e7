import type { Revision } from '@orch/core/meta'

/** The slots of a node. */
const width = 32

interface Leaf<T> {
  owner: object
  readonly items: (T | undefined)[]
  /** The occupied slots. */
  used: number
}

interface Branch<T> {
  owner: object
  readonly children: (Node<T> | undefined)[]
  used: number
}

type Node<T> = Leaf<T> | Branch<T>

/**
 * Items in revision order: a trie that copies shared nodes. `fork` returns a second map in constant time; from then on each of the two maps copies a
 * node before it changes it.
 */
export class RevisionMap<T extends object> {
  #root: Node<T> | undefined
  /** Levels of nodes below the root. */
  #height: number
  #owner: object = {}
  #size: number

  private constructor(root: Node<T> | undefined, height: number, size: number) {
    this.#root = root
    this.#height = height
    this.#size = size
  }

  static create<T extends object>(): RevisionMap<T> {
    return new RevisionMap<T>(undefined, 0, 0)
  }

  /** A separate map with the same items. */
  fork(): RevisionMap<T> {
    this.#owner = {}
    return new RevisionMap(this.#root, this.#height, this.#size)
  }

  get size(): number {
    return this.#size
  }

  get(revision: Revision): T | undefined {
    let span = width ** this.#height
    if (revision >= span * width) return undefined
    let node = this.#root
    for (; node !== undefined && 'children' in node; span /= width) node = node.children[slotOf(revision, span)]
    return node?.items[revision % width]
  }

  /** Adds or replaces an item. */
  set(revision: Revision, item: T): void {
    if (this.#root === undefined) while (revision >= width ** (this.#height + 1)) this.#height++
    while (revision >= width ** (this.#height + 1)) {
      this.#root = { owner: this.#owner, children: [this.#root], used: 1 }
      this.#height++
    }
    this.#root = this.#setBelow(this.#root, this.#height, revision, item)
  }

  /** Removes an item and returns it. */
  delete(revision: Revision): T | undefined {
    const found = this.get(revision)
    if (found === undefined || this.#root === undefined) return undefined
    this.#size--
    this.#root = this.#deleteBelow(this.#root, this.#height, revision)
    return found
  }

  clear(): void {
    this.#root = undefined
    this.#height = 0
    this.#size = 0
  }

  /** The item with the lowest revision. */
  first(): T | undefined {
    for (const item of this.after(0)) return item
    return undefined
  }

  /** Items above a revision, ascending. The map must not change meanwhile. */
  *after(revision: Revision): Generator<T, void, undefined> {
    if (this.#root !== undefined) yield* ascending(this.#root, this.#height, revision + 1)
  }

  /** Items above a revision, descending. The map must not change meanwhile. */
  *downTo(revision: Revision): Generator<T, void, undefined> {
    if (this.#root !== undefined) yield* descending(this.#root, this.#height, revision + 1)
  }

  #setBelow(node: Node<T> | undefined, level: number, revision: Revision, item: T): Node<T> {
    const owned = node === undefined ? this.#empty(level) : this.#owned(node)
    if ('children' in owned) {
      const slot = slotOf(revision, width ** level)
      const child = owned.children[slot]
      if (child === undefined) owned.used++
      owned.children[slot] = this.#setBelow(child, level - 1, revision, item)
    } else {
      const slot = revision % width
      if (owned.items[slot] === undefined) {
        owned.used++
        this.#size++
      }
      owned.items[slot] = item
    }
    return owned
  }

  /** Removes an existing revision; undefined if the node is then empty. */
  #deleteBelow(node: Node<T>, level: number, revision: Revision): Node<T> | undefined {
    const slot = slotOf(revision, width ** level)
    const child = 'children' in node ? node.children[slot] : undefined
    const left = child === undefined ? undefined : this.#deleteBelow(child, level - 1, revision)
    if (left === undefined && node.used === 1) return undefined
    const owned = this.#owned(node)
    if (left === undefined) owned.used--
    if ('children' in owned) owned.children[slot] = left
    else owned.items[slot] = undefined
    return owned
  }

  #empty(level: number): Node<T> {
    return level === 0 ? { owner: this.#owner, items: [], used: 0 } : { owner: this.#owner, children: [], used: 0 }
  }

  /** A node that this map may change in place. */
  #owned(node: Node<T>): Node<T> {
    if (node.owner === this.#owner) return node
    const { used } = node
    if ('children' in node) return { owner: this.#owner, children: node.children.slice(), used }
    return { owner: this.#owner, items: node.items.slice(), used }
  }
}

function slotOf(revision: Revision, span: number): number {
  return Math.floor(revision / span) % width
}

/** The items of a node from an offset on. */
function* ascending<T>(node: Node<T>, level: number, from: number): Generator<T, void, undefined> {
  if ('items' in node) {
    for (let slot = from; slot < node.items.length; slot++) {
      const item = node.items[slot]
      if (item !== undefined) yield item
    }
    return
  }
  const span = width ** level
  const first = Math.floor(from / span)
  for (let slot = first; slot < node.children.length; slot++) {
    const child = node.children[slot]
    if (child !== undefined) yield* ascending(child, level - 1, slot === first ? from - first * span : 0)
  }
}

function* descending<T>(node: Node<T>, level: number, from: number): Generator<T, void, undefined> {
  if ('items' in node) {
    for (let slot = node.items.length - 1; slot >= from; slot--) {
      const item = node.items[slot]
      if (item !== undefined) yield item
    }
    return
  }
  const span = width ** level
  const first = Math.floor(from / span)
  for (let slot = node.children.length - 1; slot >= first; slot--) {
    const child = node.children[slot]
    if (child !== undefined) yield* descending(child, level - 1, slot === first ? from - first * span : 0)
  }
}
