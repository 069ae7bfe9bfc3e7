import { encodeObject, encodeStored } from '@orch/core/stored'
import { fc } from '@orch/testkit/chance'
import { describe, expect, test } from 'vitest'
import { Interner, Slabs, type StoredObject, toStoredObject } from './stored-object.ts'
import { type Piece, Tree } from './tree.ts'

const room = { interner: new Interner(), slabs: new Slabs() }
function anObject(key: string, revision = 1, text = ''): StoredObject {
  const encoded = encodeObject({ metadata: { name: key }, at: revision, text })
  return toStoredObject(
    { key, revision, value: encodeStored({ fingerprint: 1, writeId: '', expiresAtMs: 0, encoded, labels: {}, fields: {} }) },
    room,
  )
}

const keyOf = (number: number) => `k/${String(number).padStart(4, '0')}`

function contentOf(tree: Tree, start = '', end = '\uffff'): string[] {
  const content: string[] = []
  for (const { objects, from, to } of tree.walk(start, end))
    for (const { key, revision } of objects.slice(from, to)) content.push(`${key}@${revision}`)
  return content
}

function piecesOf(tree: Tree): Piece[] {
  return [...tree.walk('', '\uffff')].flatMap((run) => [...run.join()])
}

/** The content according to the joined JSON. */
function joinedOf(tree: Tree): string[] {
  const content: string[] = []
  for (const { bytes, count } of piecesOf(tree)) {
    const objects = JSON.parse(`[${new TextDecoder().decode(bytes)}]`) as { metadata: { name: string; resourceVersion: string } }[]
    expect(objects).toHaveLength(count)
    for (const { metadata } of objects) content.push(`${metadata.name}@${metadata.resourceVersion}`)
  }
  return content
}

const modelOf = (model: ReadonlyMap<string, number>) =>
  [...model].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, revision]) => `${key}@${revision}`)

const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('set' as const), number: fc.nat(400) }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('delete' as const), number: fc.nat(400) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('fork' as const, 'join' as const), number: fc.constant(0) }) },
  ),
  { minLength: 200, maxLength: 900 },
)

