import type { Entry } from '@orch/core/contracts'
import { expect, test } from 'vitest'
import { type ItemPiece, type ItemRepresentation, itemPieces } from './protobuf-items.ts'
import { Representations } from './representation-cache.ts'

function anEntry(key: string, revision = 1, length = 10): Entry {
  return { key, revision, value: new Uint8Array(length), metadataStart: 0, metadataEnd: 0, writeId: '' }
}

/** Items made of keys and revisions; `made` has the keys of each call. */
function aRepresentation() {
  const made: string[][] = []
  const representation: ItemRepresentation = {
    name: 'item',
    encode(entries) {
      made.push(entries.map(({ key }) => key))
      const texts = entries.map(({ key, revision }) => `${key}${revision};`)
      const bytes = new TextEncoder().encode(texts.join(''))
      let at = 0
      return texts.map((text) => {
        at += text.length
        return bytes.subarray(at - text.length, at)
      })
    },
  }
  return { representation, made }
}

function textsOf(pieces: Iterable<ItemPiece>): string[] {
  return [...pieces].map(({ bytes }) => new TextDecoder().decode(bytes))
}

test('items are encoded in one step, and sent from the cache the second time', () => {
  const { representation, made } = aRepresentation()
  const representations = new Representations(1_000)
  const entries = ['a', 'b', 'c'].map((key) => anEntry(key))
  const pieces = [...itemPieces(entries, representation, representations), ...itemPieces(entries, representation, representations)]
  expect(textsOf(pieces)).toEqual(['a1;b1;c1;', 'a1;b1;c1;'])
  expect(pieces.map(({ wasReady }) => wasReady)).toEqual([false, true])
  expect(pieces[1]?.bytes.buffer).toBe(pieces[0]?.bytes.buffer)
  expect(made).toEqual([['a', 'b', 'c']])
  expect(representations.bytes).toBe(9)
})

test('only changed items are encoded again, and consecutive items are joined once', () => {
  const { representation, made } = aRepresentation()
  const representations = new Representations(1_000)
  expect(
    textsOf(
      itemPieces(
        ['a', 'b', 'c'].map((key) => anEntry(key)),
        representation,
        representations,
      ),
    ),
  ).toEqual(['a1;b1;c1;'])
  const changed = [anEntry('a'), anEntry('b', 2), anEntry('c'), anEntry('d')]
  const pieces = [...itemPieces(changed, representation, representations), ...itemPieces(changed, representation, representations)]
  expect(textsOf(pieces)).toEqual(['a1;b2;c1;d1;', 'a1;b2;c1;d1;'])
  expect(pieces.map(({ wasReady }) => wasReady)).toEqual([false, true])
  expect(pieces[1]?.bytes.buffer).toBe(pieces[0]?.bytes.buffer)
  expect(made).toEqual([
    ['a', 'b', 'c'],
    ['b', 'd'],
  ])
})

test('large objects are encoded a few at a time, and without a cache nothing is stored', () => {
  const { representation, made } = aRepresentation()
  const entries = ['a', 'b', 'c', 'd'].map((key, index) => anEntry(key, 1, index === 1 ? 1_000_000 : 100_000))
  expect(textsOf(itemPieces(entries, representation, undefined))).toEqual(['a1;', 'b1;', 'c1;d1;'])
  expect(made).toEqual([['a'], ['b'], ['c', 'd']])
})
