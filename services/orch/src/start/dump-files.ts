import { readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join, relative } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { ManifestError, parseManifests } from '@orch/client'
import { decodeJson, hasMembers, isJsonObject } from '@orch/core/json'
import type { ApiObject } from '@orch/core/meta'
import { messageOf } from '@orch/platform'

/** An object of a dump, and the file that it is in. */
export interface DumpedObject {
  readonly object: ApiObject
  readonly file: string
}

/** The objects of a dump, and the files that hold none. */
export interface Dump {
  readonly objects: DumpedObject[]
  readonly unread: { readonly file: string; readonly reason: string }[]
}

const endings: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json'])

/** Files of velero that hold objects; beside them there are the same objects in other versions. */
const veleroObject = /(?:^|\/)resources\/[^/]+\/(?:cluster|namespaces\/[^/]+)\/[^/]+\.json$/

/**
 * Reads dumps: files of kubectl (YAML or JSON, Lists included), folders with all that is below them, such as those of must-gather and
 * crust-gather, and backups of velero (`.tar.gz`). A file that is named has to hold objects; others without any are listed.
 */
export async function readDump(paths: readonly string[]): Promise<Dump> {
  const dump: Dump = { objects: [], unread: [] }
  for (const path of paths) {
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat === undefined) throw new ManifestError(`${path}: there is no such file or folder`)
    if (stat.isDirectory()) for (const file of filesBelow(path)) await addText(dump, () => readFileSync(file, 'utf8'), file)
    else if (/\.(?:tar\.gz|tgz)$/.test(path)) await addArchive(dump, path)
    else dump.objects.push(...(await objectsOf(readFileSync(path, 'utf8'), path)))
  }
  return dump
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && endings.has(extname(entry.name)))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

async function addText(dump: Dump, read: () => string, file: string): Promise<void> {
  try {
    dump.objects.push(...(await objectsOf(read(), file)))
  } catch (error) {
    dump.unread.push({ file, reason: messageOf(error) })
  }
}

async function objectsOf(text: string, file: string): Promise<DumpedObject[]> {
  if (!text.trimStart().startsWith('{')) return (await parseManifests(text, file)).map(({ object }) => ({ object, file }))
  const decoded = decodeJson(text)
  if (decoded.kind !== 'json') throw new ManifestError(`${file}: ${decoded.message}`)
  return itemsOf(decoded.value, file).map((object) => ({ object, file }))
}

function itemsOf(value: unknown, file: string): ApiObject[] {
  if (!isJsonObject(value)) throw new ManifestError(`${file}: an object was expected`)
  const { apiVersion, kind, metadata, items } = value
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') throw new ManifestError(`${file}: an object has no apiVersion or no kind`)
  // Items of a list of one kind may leave out what the list says.
  const said = kind === 'List' ? {} : { apiVersion, kind: kind.replace(/List$/, '') }
  if (kind.endsWith('List') && Array.isArray(items))
    return items.flatMap((item) => itemsOf(isJsonObject(item) ? { ...said, ...item } : item, file))
  if (!hasMembers(metadata)) throw new ManifestError(`${file}: the ${kind} has no metadata`)
  return [{ ...value, apiVersion, kind, metadata }]
}

async function addArchive(dump: Dump, path: string): Promise<void> {
  const before = dump.objects.length
  for (const { name, content } of entriesOf(unzipped(path), path)) {
    if (veleroObject.test(name)) await addText(dump, () => content.toString(), join(path, relative('.', name)))
  }
  if (dump.objects.length === before)
    throw new ManifestError(
      `${path}: holds no objects: expected a backup of velero, with resources/<resource>/namespaces/<namespace>/<name>.json`,
    )
}

function unzipped(path: string): Buffer {
  try {
    return gunzipSync(readFileSync(path))
  } catch (cause) {
    throw new ManifestError(`${path}: is no archive compressed by gzip`, { cause })
  }
}

const blockBytes = 512

/** The files of a tar archive (POSIX ustar, with long names of GNU and of pax). */
function* entriesOf(archive: Buffer, path: string): Generator<{ readonly name: string; readonly content: Buffer }, void, undefined> {
  let longName: string | undefined
  for (let at = 0; at + blockBytes <= archive.length; ) {
    const text = (start: number, length: number) => archive.toString('utf8', at + start, at + start + length).replace(/\0.*$/s, '')
    const name = text(0, 100)
    if (name === '') return
    const size = Number.parseInt(text(124, 12), 8)
    const type = text(156, 1)
    const start = at + blockBytes
    if (!Number.isSafeInteger(size) || start + size > archive.length) throw new ManifestError(`${path}: the archive is damaged`)
    const content = archive.subarray(start, start + size)
    const prefix = text(345, 155)
    if (type === 'L') longName = content.toString().replace(/\0.*$/s, '')
    else if (type === 'x') longName = /\d+ path=(.*)\n/.exec(content.toString())?.[1]
    else {
      if (type === '0' || type === '') yield { name: longName ?? (prefix === '' ? name : `${prefix}/${name}`), content }
      longName = undefined
    }
    at = start + Math.ceil(size / blockBytes) * blockBytes
  }
}
