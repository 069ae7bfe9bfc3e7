import { fc } from '@orch/testkit/chance'
import { expect, test } from 'vitest'
import { SortedTree } from './sorted-tree.ts'

interface Item {
  readonly key: number
  readonly text: string
}

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom('set' as const, 'set' as const, 'set' as const, 'delete' as const, 'fork' as const),
    key: fc.oneof(fc.nat(100), fc.nat(5_000), fc.nat(3_000_000_000)),
  }),
  { minLength: 50, maxLength: 300 },
)

const aTree = () => SortedTree.create<Item, never, number>()
const itemsFrom = (tree: ReturnType<typeof aTree>, start = 0) =>
  [...tree.walk(start, Number.POSITIVE_INFINITY)].flatMap(({ leaf, from, to }) => leaf.items.slice(from, to))

test('a tree by numbers equals a sorted map, read from any number, and its forks never change', () => {
  fc.assert(
    fc.property(steps, fc.nat(5_000), (todo, from) => {
      const tree = aTree()
      const model = new Map<number, Item>()
      const forks: { readonly fork: typeof tree; readonly content: readonly Item[] }[] = []
      const expected = () => [...model.values()].sort((a, b) => a.key - b.key)
      for (const [index, { kind, key }] of todo.entries()) {
        const item = { key, text: String(index) }
        if (kind === 'set') {
          expect(tree.set(item)).toBe(model.get(key))
          model.set(key, item)
        } else if (kind === 'delete') {
          const removed = [...model.keys()][key % (model.size + 1)] ?? key
          expect(tree.delete(removed)).toBe(model.get(removed))
          model.delete(removed)
        } else {
          forks.push({ fork: tree.fork(), content: expected() })
        }
      }
      expect(itemsFrom(tree)).toEqual(expected())
      expect(itemsFrom(tree, from)).toEqual(expected().filter((item) => item.key >= from))
      expect([tree.size, tree.get(from), tree.at(0)]).toEqual([model.size, model.get(from), expected()[0]])
      for (const { fork, content } of forks) expect([itemsFrom(fork), fork.size]).toEqual([content, content.length])
    }),
    { numRuns: 60 },
  )
})

test('writes to a fork leave the original tree unchanged', () => {
  const tree = aTree()
  for (let key = 1; key <= 100; key++) tree.set({ key, text: 'base' })
  const fork = tree.fork()
  fork.set({ key: 50, text: 'fork' })
  fork.delete(1)
  tree.set({ key: 101, text: 'base' })
  expect([tree.get(50)?.text, tree.get(1)?.text, tree.size]).toEqual(['base', 'base', 101])
  expect([fork.get(50)?.text, fork.get(1), fork.get(101), fork.size, fork.at(0)?.key]).toEqual(['fork', undefined, undefined, 99, 2])
})

test('a tree that is emptied can be filled again', () => {
  const tree = aTree()
  tree.set({ key: 70_000, text: 'a' })
  tree.delete(70_000)
  expect([tree.size, tree.at(0)]).toEqual([0, undefined])
  tree.set({ key: 2, text: 'b' })
  expect([tree.size, tree.get(2)?.text]).toEqual([1, 'b'])
})
