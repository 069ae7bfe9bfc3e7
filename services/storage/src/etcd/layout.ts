/**
 * Where things lie under a prefix, all of which one watch follows:
 *
 *   <prefix>/epoch       {"epoch", "profile"}: whose revisions these are
 *   <prefix>/compacted   the revision up to which the past was forgotten last
 *   <prefix>/deletion    write id of the last delete, written together with it: a deleted key can't carry one
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

/** The first key behind all that begin with a prefix, which must not be empty. */
export function endOfPrefix(prefix: string): Buffer {
  const end = Buffer.from(prefix)
  // UTF-8 has no byte 0xff, so there is room above the last one.
  end[end.length - 1]!++
  return end
}

/** A write id and a value as one: u8 bytes of the id, the id, the value. */
export function frameValue(writeId: string, value: Uint8Array): Buffer {
  const idBytes = Buffer.byteLength(writeId)
  if (idBytes > 255) throw new RangeError(`a write id may have 255 bytes, not ${idBytes}`)
  const framed = Buffer.allocUnsafe(1 + idBytes + value.length)
  framed[0] = idBytes
  framed.write(writeId, 1)
  framed.set(value, 1 + idBytes)
  return framed
}

/** What `frameValue` put together. The value is a view. */
export function unframeValue(framed: Buffer): { readonly writeId: string; readonly value: Uint8Array } {
  const end = 1 + (framed[0] ?? 0)
  if (framed.length < end) throw new Error('a value in etcd was not written by this server')
  return { writeId: framed.toString('utf8', 1, end), value: framed.subarray(end) }
}
