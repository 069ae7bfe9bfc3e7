import { createReadStream, statSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative } from 'node:path'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { ManifestError } from '@orch/client'
import { messageOf, type Pause, readTar, systemCodeOf, TarError, tarBlockBytes } from '@orch/platform'
import { type DumpedObject, OversizeError } from './dumped-object.ts'
import { BoltFile, isBoltFile, readEtcdSnapshot } from './etcd-snapshot.ts'
import { objectsOf } from './list-texts.ts'

/** The objects of a dump, and the files without objects. The caller disposes of it after reading the objects. */
export interface Dump extends Disposable {
  readonly objects: DumpedObject[]
  readonly unread: { readonly file: string; readonly reason: string }[]
}

/** A dump while it is read. */
class OpenDump implements Dump {
  readonly objects: DumpedObject[] = []
  readonly unread: { readonly file: string; readonly reason: string }[] = []
  readonly files: BoltFile[] = []
  /** Bytes of YAML and JSON in memory. */
  textBytes = 0

  /** Counts a text before it is read. */
  hold(bytes: number, file: string): void {
    this.textBytes += bytes
    if (this.textBytes > textBytesMax)
      throw new OversizeError(`${file}: the dump has more than ${textBytesMax} bytes of YAML and JSON: load it in parts`)
  }

  [Symbol.dispose](): void {
    for (const file of this.files.splice(0)) file.close()
  }
}

/** Maximum bytes of YAML and JSON in one load, because they are held in memory. */
const textBytesMax = 1024 ** 3

const endings: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json'])

/** velero stores the objects again in other versions beside these files. */
const veleroObject = /(?:^|\/)resources\/[^/]+\/(?:cluster|namespaces\/[^/]+)\/[^/]+\.json$/

/**
 * Reads dumps: files of kubectl (YAML or JSON, Lists included), folders and archives (`.tar.gz`) with all their contents, such as those of
 * must-gather, crust-gather and velero, and snapshots of etcd. A file in the arguments must contain objects; other files without objects are listed.
 */
export async function readDump(paths: readonly string[], pause: Pause): Promise<Dump> {
  const dump = new OpenDump()
  try {
    for (const path of paths) await addPath(dump, path, pause)
    return dump
  } catch (error) {
    dump[Symbol.dispose]()
    throw error
  }
}

async function addPath(dump: OpenDump, path: string, pause: Pause): Promise<void> {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) throw new ManifestError(`${path}: there is no such file or folder`)
  if (stat.isDirectory()) {
    for (const file of await filesBelow(path)) {
      if (!endings.has(extname(file))) continue
      dump.hold(statSync(file).size, file)
      await addText(dump, () => readFile(file), { file, pause })
    }
  } else if (/\.(?:tar\.gz|tgz)$/.test(path)) await addArchive(dump, path, pause)
  else if (isBoltFile(path)) await addSnapshot(dump, path, pause)
  else {
    dump.hold(stat.size, path)
    for (const object of await objectsOf(await readFile(path), path, pause)) dump.objects.push(object)
  }
}

async function addText(
  dump: OpenDump,
  read: () => Buffer | Promise<Buffer>,
  { file, pause }: { readonly file: string; readonly pause: Pause },
): Promise<void> {
  await pause()
  try {
    for (const object of await objectsOf(await read(), file, pause)) dump.objects.push(object)
  } catch (error) {
    dump.unread.push({ file, reason: messageOf(error) })
  }
}

async function addArchive(dump: OpenDump, path: string, pause: Pause): Promise<void> {
  const before = dump.objects.length
  for (const { name, content } of await readArchive(dump, path))
    await addText(dump, () => content, { file: join(path, relative('.', name)), pause })
  if (dump.objects.length === before)
    throw new ManifestError(
      `${path}: holds no objects: expected files in YAML or JSON, such as those of must-gather or of a backup of velero`,
    )
}

/** The files of an archive that may contain objects: in a backup of velero only those with the stored versions. */
async function readArchive(dump: OpenDump, path: string) {
  const found: { readonly name: string; readonly content: Buffer }[] = []
  const held = dump.textBytes
  let isVelero = false
  const select = (name: string, bytes: number): boolean => {
    const isOfVelero = veleroObject.test(name)
    if (isOfVelero && !isVelero) {
      isVelero = true
      found.length = 0
      dump.textBytes = held
    }
    const isSelected = isVelero ? isOfVelero : endings.has(extname(name))
    if (isSelected) dump.hold(bytes + tarBlockBytes + name.length, path)
    return isSelected
  }
  await using bytes = unzipped(path)
  try {
    // A copy, because the content is part of a larger chunk.
    for await (const { path: name, kind, content } of readTar(bytes, select))
      if (kind === 'file') found.push({ name, content: Buffer.from(content) })
  } catch (cause) {
    throw cause instanceof TarError ? new ManifestError(`${path}: the archive is damaged`, { cause }) : cause
  }
  return found
}

/** Maximum bytes of an archive after decompression: a small archive can have any number. */
const archiveBytesMax = 8 * 1024 ** 3
const unzippedChunkBytes = 256 * 1024

async function* unzipped(path: string): AsyncGenerator<Buffer, void, undefined> {
  let bytes = 0
  try {
    // A reader that ends early is no failure, and all others are thrown by the stream.
    const stream: AsyncIterable<Buffer> = pipeline(createReadStream(path), createGunzip({ chunkSize: unzippedChunkBytes }), () => {})
    for await (const chunk of stream) {
      bytes += chunk.length
      if (bytes > archiveBytesMax)
        throw new ManifestError(`${path}: has more than ${archiveBytesMax} bytes after decompression: unpack it, and load its folder`)
      yield chunk
    }
  } catch (cause) {
    if (cause instanceof ManifestError) throw cause
    if (systemCodeOf(cause) === 'Z_BUF_ERROR') throw new ManifestError(`${path}: the archive is cut off`, { cause })
    throw new ManifestError(`${path}: is no archive compressed by gzip`, { cause })
  }
}

async function addSnapshot(dump: OpenDump, path: string, pause: Pause): Promise<void> {
  const file = new BoltFile(path)
  dump.files.push(file)
  const { objects, unread } = await readEtcdSnapshot(file, path, pause)
  for (const object of objects) dump.objects.push(object)
  for (const { key, reason } of unread) dump.unread.push({ file: `${path}:${key}`, reason })
  if (objects.length === 0) throw new ManifestError(`${path}: this snapshot of etcd holds no objects of a cluster`)
}

/** The files of a folder and of the folders in it, sorted. Links are not followed, because they may form a circle. */
export async function filesBelow(folder: string): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) found.push(...(await filesBelow(path)))
    else if (entry.isFile()) found.push(path)
  }
  return found.sort()
}
