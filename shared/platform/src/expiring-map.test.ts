import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { ExpiringMap } from './expiring-map.ts'

test('a value has the rest of its lifetime, and is absent from its end on', () => {
  const clock = createFakeClock()
  const map = new ExpiringMap<string | undefined>(2, clock)
  map.set('a', 'x', 100)
  map.set('b', undefined, 200)
  expect([map.get('a'), map.get('other')]).toEqual([{ value: 'x', leftMs: 100 }, undefined])
  clock.advance(99)
  expect(map.get('a')).toEqual({ value: 'x', leftMs: 1 })
  clock.advance(1)
  expect([map.get('a'), map.get('b')]).toEqual([undefined, { value: undefined, leftMs: 100 }])
})

test('a value that is set again has its new lifetime, and a lifetime of 0 removes it', () => {
  const clock = createFakeClock()
  const map = new ExpiringMap<string>(2, clock)
  map.set('a', 'x', 100)
  clock.advance(50)
  map.set('a', 'y', 100)
  clock.advance(99)
  expect(map.get('a')).toEqual({ value: 'y', leftMs: 1 })
  map.set('a', 'z', 0)
  expect(map.get('a')).toBeUndefined()
})

test('an expired value that was asked for leaves room for another', () => {
  const clock = createFakeClock()
  const map = new ExpiringMap<string>(2, clock)
  map.set('long', 'x', 1_000)
  map.set('short', 'y', 10)
  clock.advance(10)
  map.get('short')
  map.set('new', 'z', 10)
  expect([map.get('long')?.value, map.get('new')?.value]).toEqual(['x', 'z'])
  map.set('newer', 'a', 10)
  expect([map.get('long'), map.get('new')?.value, map.get('newer')?.value]).toEqual([undefined, 'z', 'a'])
})

test('a value without a lifetime displaces no other', () => {
  const map = new ExpiringMap<string>(1, createFakeClock())
  map.set('a', 'x', 10)
  map.set('b', 'y', 0)
  expect(map.get('a')?.value).toBe('x')
})
