/** A file or a directory of an archive. */
export interface TarEntry {
  readonly path: string
  readonly kind: 'file' | 'directory'
  readonly mode: number
  readonly modifiedMs: number
  readonly content: Uint8Array
}

/** The archive is damaged, cut off, or of another format. */
export class TarError extends Error {}

export const tarBlockBytes = 512
const kinds: Readonly<Record<string, TarEntry['kind']>> = { '0': 'file', '\0': 'file', '5': 'directory' }
/** Names and other attributes of one entry. */
const attributeBytesMax = 64 * 1024

/**
 * Reads an archive (POSIX ustar, with the long names of pax and GNU) from a stream. `select` is asked before the content of an entry is read, and only
 * selected contents are held. Entries other than files and directories are skipped.
 */
export async function* readTar(
  chunks: AsyncIterable<Uint8Array>,
  select: (path: string, bytes: number) => boolean,
): AsyncGenerator<TarEntry, void, undefined> {
  const source = new Blocks(chunks)
  let longName: string | undefined
  for (let head = await source.take(tarBlockBytes); head !== undefined; head = await source.take(tarBlockBytes)) {
    if (head.every((byte) => byte === 0)) return source.drop()
    const size = numberIn(head, 124, 12)
    if (numberIn(head, 148, 8) !== tarChecksum(head) || Number.isNaN(size)) throw new TarError('invalid tar header')
    const type = String.fromCharCode(head[156] ?? 0)
    const isAttributes = 'LxgK'.includes(type)
    const kind = kinds[type]
    const path = longName ?? nameIn(head)
    if (isAttributes && size > attributeBytesMax) throw new TarError('invalid tar header')
    const isRead = isAttributes || (kind !== undefined && select(path, size))
    const content = isRead ? await source.take(size) : await source.skip(size)
    await source.skip((tarBlockBytes - (size % tarBlockBytes)) % tarBlockBytes)
    if (content === undefined) throw new TarError('short read')
    if (type === 'L') longName = textIn(content, 0, content.length)
    else if (type === 'x') longName = paxPath(content) ?? longName
    if (isAttributes) continue
    longName = undefined
    if (!isRead || kind === undefined) continue
    yield { path, kind, mode: numberIn(head, 100, 8) || 0, modifiedMs: (numberIn(head, 136, 12) || 0) * 1000, content }
  }
}

/** The checksum of a header, with spaces in its own field. */
export function tarChecksum(head: Uint8Array): number {
  return head.reduce((sum, byte, index) => sum + (index >= 148 && index < 156 ? 32 : byte), 0)
}

function textIn(bytes: Uint8Array, start: number, length: number): string {
  const field = Buffer.from(bytes.subarray(start, start + length))
  const end = field.indexOf(0)
  return field.toString('utf8', 0, end < 0 ? field.length : end)
}

function nameIn(head: Uint8Array): string {
  const prefix = textIn(head, 257, 5) === 'ustar' && head[262] === 0 ? textIn(head, 345, 155) : ''
  const name = textIn(head, 0, 100)
  return prefix === '' ? name : `${prefix}/${name}`
}

/** Octal digits, or a binary number marked by its first byte (GNU). */
function numberIn(head: Uint8Array, start: number, length: number): number {
  if (((head[start] ?? 0) & 0x80) !== 0) {
    return head.subarray(start + 1, start + length).reduce((value, byte) => value * 256 + byte, 0)
  }
  const digits = textIn(head, start, length).trim()
  return /^[0-7]*$/.test(digits) ? Number.parseInt(digits || '0', 8) : Number.NaN
}

/** `path` of the attributes `LENGTH KEY=VALUE\n`. */
function paxPath(content: Uint8Array): string | undefined {
  const text = Buffer.from(content).toString()
  return /(?:^|\n)\d+ path=([^\n]*)\n/.exec(text)?.[1]
}

/** Pieces of any length from chunks of any length. */
class Blocks {
  readonly #chunks: AsyncIterator<Uint8Array>
  #pending: Uint8Array[] = []
  #length = 0

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** Undefined if the input ends before. */
  async take(length: number): Promise<Uint8Array | undefined> {
    while (this.#length < length) {
      const { value, done } = await this.#chunks.next()
      if (done === true) return undefined
      this.#pending.push(value)
      this.#length += value.length
    }
    const all = this.#pending.length === 1 ? this.#pending[0] : Buffer.concat(this.#pending)
    if (all === undefined) return new Uint8Array()
    this.#length -= length
    this.#pending = this.#length === 0 ? [] : [all.subarray(length)]
    return all.subarray(0, length)
  }

  /** Drops bytes. Undefined if the input ends before. */
  async skip(length: number): Promise<Uint8Array | undefined> {
    let left = length
    while (this.#length < left) {
      left -= this.#length
      this.#pending = []
      this.#length = 0
      const { value, done } = await this.#chunks.next()
      if (done === true) return undefined
      this.#pending.push(value)
      this.#length = value.length
    }
    return this.take(left)
  }

  /** Reads the rest. */
  async drop(): Promise<void> {
    while ((await this.#chunks.next()).done !== true);
  }
}
