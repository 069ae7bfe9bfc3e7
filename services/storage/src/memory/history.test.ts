import { encodeObject, encodeStored } from '@orch/core'
import { describe, expect, test } from 'vitest'
import { Interner } from './facts.ts'
import { History, toChange } from './history.ts'
import { Slabs } from './slabs.ts'
import { type StoredObject, toStored, toStoredObject } from './stored-object.ts'
import { Tree } from './tree.ts'

const room = { interner: new Interner(), slabs: new Slabs() }
function anObject(key: string, revision: number, labels: Record<string, string> = {}): StoredObject {
  const encoded = encodeObject({ metadata: { name: key, uid: 'u' }, at: revision })
  return toStoredObject(key, revision, encodeStored({ fingerprint: 7, writeId: 'w', expiresAtMs: 9, encoded, labels, fields: {} }), room)
}

/** A tree and history in which the given keys were written one after the other; `-key` deletes. */
function written(bytesMax: number, ...keys: string[]): { tree: Tree; history: History } {
  const tree = Tree.create()
  const history = new History(1, bytesMax)
  for (const [index, word] of keys.entries()) {
    const revision = index + 2
    const key = word.replace('-', '')
    const after = word.startsWith('-') ? undefined : anObject(key, revision)
    const before = after === undefined ? tree.delete(key) : tree.set(after)
    const change = toChange({ revision, previous: revision - 1, replaces: before?.revision ?? 0, key, writeId: '' }, after, before)
    history.push({ change, before, after })
  }
  return { tree, history }
}

function keysOf(tree: Tree): string[] {
  return [...tree.walk('', '\uffff')].flatMap(({ objects, from, to }) =>
    objects.slice(from, to).map(({ key, revision }) => `${key}@${revision}`),
  )
}

describe('History', () => {
  test('changes after a revision come in order, as many as asked', () => {
    const { history } = written(1_000_000, 'a', 'b', 'c')
    expect(history.after(2, 10).map(({ change }) => change.key)).toEqual(['b', 'c'])
    expect(history.after(1, 1).map(({ change }) => change.key)).toEqual(['a'])
  })

  test('undoing gives every state of the past', () => {
    const { tree, history } = written(1_000_000, 'p/a', 'p/b', 'p/a', '-p/b', 'q/c', 'p/b')
    const states = [1, 2, 3, 4, 5, 6, 7].map((revision) => {
      const past = tree.fork()
      history.undo(past, 'p/', revision)
      return keysOf(past)
        .filter((line) => line.startsWith('p/'))
        .join(' ')
    })
    expect(states).toEqual(['', 'p/a@2', 'p/a@2 p/b@3', 'p/a@4 p/b@3', 'p/a@4', 'p/a@4', 'p/a@4 p/b@7'])
    expect(keysOf(tree)).toEqual(['p/a@4', 'p/b@7', 'q/c@6'])
  })

  test('what a key held at a revision', () => {
    const { history } = written(1_000_000, 'a', 'a', '-a')
    const revisionAt = (revision: number) => {
      const object = history.objectBefore('a', revision)
      return object === 'unchanged' ? object : object?.revision
    }
    expect([1, 2, 3, 4].map(revisionAt)).toEqual([undefined, 2, 3, 'unchanged'])
  })

  test('it keeps to its bytes and says from where on it is complete', () => {
    const { history } = written(2_000, ...Array.from({ length: 5_000 }, (_, index) => `k${index % 10}`))
    expect(history.bytes).toBeLessThanOrEqual(2_000)
    const held = history.after(history.floor, 10_000)
    expect(held[0]?.change.previous).toBe(history.floor)
    expect(held.at(-1)?.change.revision).toBe(5_001)
  })

  test('with less room it drops what does not fit at the next change', () => {
    const { tree, history } = written(1_000_000, 'a', 'b', 'c')
    history.bytesMax = 600
    const after = anObject('d', 5)
    history.push({
      change: toChange({ revision: 5, previous: 4, replaces: 0, key: 'd', writeId: '' }, after, tree.set(after)),
      before: undefined,
      after,
    })
    expect(history.after(history.floor, 10).map(({ change }) => change.key)).toEqual(['d'])
  })
})

test('equal label sets are one object, and their facts have no prototype', () => {
  const [one, two, three] = [
    anObject('a', 1, { x: '1', y: '2' }),
    anObject('b', 2, { y: '2', x: '1' }),
    anObject('c', 3, JSON.parse('{"__proto__":"2"}')),
  ]
  expect(one.labels).toBe(two.labels)
  expect(one.labels).not.toBe(three.labels)
  expect(Object.getPrototypeOf(one.labels.map)).toBe(null)
  expect(Object.keys(three.labels.map)).toEqual(['__proto__'])
})

test('an object in memory can be stored again as it was', () => {
  const encoded = encodeObject({ metadata: { name: 'a', uid: 'u' }, text: 'größe' })
  const parts = { fingerprint: 7, expiresAtMs: 9, encoded, labels: { a: '1' }, fields: { f: 'x' } }
  const object = toStoredObject('k', 12, encodeStored({ ...parts, writeId: 'first' }), room)
  expect(Buffer.from(toStored(object, 'second'))).toEqual(Buffer.from(encodeStored({ ...parts, writeId: 'second' })))
})
