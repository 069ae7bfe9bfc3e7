import { seededChance } from '@orch/platform'
import { expect, test } from 'vitest'
import { limits } from '../limits.ts'
import { LogPage } from './log-page.ts'
import { LogPages } from './log-pages.ts'
import type { LogEntry } from './tables.ts'

/** An entry of a key with a text of about this size. */
function anEntry(revision: number, bytes: number, key = `k${revision % 7}`): LogEntry {
  const value = Buffer.from(`${revision} ${'some text '.repeat(bytes / 10)}`)
  const origin = { request: `request ${revision}`, user: 'user' }
  return {
    revision,
    previous: revision - 1,
    replaces: Math.max(0, revision - 7),
    key,
    writeId: `w${revision}`,
    value,
    timeMs: revision,
    origin,
  }
}

function shown(log: LogPages, after = 0): string[] {
  return [...log.after(after)].map((entry) => {
    const { revision, previous, replaces, key, writeId, timeMs, origin, value } = entry
    return JSON.stringify([
      revision,
      previous,
      replaces,
      key,
      writeId,
      timeMs,
      origin,
      value === undefined ? null : Buffer.from(value).toString(),
    ])
  })
}

test('logs and their forks have the entries that they append, amend and do not remove, in any order, drawn from a seed', () => {
  const { fraction } = seededChance(40)
  const below = (bound: number) => Math.floor(fraction() * bound)
  const worlds: { log: LogPages; model: Map<number, LogEntry>; next: number }[] = [{ log: new LogPages(), model: new Map(), next: 1 }]
  for (let step = 0; step < 60; step++) {
    const one = worlds[below(worlds.length)]
    if (one === undefined) continue
    for (let count = below(60); count > 0; count--) {
      const entry = anEntry(one.next++, below(20) === 0 ? 100_000 : below(3_000))
      const deleted = { ...entry, value: undefined }
      // Deletions without an origin share their content.
      const appended = [deleted, { ...deleted, writeId: 'w', timeMs: below(2), origin: undefined }][below(9)] ?? entry
      one.log.append(appended, appended.key)
      one.model.set(appended.revision, appended)
    }
    const removed = [...one.model.keys()].filter(() => step % 3 === 0 && fraction() < 0.7)
    one.log.remove([...removed, 1_000_000])
    for (const revision of removed) one.model.delete(revision)
    const amended = [...one.model.values()].find(({ value }) => value !== undefined)
    if (amended !== undefined && below(4) === 0) {
      one.log.amend(amended.revision, Buffer.from('amended'))
      one.model.set(amended.revision, { ...amended, value: Buffer.from('amended') })
    }
    if (below(8) === 0) worlds.push({ log: one.log.fork(), model: new Map(one.model), next: one.next })
  }
  for (const { log, model } of worlds) {
    const expected = new LogPages()
    for (const entry of model.values()) expected.append(entry, entry.key)
    expect(shown(log)).toEqual(shown(expected))
    expect(shown(log, 200)).toEqual(shown(expected, 200))
    expect([...model.keys()].every((revision) => log.get(revision)?.revision === revision)).toBe(true)
  }
})

test('a log is packed but for its newest bytes, and a removed entry leaves at most the bytes of another', () => {
  const log = new LogPages()
  const count = 1_000
  for (let revision = 1; revision <= count; revision++) log.append(anEntry(revision, 10_000), 'k')
  expect(log.size).toBeLessThan(limits.plainLogBytesMax * 2)
  expect(log.density).toBeLessThan(0.8)
  log.remove(Array.from({ length: count }, (_, index) => index + 1).filter((revision) => revision % 100 !== 0))
  expect([...log.after(0)].map(({ revision }) => revision)).toEqual(Array.from({ length: 10 }, (_, index) => (index + 1) * 100))
  expect(log.size).toBeLessThan(3 * 10 * 10_000)
})

test('a page has a bounded number of deletions, even if they share their content', () => {
  const page = new LogPage()
  const deletion = { ...anEntry(1, 10), value: undefined, origin: undefined }
  for (let count = 0; count < limits.logPageBytes && page.append(deletion, 'k'); count++);
  expect(page.count).toBeLessThan(limits.logPageBytes / 10)
})
