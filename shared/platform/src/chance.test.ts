import { expect, test } from 'vitest'
import { type Chance, seededChance, systemChance } from './chance.ts'

const uuidV4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const some = (chance: Chance) => [chance.uuid(), chance.fraction(), Buffer.from(chance.bytes(10_000)).toString('hex'), chance.uuid()]

test('one seed gives the same values each time, and another seed gives other values', () => {
  expect(some(seededChance(7))).toEqual(some(seededChance(7)))
  expect(some(seededChance(8))).not.toEqual(some(seededChance(7)))
})

test('a draw for one purpose changes nothing for another', () => {
  const [one, other] = [seededChance(7), seededChance(7)]
  other.stream('audit id').uuid()
  other.uuid()
  expect(other.stream('uid').uuid()).toBe(one.stream('uid').uuid())
  expect(one.stream('audit id').uuid()).not.toBe(one.stream('uid').uuid())
})

test('a stream that is requested again continues after its last draw', () => {
  const chance = seededChance(7)
  const first = chance.stream('uid').uuid()
  const second = chance.stream('uid').uuid()
  expect([first, second]).toEqual(
    [seededChance(7).stream('uid'), seededChance(7).stream('uid')].map((stream, index) => [stream.uuid(), stream.uuid()][index]),
  )
})

test('nested streams differ from streams of other paths', () => {
  const chance = seededChance(7)
  expect(chance.stream('a').stream('b').uuid()).not.toBe(chance.stream('a","b').uuid())
  expect(seededChance('7').uuid()).toBe(seededChance(7).uuid())
})

test('seeded values are well-formed: UUIDs of version 4, fractions from 0 to below 1, any number of bytes', () => {
  const chance = seededChance('forms')
  const uuids = Array.from({ length: 2_000 }, chance.uuid)
  expect(uuids.every((uuid) => uuidV4.test(uuid))).toBe(true)
  expect(new Set(uuids).size).toBe(uuids.length)
  const fractions = Array.from({ length: 10_000 }, chance.fraction)
  expect(fractions.every((fraction) => fraction >= 0 && fraction < 1)).toBe(true)
  expect(fractions.reduce((sum, fraction) => sum + fraction, 0) / fractions.length).toBeCloseTo(0.5, 1)
  for (const length of [0, 1, 4_096, 9_999]) expect(chance.bytes(length).length).toBe(length)
})

test('returned bytes do not change with later draws', () => {
  const chance = seededChance(7)
  const bytes = chance.bytes(8)
  const before = Buffer.from(bytes).toString('hex')
  for (let draw = 0; draw < 1_000; draw += 1) chance.bytes(64)
  expect(Buffer.from(bytes).toString('hex')).toBe(before)
})

test('the chance of the system does not repeat values', () => {
  expect(systemChance.uuid()).toMatch(uuidV4)
  expect(systemChance.stream('uid').uuid()).not.toBe(systemChance.stream('uid').uuid())
  expect(systemChance.bytes(16).length).toBe(16)
})

test('a fork of a seeded chance draws the values that the chance would draw, in each stream, without advancing it', () => {
  const [chance, same] = [seededChance(7), seededChance(7)]
  for (const one of [chance, same]) {
    one.stream('uid').uuid()
    one.bytes(5_000)
  }
  const fork = chance.fork()
  const drawn = [some(fork), some(fork.stream('uid')), some(fork.stream('other'))]
  expect([some(chance), some(chance.stream('uid')), some(chance.stream('other'))]).toEqual(drawn)
  expect([some(same), some(same.stream('uid')), some(same.stream('other'))]).toEqual(drawn)
  expect(systemChance.fork()).toBe(systemChance)
})
