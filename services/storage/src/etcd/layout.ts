import { crc32 } from 'node:zlib'
import { alteredValue, isAltered } from '@orch/core/stored'
/**
 * The keys under a prefix. One watch follows all of them:
 *
 *   <prefix>/epoch       {"epoch", "profile"}: the epoch of the revisions
 *   <prefix>/compacted   the revision of the last compaction
 *   <prefix>/deletion    write id of the last delete, written in its transaction: a deleted key cannot hold one
 *   <prefix>/election/   candidates for leadership
 *   <prefix>/keys/<key>  a key of the store: write id and value
 */
export type Layout = ReturnType<typeof toLayout>

/** The layout under a prefix, without slashes at its ends. */
export function toLayout(prefix: string) {
  const trimmed = prefix.replace(/^\/+|\/+$/g, '')
  if (trimmed === '') throw new Error('the prefix of etcd keys must not be empty')
  const all = `/${trimmed}/`
  return {
    all,
    epoch: `${all}epoch`,
    compacted: `${all}compacted`,
    deletion: `${all}deletion`,
    election: `${all}election/`,
    keys: `${all}keys/`,
  }
}

/** The first key after all keys with a prefix, which must not be empty. */
export function endOfPrefix(prefix: string): Buffer {
  const end = Buffer.from(prefix)
  // UTF-8 never contains the byte 0xff, so the last byte can be increased.
  end[end.length - 1]!++
  return end
}

/** The parts of a stored value: value, write id, and key without the prefix. */
export interface Framed {
  readonly key: string
  readonly writeId: string
  readonly value: Uint8Array
}

/**
 * Encodes a write id and a value: u8 length of the part before the value, the id, a zero, a checksum of key, id and value, and the value. Versions
 * without the checksum read it as a part of the id, which contains no zero.
 */
export function frameValue({ key, writeId, value }: Framed): Buffer {
  const idBytes = Buffer.byteLength(writeId)
  if (idBytes > idBytesMax) throw new RangeError(`a write id may have ${idBytesMax} bytes in etcd, not ${idBytes}`)
  const start = 1 + idBytes + sumBytes
  const framed = Buffer.allocUnsafe(start + value.length)
  framed[0] = idBytes + sumBytes
  framed.write(writeId, 1)
  framed.set(value, start)
  framed[1 + idBytes] = 0
  framed.writeUInt32LE(checksum(key, framed.subarray(1, 1 + idBytes), value), 2 + idBytes)
  return framed
}

/** Decodes the stored value of a key; the result is a view. Throws if the value was altered. Accepts a value without a checksum. */
export function unframeValue(key: string, framed: Buffer): Omit<Framed, 'key'> {
  const end = 1 + (framed[0] ?? 0)
  if (framed.length < end) throw new Error('a value in etcd was not written by this server')
  const idEnd = end - sumBytes
  const value = framed.subarray(end)
  if (framed[idEnd] !== 0) return { writeId: framed.toString('utf8', 1, end), value }
  const isSame = framed.readUInt32LE(idEnd + 1) === checksum(key, framed.subarray(1, idEnd), value)
  return { writeId: framed.toString('utf8', 1, idEnd), value: isSame ? value : alteredValue }
}

/** Encodes the write id of a delete for `<prefix>/deletion` like a write of an empty value, so that its checksum covers the deleted key. */
export function frameDeletion(key: string, writeId: string): Buffer {
  return frameValue({ key, writeId, value: noBytes })
}

/** Parses the write id of a delete of this key; '' and `isAltered` if the bytes were altered. Data without a checksum is only the id. */
export function unframeDeletion(key: string, framed: Buffer): { readonly writeId: string; readonly isAltered: boolean } {
  const hasLength = framed[0] === framed.length - 1
  const hasZero = framed[framed.length - sumBytes] === 0
  // One damaged byte leaves one of the two intact, and an id contains neither.
  if (!hasLength && !hasZero) return { writeId: framed.toString(), isAltered: false }
  const { writeId, value } = hasLength && hasZero ? unframeValue(key, framed) : { writeId: '', value: alteredValue }
  return isAltered(value) ? { writeId: '', isAltered: true } : { writeId, isAltered: false }
}

const noBytes = new Uint8Array()

/** A zero byte and a checksum of 32 bits. */
const sumBytes = 5
const idBytesMax = 255 - sumBytes

function checksum(key: string, id: Uint8Array, value: Uint8Array): number {
  return crc32(value, crc32(id, crc32(key)))
}
