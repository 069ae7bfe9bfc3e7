import { seededChance } from '@orch/platform'
import { expect, test } from 'vitest'
import { packValue, unpackValue } from './packed-value.ts'

const text = (value: string) => Buffer.from(value)

test.each<[string, string, string]>([
  ['an equal one', 'the same text', 'the same text'],
  ['one with another member in the middle', '{"size":1,"color":"red"}', '{"size":2,"color":"red"}'],
  ['nothing', '', 'something'],
  ['one of nothing', 'something', ''],
  ['a longer one', 'ab'.repeat(100), 'ab'.repeat(120)],
  ['a shorter one', 'ab'.repeat(120), 'ab'.repeat(100)],
  ['one whose parts have changed places', `${'x'.repeat(50)}${'y'.repeat(70)}`, `${'y'.repeat(70)}${'x'.repeat(50)}`],
])('a packed value is unpacked unchanged, with %s as its base', (_what, value, base) => {
  const packed = packValue(text(value), text(base))
  expect(Buffer.from(unpackValue(packed, () => text(base))).toString()).toBe(value)
})

test('a value packed without a base is unpacked without a base', () => {
  const value = text('abc'.repeat(1_000))
  const packed = packValue(value, undefined)
  expect(packed.bytes.length).toBeLessThan(100)
  expect(Buffer.from(unpackValue(packed, () => undefined)).equals(value)).toBe(true)
})

test.each<[string, string | undefined]>([
  ['with a base', 'b'.repeat(2_000)],
  ['without one', undefined],
])('a value packed %s keeps no other bytes in memory', (_what, base) => {
  const { bytes } = packValue(text(`${'a'.repeat(10)}${'b'.repeat(2_000)}`), base === undefined ? undefined : text(base))
  expect([bytes.length < 100, bytes.buffer.byteLength]).toEqual([true, bytes.length])
})

/** An object of about 20 KB; each version has another time, generation and size, at three places. */
function versionOf(version: number): Buffer {
  const items = Array.from({ length: 400 }, (_, index) => ({ name: `item-${index}`, value: (index * 7_919) % 1_009, text: 'some text' }))
  const metadata = { name: 'a', generation: version, managedFields: [{ manager: 'm', time: new Date(version * 1_000).toISOString() }] }
  return text(JSON.stringify({ metadata, spec: { size: version, items, last: version * 3 } }))
}

test('a version of 20 KB that differs at four places takes less than 200 bytes', () => {
  const [value, base] = [versionOf(17), versionOf(18)]
  expect(value.length).toBeGreaterThan(18_000)
  const packed = packValue(value, base)
  expect(packed.bytes.length).toBeLessThan(200)
  expect(Buffer.from(unpackValue(packed, () => base)).equals(value)).toBe(true)
})

test('values drawn from a seed are unpacked unchanged', () => {
  const { fraction: random } = seededChance(39)
  const below = (bound: number) => Math.floor(random() * bound)
  for (let round = 0; round < 300; round++) {
    const base = Buffer.from(Array.from({ length: below(3_000) }, () => 97 + below(round % 20 === 0 ? 2 : 26)))
    let value = base
    for (let edit = 0; edit < below(6); edit++) {
      const [from, length] = [below(value.length + 1), below(100)]
      const added = Buffer.from(Array.from({ length: below(100) }, () => 97 + below(26)))
      value = Buffer.concat([value.subarray(0, from), added, value.subarray(from + length)])
    }
    const packed = packValue(value, base)
    expect(Buffer.from(unpackValue(packed, () => base)).equals(value), `round ${round}`).toBe(true)
  }
})
