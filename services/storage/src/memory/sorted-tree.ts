import { at } from '@orch/core/json'

/** The largest number of items in a leaf and of children of a branch. */
const itemsMax = 64

type Key = string | number

interface Keyed<K extends Key = Key> {
  readonly key: K
}

/** Neighbouring items; a part of a tree that never changes while shared. */
export interface Leaf<T, Memo = never> {
  owner: object
  readonly items: T[]
  /** A reader's cached result about all items, which a change removes. */
  memo?: Memo | undefined
}

interface Branch<T, Memo> {
  owner: object
  readonly children: Node<T, Memo>[]
  /** The lowest key below each child; the key of the first child is unused. */
  readonly lows: Key[]
  size: number
}

type Node<T, Memo> = Leaf<T, Memo> | Branch<T, Memo>

/** A new node after the split node, and the lowest key below it. */
interface Split<N> {
  readonly node: N
  readonly low: Key
}

/** The replaced item, and the node with the items that had no room. */
interface Placed<T, N> {
  readonly replaced: T | undefined
  readonly split?: Split<N> | undefined
}

/** Consecutive items of one leaf. */
export interface Span<T, Memo = never> {
  readonly leaf: Leaf<T, Memo>
  readonly from: number
  readonly to: number
}

/**
 * Items in key order: a B+tree with copy-on-write nodes. `fork` returns a second tree in constant time. From then on each tree copies a shared node
 * before its first change, and changes the copy in place.
 *
 *   root ─┬─ leaf a b c      fork, then set(e'):     root' ─┬─ leaf a b c   (shared)
 *         └─ leaf d e f                                     └─ leaf d e' f  (copied; the old leaf is unchanged)
 */
export class SortedTree<T extends Keyed<K>, Memo = never, K extends Key = string> {
  #root: Node<T, Memo>
  #owner: object = {}

  private constructor(root?: Node<T, Memo>) {
    this.#root = root ?? { owner: this.#owner, items: [] }
  }

  static create<T extends Keyed<K>, Memo = never, K extends Key = string>(): SortedTree<T, Memo, K> {
    return new SortedTree<T, Memo, K>()
  }

  /** A separate tree with the same items. */
  fork(): SortedTree<T, Memo, K> {
    this.#owner = {}
    return new SortedTree(this.#root)
  }

  get size(): number {
    return sizeOf(this.#root)
  }

  get(key: K): T | undefined {
    let node = this.#root
    while ('children' in node) node = node.children[childOf(node, key)]!
    const item = node.items[lowerBound(node.items, key)]
    return item?.key === key ? item : undefined
  }

  /** Adds or replaces an item; returns the earlier item. */
  set(item: T): T | undefined {
    const root = this.#owned(this.#root)
    this.#root = root
    const { replaced, split } = this.#setBelow(root, item)
    if (split !== undefined) {
      const [children, size] = [[root, split.node], sizeOf(root) + sizeOf(split.node)]
      this.#root = { owner: this.#owner, children, lows: [split.low, split.low], size }
    }
    return replaced
  }

  /** Removes an item and returns it. */
  delete(key: K): T | undefined {
    this.#root = this.#owned(this.#root)
    const removed = this.#deleteBelow(this.#root, key)
    while ('children' in this.#root && this.#root.children.length === 1) this.#root = at(this.#root.children, 0)
    return removed
  }

  /** The number of keys below this key. */
  rank(key: K): number {
    let node = this.#root
    let rank = 0
    while ('children' in node) {
      const index = childOf(node, key)
      for (let before = 0; before < index; before++) rank += sizeOf(node.children[before]!)
      node = node.children[index]!
    }
    return rank + lowerBound(node.items, key)
  }

  /** The item that has this number of keys below it. */
  at(rank: number): T | undefined {
    let node = this.#root
    let left = rank
    while ('children' in node) {
      let index = 0
      while (index < node.children.length - 1 && left >= sizeOf(node.children[index]!)) left -= sizeOf(node.children[index++]!)
      node = node.children[index]!
    }
    return node.items[left]
  }

  /** Items with start ≤ key < end, leaf by leaf. The tree must not change meanwhile: walk a fork. */
  *walk(start: K, end: K): Generator<Span<T, Memo>, void, undefined> {
    for (const leaf of leavesFrom(this.#root, start)) {
      const { items } = leaf
      const from = lowerBound(items, start)
      const to = lowerBound(items, end)
      if (from < to) yield { leaf, from, to }
      if (to < items.length) return
    }
  }

  #setBelow(node: Node<T, Memo>, item: T): Placed<T, Node<T, Memo>> {
    if (!('children' in node)) return setInLeaf(node, item)
    const index = childOf(node, item.key)
    const child = this.#owned(at(node.children, index))
    node.children[index] = child
    const { replaced, split } = this.#setBelow(child, item)
    if (replaced === undefined) node.size++
    if (split === undefined) return { replaced }
    node.children.splice(index + 1, 0, split.node)
    node.lows.splice(index + 1, 0, split.low)
    return { replaced, split: splitBranch(node) }
  }

  #deleteBelow(node: Node<T, Memo>, key: K): T | undefined {
    if (!('children' in node)) {
      const place = lowerBound(node.items, key)
      return node.items[place]?.key === key ? node.items.splice(place, 1)[0] : undefined
    }
    const index = childOf(node, key)
    const child = this.#owned(at(node.children, index))
    node.children[index] = child
    const removed = this.#deleteBelow(child, key)
    if (removed === undefined) return undefined
    node.size--
    if (sizeOf(child) === 0 && node.children.length > 1) {
      node.children.splice(index, 1)
      node.lows.splice(index, 1)
    } else {
      mergeWithNext(node, index)
    }
    return removed
  }

  /** A node that this tree may change in place. */
  #owned(node: Node<T, Memo>): Node<T, Memo> {
    if (node.owner === this.#owner) {
      if ('items' in node) node.memo = undefined
      return node
    }
    if ('children' in node) return { owner: this.#owner, children: node.children.slice(), lows: node.lows.slice(), size: node.size }
    return { owner: this.#owner, items: node.items.slice() }
  }
}

function sizeOf<T, Memo>(node: Node<T, Memo>): number {
  return 'children' in node ? node.size : node.items.length
}

function childOf({ lows }: { readonly lows: readonly Key[] }, key: Key): number {
  let low = 1
  let high = lows.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (lows[middle]! <= key) low = middle + 1
    else high = middle
  }
  return low - 1
}

function lowerBound(items: readonly Keyed[], key: Key): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (items[middle]!.key < key) low = middle + 1
    else high = middle
  }
  return low
}

