import { ManifestError } from '@orch/client'

/** A file of an archive. */
interface ArchiveEntry {
  readonly name: string
  readonly content: Buffer
}

const blockBytes = 512

/** The files of a tar archive (POSIX ustar, with long names of GNU and of pax). */
export function* entriesOf(archive: Buffer, path: string): Generator<ArchiveEntry, void, undefined> {
  let longName: string | undefined
  for (let at = 0; at + blockBytes <= archive.length; ) {
    const text = (start: number, length: number) => archive.toString('utf8', at + start, at + start + length).replace(/\0.*$/s, '')
    const name = text(0, 100)
    if (name === '') return
    const size = Number.parseInt(text(124, 12), 8)
    const type = text(156, 1)
    const start = at + blockBytes
    if (!Number.isSafeInteger(size) || size < 0 || start + size > archive.length) throw new ManifestError(`${path}: the archive is damaged`)
    const content = archive.subarray(start, start + size)
    const prefix = text(345, 155)
    if (type === 'L') longName = content.toString().replace(/\0.*$/s, '')
    else if (type === 'x') longName = /^\d+ path=(.*)$/m.exec(content.toString())?.[1]
    else {
      if (type === '0' || type === '') yield { name: longName ?? (prefix === '' ? name : `${prefix}/${name}`), content }
      longName = undefined
    }
    at = start + Math.ceil(size / blockBytes) * blockBytes
  }
}
