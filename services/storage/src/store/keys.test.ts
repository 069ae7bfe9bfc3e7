import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fc } from '@orch/testkit/chance'
import { open } from 'lmdb'
import { afterAll, expect, test, vi } from 'vitest'
import { keyCodecOf, plainKeys } from './keys.ts'

const folder = mkdtempSync(join(tmpdir(), 'keys-'))
const root = open({ path: join(folder, 'keys.mdb'), noSubdir: true })
afterAll(async () => {
  await root.close()
  rmSync(folder, { recursive: true })
})

function ownCodec() {
  const codec = keyCodecOf(root)
  if (codec === undefined) throw new Error('lmdb does not show its codec of keys')
  return codec
}

/** The result of reading bytes: a value, or the fact that the read throws. */
function outcomeOf(read: () => unknown): unknown {
  try {
    return { value: read() }
  } catch {
    return 'error'
  }
}

test('the codec of an opened database is found, and another value has none', () => {
  expect(ownCodec()).toMatchObject({ writeKey: expect.any(Function), readKey: expect.any(Function) })
  expect([{}, { writeKey() {} }, { writeKey() {}, readKey: 1 }].map(keyCodecOf)).toEqual([undefined, undefined, undefined])
})

test('a text is encoded and decoded exactly like lmdb does it', () => {
  const own = ownCodec()
  const keys = plainKeys(own)
  const texts = fc.string({
    unit: fc.constantFrom('a', '/', ' ', '~', '\x7f', '\x1b', '\x04', '\0', 'é', '\ufffd', '𝄞', '\ud834'),
    maxLength: 200,
  })
  const places = fc.constantFrom(0, 32)
  fc.assert(
    fc.property(texts, places, (text, start) => {
      const [written, expected] = [Buffer.alloc(2048), Buffer.alloc(2048)]
      const end = keys.writeKey(text, written, start)
      expect(end).toBe(own.writeKey(text, expected, start))
      expect(written).toEqual(expected)
      expect(keys.readKey(written, start, end)).toEqual(own.readKey(expected, start, end))
    }),
  )
  expect(keys.enableNullTermination).not.toThrow()
})

test('any bytes are decoded exactly like lmdb does it', () => {
  const own = ownCodec()
  const keys = plainKeys(own)
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.constantFrom(0xff, 0x7e), (bytes, most) => {
      // Other bytes follow the key, as in lmdb's buffer.
      const room = Buffer.from([...bytes.map((byte) => byte & most), 0x41, 0x42])
      const reads = [keys, own].map((codec) => outcomeOf(() => codec.readKey(room, 0, bytes.length)))
      expect(reads[0]).toEqual(reads[1])
    }),
  )
})

test('a plain key is decoded here, and any other key by lmdb', () => {
  const own = { writeKey: () => 0, readKey: vi.fn(() => 'own') }
  const { readKey } = plainKeys(own)
  const read = (text: string) => readKey(Buffer.from(`..${text}..`), 2, 2 + Buffer.byteLength(text))
  expect(['core/pods/a b/~', '!'].map(read)).toEqual(['core/pods/a b/~', '!'])
  expect(own.readKey).not.toHaveBeenCalled()
  expect(['', 'a\x7f', 'a\n', '\x1ba', 'a\0b', 'é', 'a\u0100'].map(read)).toEqual(Array(7).fill('own'))
})
