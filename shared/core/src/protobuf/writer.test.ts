import { expect, test } from 'vitest'
import { Writer } from './writer.ts'

test.each([1, 65_535, 65_536, 65_537, 200_000])('text of %i characters is written completely, at any fill of the buffer', (length) => {
  for (const character of ['a', 'ö', '漢', '😀']) {
    const writer = new Writer()
    writer.integer(-1)
    writer.text(character.repeat(length))
    const bytes = writer.finish()
    const tail = bytes.subarray(bytes.length - 10)
    expect([...tail]).toEqual([...new Array<number>(9).fill(0xff), 1])
    const size = new TextEncoder().encode(character).length * length
    expect(new TextDecoder().decode(bytes.subarray(bytes.length - 10 - size, bytes.length - 10))).toBe(character.repeat(length))
    expect(writer.length).toBe(0)
  }
})

test('every kind of value can grow the buffer', () => {
  const fill = 64 * 1024 - 2
  const writes: readonly ((writer: Writer) => void)[] = [
    (writer) => writer.integer(-1),
    (writer) => writer.integer(2n ** 63n - 1n),
    (writer) => writer.double(1.5),
    (writer) => writer.raw(Uint8Array.of(1, 2, 3)),
    (writer) => writer.text('short'),
    (writer) => writer.varint(2 ** 40),
  ]
  for (const write of writes) {
    const small = new Writer()
    write(small)
    const alone = small.finish()
    const full = new Writer()
    full.raw(new Uint8Array(fill))
    write(full)
    expect(full.finish().subarray(0, alone.length)).toEqual(alone)
  }
})