describe('Tree', () => {
  test('equals a sorted map, and forks never change', () => {
    fc.assert(
      fc.property(steps, (todo) => {
        const tree = Tree.create()
        const model = new Map<string, number>()
        const forks: { fork: Tree; content: string[] }[] = []
        let revision = 0
        for (const { kind, number } of todo) {
          const key = keyOf(number)
          if (kind === 'set') {
            revision++
            expect(tree.set(anObject(key, revision))?.revision).toBe(model.get(key))
            model.set(key, revision)
          } else if (kind === 'delete') {
            expect(tree.delete(key)?.revision).toBe(model.get(key))
            model.delete(key)
          } else if (kind === 'fork')
            forks.push({ fork: forks.length % 2 === 0 ? tree.fork() : tree.forkForReading(), content: modelOf(model) })
          else expect(joinedOf(tree)).toEqual(modelOf(model))
        }
        const content = modelOf(model)
        expect(contentOf(tree)).toEqual(content)
        expect(joinedOf(tree)).toEqual(content)
        expect(tree.size).toBe(model.size)
        for (const { fork, content: then } of forks) {
          expect(contentOf(fork)).toEqual(then)
          expect(joinedOf(fork)).toEqual(then)
        }
      }),
      { numRuns: 40 },
    )
  })

  test('rank and at agree with the order of keys', () => {
    const tree = Tree.create()
    for (let number = 0; number < 1_000; number++) tree.set(anObject(keyOf((number * 7) % 1_000)))
    for (let number = 0; number < 1_000; number += 37) {
      expect(tree.rank(keyOf(number))).toBe(number)
      expect(tree.at(number)?.key).toBe(keyOf(number))
    }
    expect([tree.rank('a'), tree.rank('z'), tree.at(1_000)]).toEqual([0, 1_000, undefined])
  })

  test('gives correct results of rank, at and size after leaves were added and removed', () => {
    const tree = Tree.create()
    for (let number = 0; number < 6_000; number++) tree.set(anObject(keyOf(number)))
    for (let number = 0; number < 6_000; number++) if (number % 50 !== 0) tree.delete(keyOf(number))
    expect(tree.delete('absent')).toBeUndefined()
    expect(tree.size).toBe(120)
    for (let rank = 0; rank < 120; rank += 1) {
      expect(tree.rank(keyOf(rank * 50))).toBe(rank)
      expect(tree.rank(keyOf(rank * 50 + 1))).toBe(rank + 1)
      expect(tree.at(rank)?.key).toBe(keyOf(rank * 50))
    }
    for (let rank = 0; rank < 120; rank += 1) tree.delete(keyOf(rank * 50))
    expect([tree.size, tree.at(0), contentOf(tree)]).toEqual([0, undefined, []])
    tree.set(anObject('a'))
    expect(contentOf(tree)).toEqual(['a@1'])
  })

  test('fills leaves with keys in ascending order, and joins leaves that are nearly empty', () => {
    const leaves = (tree: Tree) => [...tree.walk('', '\uffff')].map(({ from, to }) => to - from)
    const tree = Tree.create()
    for (let number = 0; number < 130; number++) tree.set(anObject(keyOf(number)))
    expect(leaves(tree)).toEqual([64, 64, 2])
    for (let number = 0; number < 60; number++) tree.delete(keyOf(number))
    for (let number = 64; number < 100; number++) tree.delete(keyOf(number))
    expect(leaves(tree)).toEqual([4, 30])
    tree.delete(keyOf(60))
    expect(leaves(tree)).toEqual([3, 30])
    tree.delete(keyOf(61))
    expect(leaves(tree)).toEqual([32])
    expect(contentOf(tree)).toHaveLength(tree.size)
  })

  test('divides a full leaf into halves for keys in another order', () => {
    const tree = Tree.create()
    for (let number = 0; number < 65; number++) tree.set(anObject(keyOf(100 - number)))
    expect([...tree.walk('', '\uffff')].map(({ from, to }) => to - from)).toEqual([32, 33])
  })

  test('walks a range with its start included and its end excluded', () => {
    const tree = Tree.create()
    for (let number = 0; number < 500; number++) tree.set(anObject(keyOf(number)))
    expect(contentOf(tree, keyOf(130), keyOf(133))).toEqual([`${keyOf(130)}@1`, `${keyOf(131)}@1`, `${keyOf(132)}@1`])
    expect(contentOf(tree, keyOf(499), 'z')).toHaveLength(1)
    expect(contentOf(tree, 'z', 'zz')).toEqual([])
  })

  test('joins a leaf into one buffer, and joining it again costs nothing', () => {
    const tree = Tree.create()
    const objects = Array.from({ length: 10 }, (_, number) => anObject(keyOf(number)))
    for (const object of objects) tree.set(object)
    const join = () => piecesOf(tree.forkForReading())[0]!.bytes
    const first = join()
    expect(new Set(objects.map(({ bytes }) => bytes.buffer))).toEqual(new Set([first.buffer]))
    expect(join().buffer).toBe(first.buffer)
    tree.set(anObject(keyOf(3), 2))
    expect(join().buffer).not.toBe(first.buffer)
  })

  test('joins large objects into pieces of a bounded size, which are cached, and leaves a larger object separate', () => {
    const tree = Tree.create()
    const lengths = [300_000, 400_000, 500_000, 1_500_000, 10, 20]
    lengths.forEach((length, number) => {
      tree.set(anObject(keyOf(number), 1, 'x'.repeat(length)))
    })
    const pieces = piecesOf(tree.forkForReading())
    expect(pieces.map(({ count }) => count)).toEqual([2, 1, 1, 2])
    expect(joinedOf(tree)).toEqual(lengths.map((_, number) => `${keyOf(number)}@1`))
    expect(piecesOf(tree.forkForReading()).map(({ bytes }) => bytes.buffer)).toEqual(pieces.map(({ bytes }) => bytes.buffer))
  })

  test('joins a past with large objects without moving current objects', () => {
    const tree = Tree.create()
    for (let number = 0; number < 5; number++) tree.set(anObject(keyOf(number), 1, 'x'.repeat(400_000)))
    const places = () => Array.from({ length: 5 }, (_, number) => tree.get(keyOf(number))!.bytes.buffer)
    const before = places()
    expect(joinedOf(tree.fork())).toHaveLength(5)
    expect(places().every((buffer, number) => buffer === before[number])).toBe(true)
  })
})
