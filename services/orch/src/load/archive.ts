import { ManifestError } from '@orch/client'

/** A file of an archive. */
export interface ArchiveEntry {
  readonly name: string
  readonly content: Buffer
}

/** Bytes of the head of a file, and the unit of its length. */
export const blockBytes = 512
/** Maximum bytes of the long name of a file. */
const longNameBytesMax = 64 * 1024

/**
 * The selected files of a tar archive (POSIX ustar, with long names of GNU and of pax). `select` is asked before the content of a file is read, and
 * only selected contents are held.
 */
export async function* entriesOf(
  archive: AsyncIterable<Buffer>,
  path: string,
  select: (name: string, bytes: number) => boolean,
): AsyncGenerator<ArchiveEntry, void, undefined> {
  const reader = new ByteReader(archive, path)
  let longName: string | undefined
  for (let head = await reader.take(blockBytes); head !== undefined; head = await reader.take(blockBytes)) {
    const text = (start: number, length: number) => textOf(head.subarray(start, start + length))
    const shortName = text(0, 100)
    if (shortName === '') return
    const size = Number.parseInt(text(124, 12), 8)
    const type = text(156, 1)
    if (!Number.isSafeInteger(size) || size < 0) throw damaged(path)
    const prefix = text(345, 155)
    const name = longName ?? (prefix === '' ? shortName : `${prefix}/${shortName}`)
    const padding = -size & (blockBytes - 1)
    if (type === 'L' || type === 'x') {
      if (size > longNameBytesMax) throw damaged(path)
      const content = await reader.need(size)
      longName = type === 'L' ? textOf(content) : /^\d+ path=(.*)$/m.exec(content.toString())?.[1]
      await reader.skip(padding)
      continue
    }
    longName = undefined
    const isSelected = (type === '0' || type === '') && select(name, size)
    if (isSelected) yield { name, content: await reader.need(size) }
    await reader.skip(isSelected ? padding : size + padding)
  }
}

function textOf(bytes: Buffer): string {
  return bytes.toString().replace(/\0.*$/s, '')
}

function damaged(path: string): ManifestError {
  return new ManifestError(`${path}: the archive is damaged`)
}

/** Reads a stream by numbers of bytes. */
class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>
  readonly #path: string
  #rest: Buffer = Buffer.alloc(0)

  constructor(chunks: AsyncIterable<Buffer>, path: string) {
    this.#chunks = chunks[Symbol.asyncIterator]()
    this.#path = path
  }

  /** The next bytes; undefined if the stream has ended before them. */
  async take(bytes: number): Promise<Buffer | undefined> {
    const taken = Buffer.allocUnsafe(bytes)
    for (let filled = 0; ; ) {
      const copied = this.#rest.copy(taken, filled)
      this.#rest = this.#rest.subarray(copied)
      filled += copied
      if (filled === bytes) return taken
      const { value, done } = await this.#chunks.next()
      if (done === true) return undefined
      this.#rest = value
    }
  }

  async need(bytes: number): Promise<Buffer> {
    const taken = await this.take(bytes)
    if (taken === undefined) throw damaged(this.#path)
    return taken
  }

  async skip(bytes: number): Promise<void> {
    let left = bytes
    while (left > this.#rest.length) {
      left -= this.#rest.length
      const { value, done } = await this.#chunks.next()
      if (done === true) throw damaged(this.#path)
      this.#rest = value
    }
    this.#rest = this.#rest.subarray(left)
  }
}
