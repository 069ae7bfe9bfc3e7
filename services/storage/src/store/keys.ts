/** lmdb's codec of strings as keys of a tree. */
interface KeyCodec {
  /** Writes a key and returns its end. */
  writeKey(key: string, target: Buffer, start: number): number
  /** Reads a key: a string, another kind of key, or an error. */
  readKey(bytes: Buffer, start: number, end: number): unknown
}

/** A codec as an option of lmdb. */
interface KeyEncoder extends KeyCodec {
  /** Without this method, lmdb treats keys as plain bytes. */
  enableNullTermination(): void
}

/** The codec of an opened database, which lmdb's types omit; undefined if the database does not expose it. */
export function keyCodecOf(database: object): KeyCodec | undefined {
  return isKeyCodec(database) ? database : undefined
}

function isKeyCodec(database: object): database is KeyCodec {
  return (
    'writeKey' in database && typeof database.writeKey === 'function' && 'readKey' in database && typeof database.readKey === 'function'
  )
}

/** Reads plain keys with one native call, in the same format. A start reads every key, and lmdb's reader decodes keys byte by byte. */
export function plainKeys({ writeKey, readKey }: KeyCodec): KeyEncoder {
  return {
    writeKey,
    readKey(bytes, start, end) {
      const text = bytes.toString('latin1', start, end)
      return plain.test(text) ? text : readKey(bytes, start, end)
    },
    // lmdb has enabled it for all its databases.
    enableNullTermination() {},
  }
}

/** Printable ASCII, which has no special meaning in lmdb. */
const plain = /^[ -~]+$/
