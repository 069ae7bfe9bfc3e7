import { type FileEntry, NoSpaceError } from './container-files.ts'

/** An entry of an archive (POSIX ustar, with the names of pax and GNU). */
export interface TarEntry {
  readonly path: string
  readonly entry: FileEntry
}

const blockBytes = 512
/** Names and other attributes of one entry. */
const attributeBytesMax = 64 * 1024

/** The format of the archive is unknown. */
export class TarError extends Error {}

/** Reads an archive from a stream. Entries other than files and directories are skipped. */
export async function* readTar(chunks: AsyncIterable<Uint8Array>, fileBytesMax: number): AsyncGenerator<TarEntry> {
  const source = new Blocks(chunks)
  let longName: string | undefined
  for (;;) {
    const head = await source.take(blockBytes)
    if (head === undefined) return
    if (head.every((byte) => byte === 0)) {
      await source.drop()
      return
    }
    if (numberIn(head, 148, 8) !== checksumOf(head)) throw new TarError('invalid tar header')
    const size = numberIn(head, 124, 12)
    const type = String.fromCharCode(head[156] ?? 0)
    const isAttributes = 'LxgK'.includes(type)
    if (Number.isNaN(size)) throw new TarError('invalid tar header')
    const bytesMax = isAttributes ? attributeBytesMax : fileBytesMax
    if (size > bytesMax) throw new NoSpaceError(bytesMax, 'in one file of an archive')
    const content = await source.take(size)
    await source.take((blockBytes - (size % blockBytes)) % blockBytes)
    if (content === undefined) throw new TarError('short read')
    if (type === 'L') longName = textIn(content, 0, content.length)
    else if (type === 'x') longName = paxPath(content) ?? longName
    if (isAttributes) continue
    const path = longName ?? nameIn(head)
    longName = undefined
    const modifiedMs = (numberIn(head, 136, 12) || 0) * 1000
    const mode = numberIn(head, 100, 8) || 0
    if (type === '5') yield { path, entry: { kind: 'directory', mode, modifiedMs } }
    else if (type === '0' || type === '\0') yield { path, entry: { kind: 'file', bytes: content, mode, modifiedMs } }
  }
}

/** An archive of the entries. */
export function* printTar(entries: Iterable<TarEntry>): Generator<Uint8Array> {
  for (const { path, entry } of entries) {
    const isDirectory = entry.kind === 'directory'
    const name = isDirectory ? `${path}/` : path
    const bytes = isDirectory ? new Uint8Array() : entry.bytes
    if (Buffer.byteLength(name) > 100) {
      const long = Buffer.from(`${name}\0`)
      yield headOf('././@LongLink', { type: 'L', size: long.length, mode: 0, modifiedMs: 0 })
      yield padded(long)
    }
    yield headOf(name, { type: isDirectory ? '5' : '0', size: bytes.length, mode: entry.mode, modifiedMs: entry.modifiedMs })
    if (bytes.length > 0) yield padded(bytes)
  }
  yield new Uint8Array(2 * blockBytes)
}

interface HeadFields {
  readonly type: string
  readonly size: number
  readonly mode: number
  readonly modifiedMs: number
}

function headOf(name: string, { type, size, mode, modifiedMs }: HeadFields): Uint8Array {
  const head = Buffer.alloc(blockBytes)
  const octal = (value: number, length: number) =>
    `${Math.trunc(value)
      .toString(8)
      .padStart(length - 1, '0')}\0`
  Buffer.from(name).copy(head, 0, 0, 100)
  head.write(octal(mode & 0o7777, 8), 100, 'latin1')
  head.write(octal(0, 8) + octal(0, 8) + octal(size, 12) + octal(modifiedMs / 1000, 12), 108, 'latin1')
  head.write(`        ${type}`, 148, 'latin1')
  head.write('ustar\u000000root', 257, 'latin1')
  head.write('root', 297, 'latin1')
  head.write(`${checksumOf(head).toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return head
}

function padded(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([bytes, Buffer.alloc((blockBytes - (bytes.length % blockBytes)) % blockBytes)])
}

/** The checksum of a header, with spaces in its own field. */
function checksumOf(head: Uint8Array): number {
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

  /** Reads the rest. */
  async drop(): Promise<void> {
    while ((await this.#chunks.next()).done !== true);
  }
}
