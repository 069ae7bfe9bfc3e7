import type { Change } from '@orch/core/contracts'
import { describe, expect, test } from 'vitest'
import { Window } from './window.ts'

const facts = { labels: {}, fields: {} }
const overheadBytes = 500

/** A change of a key with this number of content bytes; without `bytes` it is a deletion. */
const aChange = (revision: number, key: string, bytes?: number, beforeBytes?: number): Change => ({
  revision,
  previous: revision - 1,
  key,
  ...(bytes === undefined ? {} : { after: { value: new Uint8Array(bytes), metadataStart: 0, metadataEnd: 0, facts } }),
  ...(beforeBytes === undefined ? {} : { before: { revision: revision - 1, facts, value: new Uint8Array(beforeBytes) } }),
})

function holding(bytesMax: number, ...changes: Change[]): Window {
  const window = new Window({ from: 3, bytesMax })
  for (const change of changes) window.append(change)
  return window
}
const revisionsAfter = (window: Window, revision: number) => window.after(revision)?.map((change) => change.revision)

describe('a window', () => {
  test('WATCH-14: holds every change after its begin, and reports an earlier revision as expired', () => {
    const window = holding(1_000_000, aChange(4, 'a'), aChange(7, 'b'), aChange(9, 'a'))
    expect(window.from).toBe(3)
    expect([2, 3, 4, 6, 7, 9, 20].map((revision) => revisionsAfter(window, revision))).toEqual([
      undefined,
      [4, 7, 9],
      [7, 9],
      [7, 9],
      [9],
      [],
      [],
    ])
  })

  test('counts no bytes for previous content that is not part of the change', () => {
    const change: Change = { ...aChange(5, 'a', 10), before: { revision: 4, facts } }
    const room = 2 * (overheadBytes + 10)
    expect(holding(room, aChange(4, 'b', 10), change).from).toBe(3)
    expect(holding(room - 1, aChange(4, 'b', 10), change).from).toBe(4)
  })

  test('drops the oldest changes beyond its bound of bytes, and begins after them', () => {
    const changes = [aChange(4, 'a', 100, 50), aChange(5, 'b', 100), aChange(6, 'c')]
    const bytes = 3 * overheadBytes + 250
    expect(holding(bytes, ...changes).from).toBe(3)
    const smaller = holding(bytes - 1, ...changes)
    expect([smaller.from, revisionsAfter(smaller, 3), revisionsAfter(smaller, 4)]).toEqual([4, undefined, [5, 6]])
    expect(holding(2 * overheadBytes + 99, ...changes).from).toBe(5)
  })

  test('with a bound of zero holds no change, and begins at the last change', () => {
    const window = holding(0, aChange(4, 'a', 10), aChange(5, 'b', 10))
    expect([window.from, revisionsAfter(window, 5), revisionsAfter(window, 4)]).toEqual([5, [], undefined])
  })

  test('stays correct over thousands of changes', () => {
    const window = new Window({ from: 0, bytesMax: 100 * overheadBytes })
    for (let revision = 1; revision <= 5_000; revision += 1) {
      window.append(aChange(revision, `k${revision % 7}`))
      expect(window.from).toBe(Math.max(0, revision - 100))
      expect(revisionsAfter(window, revision - 1)).toEqual([revision])
    }
    expect(revisionsAfter(window, 4_900)).toEqual(Array.from({ length: 100 }, (_, index) => 4_901 + index))
  })

  test('finds the content of a key after its newest change while that change is held', () => {
    const window = holding(2 * overheadBytes + 30, aChange(4, 'a', 10), aChange(5, 'a', 20))
    expect([window.contentAt('a', 4), window.contentAt('a', 5)?.length, window.contentAt('b', 5)]).toEqual([undefined, 20, undefined])
    window.append(aChange(6, 'b', 10))
    expect([window.from, window.contentAt('a', 5)?.length]).toEqual([4, 20])
    window.append(aChange(7, 'b'))
    expect([window.from, window.contentAt('a', 5), window.contentAt('b', 7)]).toEqual([5, undefined, undefined])
  })
})
