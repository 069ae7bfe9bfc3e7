import { statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { ManifestError } from '@orch/client'
import { messageOf } from '@orch/platform'
import { filesBelow } from '../process/files-below.ts'
import { entriesOf } from './archive.ts'
import { BoltFile, isBoltFile } from './bolt-file.ts'
import type { DumpedObject } from './dumped-object.ts'
import { readEtcdSnapshot } from './etcd-snapshot.ts'
import { objectsOf, type Pause } from './list-texts.ts'

/** The objects of a dump, and the files without objects. The caller disposes of it after reading the objects. */
export interface Dump extends Disposable {
  readonly objects: DumpedObject[]
  readonly unread: { readonly file: string; readonly reason: string }[]
}

/** A dump while it is read. */
class OpenDump implements Dump {
  readonly objects: DumpedObject[] = []
  readonly unread: { readonly file: string; readonly reason: string }[] = []
  readonly files: BoltFile[] = [];

  [Symbol.dispose](): void {
    for (const file of this.files.splice(0)) file.close()
  }
}

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
    for (const file of await filesBelow(path)) if (endings.has(extname(file))) await addText(dump, () => readFile(file), { file, pause })
  } else if (/\.(?:tar\.gz|tgz)$/.test(path)) await addArchive(dump, path, pause)
  else if (isBoltFile(path)) await addSnapshot(dump, path, pause)
  else for (const object of await objectsOf(await readFile(path), path, pause)) dump.objects.push(object)
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
  const entries = [...entriesOf(await unzipped(path), path)].filter(({ name }) => endings.has(extname(name)))
  const ofVelero = entries.filter(({ name }) => veleroObject.test(name))
  for (const { name, content } of ofVelero.length > 0 ? ofVelero : entries)
    await addText(dump, () => content, { file: join(path, relative('.', name)), pause })
  if (dump.objects.length === before)
    throw new ManifestError(
      `${path}: holds no objects: expected files in YAML or JSON, such as those of must-gather or of a backup of velero`,
    )
}

/** Maximum bytes of an archive after decompression, because it is held in memory. */
const archiveBytesMax = 2 * 1024 * 1024 * 1024 - 1

async function unzipped(path: string): Promise<Buffer> {
  try {
    return await promisify(gunzip)(await readFile(path), { maxOutputLength: archiveBytesMax })
  } catch (cause) {
    if (cause instanceof RangeError)
      throw new ManifestError(`${path}: has more than ${archiveBytesMax} bytes after decompression`, { cause })
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
