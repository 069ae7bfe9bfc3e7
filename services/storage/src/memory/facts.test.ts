import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { FactSet, Interner } from './stored-object.ts'

test('the facts of a text are parsed by name, once, and are frozen', () => {
  const set = new FactSet('{"app":"web","__proto__":"p","constructor":"c"}')
  const { map } = set
  expect(Object.entries(map)).toEqual([
    ['app', 'web'],
    ['__proto__', 'p'],
    ['constructor', 'c'],
  ])
  expect(Object.getPrototypeOf(map)).toBeNull()
  expect(Object.isFrozen(map)).toBe(true)
  expect(set.map).toBe(map)
  expect(set.text).toBe('{"app":"web","__proto__":"p","constructor":"c"}')
})

test('sets without facts share one map without a prototype', () => {
  const { map } = new FactSet('{}')
  expect([Object.keys(map), Object.getPrototypeOf(map), Object.isFrozen(map), map['constructor']]).toEqual([[], null, true, undefined])
  expect(new FactSet('{}').map).toBe(map)
})

test('equal texts share one set while it is referenced, beside any number of other texts', () => {
  const interner = new Interner()
  const held = Array.from({ length: 5_000 }, (_, index) => interner.intern(`{"n":"${index}"}`))
  expect(new Set(held).size).toBe(5_000)
  expect(held.every((set, index) => interner.intern(`{"n":"${index}"}`) === set)).toBe(true)
  expect(interner.size).toBe(5_000)
})

/** Collects all unreferenced sets. A WeakRef keeps its target until the end of the turn that created it. */
async function collect(): Promise<void> {
  setFlagsFromString('--expose-gc')
  const run = runInNewContext('gc') as () => void
  await setImmediate()
  run()
}

function fill(interner: Interner, name: string, count: number): FactSet[] {
  return Array.from({ length: count }, (_, index) => interner.intern(`{"${name}":"${index}"}`))
}

test('unreferenced sets are dropped once a thousand texts are cached', async () => {
  const interner = new Interner()
  const kept = interner.intern('{"kept":"yes"}')
  fill(interner, 'n', 1_023)
  await collect()
  expect(interner.size).toBe(1_024)
  interner.intern('{"more":"yes"}')
  expect([interner.size, interner.intern('{"kept":"yes"}') === kept]).toEqual([2, true])
})

test('unreferenced sets are searched again when the cache has doubled, if most sets are referenced', async () => {
  const interner = new Interner()
  const held = fill(interner, 'held', 1_024)
  // Checks all sets and removes none.
  fill(interner, 'more', 1_023)
  await collect()
  interner.intern('{"last":"1"}')
  expect(interner.size).toBe(2_048)
  interner.intern('{"last":"2"}')
  expect([interner.size, held.length]).toEqual([1_026, 1_024])
})