function setInLeaf<T extends Keyed, Memo>(leaf: Leaf<T, Memo>, item: T): Placed<T, Leaf<T, Memo>> {
  const { items } = leaf
  const last = items.at(-1)
  // The keys of a loaded store arrive in order.
  const index = last !== undefined && last.key < item.key ? items.length : lowerBound(items, item.key)
  const there = items[index]
  if (there?.key === item.key) {
    items[index] = item
    return { replaced: there }
  }
  items.splice(index, 0, item)
  if (items.length <= itemsMax) return { replaced: undefined }
  // Ordered keys fill their leaves: the new key begins a new leaf.
  const keep = index === items.length - 1 ? itemsMax : items.length >>> 1
  const node = { owner: leaf.owner, items: items.splice(keep) }
  return { replaced: undefined, split: { node, low: at(node.items, 0).key } }
}

function splitBranch<T, Memo>(branch: Branch<T, Memo>): Split<Branch<T, Memo>> | undefined {
  if (branch.children.length <= itemsMax) return undefined
  const half = branch.children.length >>> 1
  const children = branch.children.splice(half)
  const lows = branch.lows.splice(half)
  const size = children.reduce((sum, child) => sum + sizeOf(child), 0)
  branch.size -= size
  return { node: { owner: branch.owner, children, lows, size }, low: at(lows, 0) }
}

/** Two small neighbouring leaves are merged, so that deletions do not leave many small leaves. */
function mergeWithNext<T, Memo>(branch: Branch<T, Memo>, index: number): void {
  const child = at(branch.children, index)
  const next = branch.children[index + 1]
  if (next === undefined || 'children' in child || 'children' in next) return
  if (child.items.length + next.items.length > itemsMax >>> 1) return
  branch.children[index] = { owner: child.owner, items: [...child.items, ...next.items] }
  branch.children.splice(index + 1, 1)
  branch.lows.splice(index + 1, 1)
}

/** The leaves from a key on, or all. */
function* leavesFrom<T, Memo>(node: Node<T, Memo>, start?: Key): Generator<Leaf<T, Memo>, void, undefined> {
  if (!('children' in node)) {
    yield node
    return
  }
  const first = start === undefined ? 0 : childOf(node, start)
  for (const [index, child] of node.children.slice(first).entries()) yield* leavesFrom(child, index === 0 ? start : undefined)
}
