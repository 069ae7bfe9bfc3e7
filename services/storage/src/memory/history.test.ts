import type { Change, Facts } from '@orch/core/contracts'
import { encodeObject, encodeStored } from '@orch/core/stored'
import { describe, expect, test } from 'vitest'
import { limits } from '../limits.ts'
import { History } from './history.ts'
import {
  detach,
  FactSet,
  Interner,
  jsonOf,
  Slabs,
  type StoredObject,
  toChange,
  toEntry,
  toStored,
  toStoredObject,
} from './stored-object.ts'
import { Tree } from './tree.ts'

const room = { interner: new Interner(), slabs: new Slabs() }
function anObject(key: string, revision: number, labels: Record<string, string> = {}): StoredObject {
  const encoded = encodeObject({ metadata: { name: key, uid: 'u' }, at: revision })
  return toStoredObject(
    { key, revision, value: encodeStored({ fingerprint: 7, writeId: 'w', expiresAtMs: 9, encoded, labels, fields: {} }) },
    room,
  )
}

/** A tree and history after writes of the given keys in order; `-key` deletes. */
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
  test('returns changes after a revision in order, up to the limit', () => {
    const { history } = written(1_000_000, 'a', 'b', 'c')
    expect(history.after(2, 10).map(({ change }) => change.key)).toEqual(['b', 'c'])
    expect(history.after(1, 1).map(({ change }) => change.key)).toEqual(['a'])
  })

  test('gives every past state by undoing changes', () => {
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

  test('leaves objects outside of the range unchanged when it undoes changes', () => {
    const { tree, history } = written(1_000_000, 'p/a', 'q/c', 'p/a', 'q/c')
    const past = tree.fork()
    history.undo(past, 'p/', 2)
    expect(keysOf(past)).toEqual(['p/a@2', 'q/c@5'])
  })

  test('finds the object of a key at a revision', () => {
    const { history } = written(1_000_000, 'a', 'a', '-a')
    const revisionAt = (revision: number) => {
      const object = history.objectBefore('a', revision)
      return object === 'unchanged' ? object : object?.revision
    }
    expect([1, 2, 3, 4].map(revisionAt)).toEqual([undefined, 2, 3, 'unchanged'])
  })

  test('does not find the object of a key in changes of other keys', () => {
    const { history } = written(1_000_000, 'b', 'a', 'b')
    expect(history.objectBefore('c', 1)).toBe('unchanged')
    expect(history.objectBefore('b', 2)).toMatchObject({ key: 'b', revision: 2 })
    expect(history.objectBefore('a', 1)).toBeUndefined()
  })

  test('counts a change as its objects, before and after, and 400 bytes', () => {
    const { history } = written(1_000_000, 'a', 'a', '-a')
    const bytes = anObject('a', 2).length
    expect(history.bytes).toBe(3 * 400 + 4 * bytes)
    history.forget(2)
    expect(history.bytes).toBe(2 * 400 + 3 * bytes)
  })

  test('may use exactly its bound of bytes', () => {
    const bytes = 2 * 400 + 2 * anObject('a', 2).length
    expect(written(bytes, 'a', 'b').history.floor).toBe(1)
    expect(written(bytes - 1, 'a', 'b').history.floor).toBe(2)
    expect(written(0, 'a', 'b').history).toMatchObject({ floor: 3, bytes: 0 })
  })

  test('drops changes up to a revision, begins there, and never begins earlier again', () => {
    const { history } = written(1_000_000, 'a', 'b', 'c')
    history.forget(3)
    expect([history.floor, history.after(3, 10).map(({ change }) => change.key)]).toEqual([3, ['c']])
    history.forget(2)
    expect(history.floor).toBe(3)
    history.forget(10)
    expect([history.floor, history.bytes, history.after(10, 10)]).toEqual([10, 0, []])
  })

  test('leaves later changes unchanged when many are dropped', () => {
    const { history } = written(100_000_000, ...Array.from({ length: 3_000 }, (_, index) => `k${index}`))
    for (const upTo of [1_000, 1_400, 2_500]) {
      history.forget(upTo)
      expect(history.after(upTo, 3_000).map(({ change }) => change.revision)).toEqual(
        Array.from({ length: 3_001 - upTo }, (_, index) => upTo + 1 + index),
      )
      expect(history.objectBefore('k2999', upTo)).toBeUndefined()
    }
  })

  test('respects its bound of bytes, and reports the revision from which it is complete', () => {
    const { history } = written(2_000, ...Array.from({ length: 5_000 }, (_, index) => `k${index % 10}`))
    expect(history.bytes).toBeLessThanOrEqual(2_000)
    const held = history.after(history.floor, 10_000)
    expect(held[0]?.change.previous).toBe(history.floor)
    expect(held.at(-1)?.change.revision).toBe(5_001)
  })

  test('drops changes beyond a smaller bound at the next change', () => {
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

describe('a change in the form of the contract', () => {
  const change = { revision: 5, previous: 4, replaces: 3, key: 'a', writeId: 'w 00-trace-span-01' }
  const [before, after] = [anObject('a', 3, { x: '1' }), anObject('a', 5, { x: '2' })]
  const known = { revision: 5, previous: 4, key: 'a' }
  const shownBefore = { revision: 3, facts: { labels: { x: '1' }, fields: {} }, value: jsonOf(before), fingerprint: 7 }
  const { metadataStart, metadataEnd } = after
  const shownAfter = { value: jsonOf(after), metadataStart, metadataEnd, facts: { labels: { x: '2' }, fields: {} }, fingerprint: 7 }

  const readFacts = <T extends { readonly facts: Facts }>(content: T) => ({
    ...content,
    facts: { labels: content.facts.labels, fields: content.facts.fields },
  })
  const shownOf = ({ before, after, ...rest }: Change) => ({
    ...rest,
    ...(before && { before: readFacts(before) }),
    ...(after && { after: readFacts(after) }),
  })

  test('has the objects before and after it, if they exist', () => {
    expect(shownOf(toChange(change, after, before))).toEqual({ ...known, before: shownBefore, after: shownAfter })
    expect(shownOf(toChange(change, after, undefined))).toEqual({ ...known, after: shownAfter })
    expect(shownOf(toChange(change, undefined, before))).toEqual({ ...known, before: shownBefore })
  })

  test('parses facts at their first use', () => {
    const { after: content } = toChange(change, { ...after, labels: new FactSet('unparsed') }, undefined)
    expect(content?.facts.fields).toEqual({})
    expect(() => content?.facts.labels).toThrow(SyntaxError)
  })

  test('has its time, and the trace of its write if it has just happened', () => {
    expect(toChange(change, undefined, undefined, 7)).toStrictEqual({ ...known, committedMs: 7, traceparent: '00-trace-span-01' })
    expect(toChange(change, undefined, undefined)).toStrictEqual(known)
    expect(toChange({ ...change, writeId: 'w' }, undefined, undefined, 7)).toStrictEqual({ ...known, committedMs: 7 })
  })
})

test('equal label sets share one object, whose map has no prototype', () => {
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

test('an object in memory can be stored again unchanged', () => {
  const encoded = encodeObject({ metadata: { name: 'a', uid: 'u' }, text: 'größe' })
  const parts = { fingerprint: 7, expiresAtMs: 9, encoded, labels: { a: '1' }, fields: { f: 'x' } }
  const object = toStoredObject({ key: 'k', revision: 12, value: encodeStored({ ...parts, writeId: 'first' }) }, room)
  expect(Buffer.from(toStored(object, 'second'))).toEqual(Buffer.from(encodeStored({ ...parts, writeId: 'second' })))
})

test('an entry is the object with its key, revision and write id', () => {
  const object = anObject('a', 12)
  const { metadataStart, metadataEnd } = object
  const value = jsonOf(object)
  expect(toEntry(object)).toEqual({ key: 'a', revision: 12, value, metadataStart, metadataEnd, writeId: 'w', fingerprint: 7 })
  expect(JSON.parse(Buffer.from(jsonOf(object)).toString())).toMatchObject({ metadata: { name: 'a', resourceVersion: '12' }, at: 12 })
})

test('a detached object is in another buffer and reads the same', () => {
  const object = anObject('a', 12)
  const { bytes } = object
  const json = Buffer.from(jsonOf(object)).toString()
  const slabs = new Slabs()
  slabs.reserve(10)
  detach(object, slabs)
  expect([object.bytes === slabs.bytes, object.bytes === bytes, object.start]).toEqual([true, false, 10])
  expect(Buffer.from(jsonOf(object)).toString()).toBe(json)
})

test('an object without facts has no names', () => {
  expect(Object.keys(anObject('a', 1).labels.map)).toEqual([])
  expect(Object.getPrototypeOf(anObject('a', 1).labels.map)).toBe(null)
})

describe('slabs', () => {
  test('store objects side by side until one slab is full, and count their bytes', () => {
    const slabs = new Slabs()
    const { bytes } = slabs
    expect([slabs.reserve(10), slabs.reserve(limits.firstSlabBytes - 10)]).toEqual([0, 10])
    expect(slabs.bytes).toBe(bytes)
    expect(slabs.reserve(1)).toBe(0)
    expect(slabs.bytes).not.toBe(bytes)
    expect([slabs.bytes.length, slabs.allocated]).toEqual([2 * limits.firstSlabBytes, limits.firstSlabBytes + 1])
  })

  test('become larger up to a bound', () => {
    const slabs = new Slabs()
    const lengths = new Set<number>()
    for (let count = 0; count < 1_000; count += 1) {
      slabs.reserve(1_000)
      lengths.add(slabs.bytes.length)
    }
    expect([...lengths]).toEqual([8, 16, 32, 64, 128, 256].map((kilobytes) => kilobytes * 1024))
    expect([...lengths].at(-1)).toBe(limits.slabBytes)
  })

  test('store a larger object separately', () => {
    const slabs = new Slabs()
    expect([slabs.reserve(limits.slabBytes + 5), slabs.bytes.length]).toEqual([0, limits.slabBytes + 5])
    expect([slabs.reserve(1), slabs.bytes.length]).toEqual([0, 4 * limits.firstSlabBytes])
  })
})
