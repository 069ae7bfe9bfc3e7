import { readTar, tarBlockBytes, tarChecksum } from '@orch/platform'
import { type Directory, type FileEntry, noSpace } from './container-files.ts'

/** A file or a directory in an archive. */
export interface ArchiveEntry {
  readonly path: string
  readonly entry: Exclude<FileEntry, Directory> | Omit<Directory, 'entries'>
}

/** Reads an archive from a stream. */
export async function* readArchive(chunks: AsyncIterable<Uint8Array>, fileBytesMax: number): AsyncGenerator<ArchiveEntry> {
  const select = (_path: string, bytes: number): boolean => {
    if (bytes > fileBytesMax) throw noSpace(fileBytesMax, 'in one file of an archive')
    return true
  }
  for await (const { path, kind, mode, modifiedMs, content } of readTar(chunks, select))
    yield { path, entry: kind === 'file' ? { kind, bytes: content, mode, modifiedMs } : { kind, mode, modifiedMs } }
}

/** An archive of the entries. */
export function* printTar(entries: Iterable<ArchiveEntry>): Generator<Uint8Array> {
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
  yield new Uint8Array(2 * tarBlockBytes)
}

interface HeadFields {
  readonly type: string
  readonly size: number
  readonly mode: number
  readonly modifiedMs: number
}

function headOf(name: string, { type, size, mode, modifiedMs }: HeadFields): Uint8Array {
  const head = Buffer.alloc(tarBlockBytes)
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
  head.write(`${tarChecksum(head).toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return head
}

function padded(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([bytes, Buffer.alloc((tarBlockBytes - (bytes.length % tarBlockBytes)) % tarBlockBytes)])
}
