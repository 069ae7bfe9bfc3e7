import { fc } from '@orch/testkit/chance'
import { expect, test } from 'vitest'
import { RevisionMap } from './revision-map.ts'

interface Item {
  readonly revision: number
  readonly text: string
}

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom('set' as const, 'set' as const, 'set' as const, 'delete' as const, 'fork' as const),
    revision: fc.oneof(fc.nat(100), fc.nat(5_000), fc.nat(3_000_000_000)),
  }),
  { minLength: 50, maxLength: 300 },
)

const contentOf = (map: RevisionMap<Item>) => [...map.after(-1)]

test('a map of revisions equals a sorted map, read from both ends and from any revision, and its forks never change', () => {
  fc.assert(
    fc.property(steps, fc.nat(5_000), (todo, from) => {
      const map = RevisionMap.create<Item>()
      const model = new Map<number, Item>()
      const forks: { readonly fork: RevisionMap<Item>; readonly content: readonly Item[] }[] = []
      const expected = () => [...model.values()].sort((a, b) => a.revision - b.revision)
      for (const [index, { kind, revision }] of todo.entries()) {
        const item = { revision, text: String(index) }
        if (kind === 'set') {
          map.set(revision, item)
          model.set(revision, item)
        } else if (kind === 'delete') {
          const key = [...model.keys()][revision % (model.size + 1)] ?? revision
          expect(map.delete(key)).toBe(model.get(key))
          model.delete(key)
        } else {
          forks.push({ fork: map.fork(), content: expected() })
        }
      }
      const above = expected().filter((item) => item.revision > from)
      expect(contentOf(map)).toEqual(expected())
      expect([...map.after(from)]).toEqual(above)
      expect([...map.downTo(from)]).toEqual(above.toReversed())
      expect([map.size, map.get(from)]).toEqual([model.size, model.get(from)])
      for (const { fork, content } of forks) expect([contentOf(fork), fork.size]).toEqual([content, content.length])
    }),
    { numRuns: 60 },
  )
})

test('writes to a fork leave the original map unchanged', () => {
  const map = RevisionMap.create<Item>()
  for (let revision = 1; revision <= 100; revision++) map.set(revision, { revision, text: 'base' })
  const fork = map.fork()
  fork.set(50, { revision: 50, text: 'fork' })
  fork.delete(1)
  map.set(101, { revision: 101, text: 'base' })
  expect([map.get(50)?.text, map.get(1)?.text, map.size]).toEqual(['base', 'base', 101])
  expect([fork.get(50)?.text, fork.get(1), fork.get(101), fork.size, fork.first()?.revision]).toEqual(['fork', undefined, undefined, 99, 2])
})

test('a map that is cleared or emptied can be filled again', () => {
  const map = RevisionMap.create<Item>()
  map.set(70_000, { revision: 70_000, text: 'a' })
  map.delete(70_000)
  expect([map.size, map.first()]).toEqual([0, undefined])
  map.set(2, { revision: 2, text: 'b' })
  map.clear()
  expect([map.size, map.get(2), contentOf(map)]).toEqual([0, undefined, []])
})
