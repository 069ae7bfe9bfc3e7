import { crc32 } from 'node:zlib'
import { alteredValue, isAltered } from '@orch/core/stored'
/**
 * The keys under a prefix, all followed by one watch:
 *
 *   <prefix>/epoch       {"epoch", "profile"}: the epoch of the revisions
 *   <prefix>/compacted   the revision up to which the past was forgotten last
 *   <prefix>/deletion    write id of the last delete, written together with it: a deleted key cannot carry one
 *   <prefix>/election/   candidates for leading
 *   <prefix>/keys/<key>  a key of the store: write id and value
 */
export interface Layout {
  readonly all: string
  readonly epoch: string
  readonly compacted: string
  readonly deletion: string
  readonly election: string
  readonly keys: string
}

/** The layout under a prefix; slashes at its ends mean nothing. */
export function toLayout(prefix: string): Layout {
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

/** The first key after all those with a prefix, which must not be empty. */
export function endOfPrefix(prefix: string): Buffer {
  const end = Buffer.from(prefix)
  // UTF-8 never contains the byte 0xff, so the last byte can be increased.
  end[end.length - 1]!++
  return end
}

/** A value, the id of its write and its key without the prefix. */
export interface Framed {
  readonly key: string
  readonly writeId: string
  readonly value: Uint8Array
}

/**
 * A write id and a value as one: u8 length of the part up to the value, the id, a zero and a checksum of key, id and value, the value.
 * Versions without the checksum read it as a part of the id, which has no zero.
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

/** Reads the framed value of a key. The result is a view; a value that has changed since fails to decode. A value without a checksum is accepted. */
export function unframeValue(key: string, framed: Buffer): Omit<Framed, 'key'> {
  const end = 1 + (framed[0] ?? 0)
  if (framed.length < end) throw new Error('a value in etcd was not written by this server')
  const idEnd = end - sumBytes
  const value = framed.subarray(end)
  if (framed[idEnd] !== 0) return { writeId: framed.toString('utf8', 1, end), value }
  const isSame = framed.readUInt32LE(idEnd + 1) === checksum(key, framed.subarray(1, idEnd), value)
  return { writeId: framed.toString('utf8', 1, idEnd), value: isSame ? value : alteredValue }
}

/** The write id of a delete for `<prefix>/deletion`, framed as that of a value without bytes, so that its checksum covers the deleted key. */
export function frameDeletion(key: string, writeId: string): Buffer {
  return frameValue({ key, writeId, value: noBytes })
}

/** Parses the write id of a delete of this key; '' and `isAltered` if the bytes have changed since. Data without a checksum is only the id. */
export function unframeDeletion(key: string, framed: Buffer): { readonly writeId: string; readonly isAltered: boolean } {
  const hasLength = framed[0] === framed.length - 1
  const hasZero = framed[framed.length - sumBytes] === 0
  // One damaged byte leaves one of the two intact, and an id contains neither.
  if (!hasLength && !hasZero) return { writeId: framed.toString(), isAltered: false }
  const { writeId, value } = hasLength && hasZero ? unframeValue(key, framed) : { writeId: '', value: alteredValue }
  return isAltered(value) ? { writeId: '', isAltered: true } : { writeId, isAltered: false }
}

const noBytes = new Uint8Array()

/** The zero, and a 32-bit number. */
const sumBytes = 5
const idBytesMax = 255 - sumBytes

function checksum(key: string, id: Uint8Array, value: Uint8Array): number {
  return crc32(value, crc32(id, crc32(key)))
}
