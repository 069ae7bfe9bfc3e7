import {
  appendFileSync,
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { getSystemErrorMessage } from 'node:util'
import { systemCodeOf, systemErrnoOf } from '../error-message.ts'
import type { CertificateFiles } from './certificates.ts'

/** A required file or folder cannot be used. The message is a sentence with its name and the reason. */
export class FileError extends Error {
  override readonly name = 'FileError'
}

/**
 * Makes a folder that only its owner may enter. An existing folder keeps its mode, since an administrator may have shared it on
 * purpose. Returns the mode.
 */
export function makePrivateFolder(path: string): number {
  explained(`the folder ${path} cannot be made`, () => {
    makeFolder(path)
    if (!statSync(path).isDirectory()) throw new FileError(`${path} is a file, expected a folder`)
  })
  const { uid, mode } = statSync(path)
  const own = process.geteuid?.() ?? uid
  if (uid !== own && own !== 0) throw new FileError(`the folder ${path} belongs to another user (uid ${uid}, this process has ${own})`)
  return mode & 0o777
}

/** Checks that lines can be appended to a file. A missing file is created, accessible only to its owner. */
export function requireAppendable(path: string): void {
  explained(`the folder ${dirname(path)} cannot be made`, () => makeFolder(dirname(path)))
  explained(`the file ${path} cannot be written`, () => appendFileSync(path, '', { mode: 0o600 }))
}

/**
 * Makes a folder and its missing parents. Node's recursive form never returns if a file system refuses
 * to create a folder with the error "not found", as /proc does.
 */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    const code = systemCodeOf(error)
    if (code === 'EEXIST') return
    if (code !== 'ENOENT' || dirname(path) === path || isThere(dirname(path))) throw error
    makeFolder(dirname(path))
    mkdirSync(path, { mode: 0o700 })
  }
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined
}

/**
 * Writes a file that only its owner may read. A reader sees the old or the new text, never a part. If the disk is too full for a
 * second file, the text replaces the old one in place, so that a server can still start and delete objects.
 */
export function writePrivateFile(path: string, text: string): void {
  const draft = `${path}.${process.pid}.new`
  explained(`the file ${path} cannot be written`, () => {
    try {
      writeFileSync(draft, text, { mode: 0o600 })
      renameSync(draft, path)
    } catch (error) {
      rmSync(draft, { force: true })
      if (systemCodeOf(error) !== 'ENOSPC' || !isThere(path)) throw error
      writeInPlace(path, text)
    }
  })
}

/** Does not truncate the file first, since other programs could use up the freed space. */
function writeInPlace(path: string, text: string): void {
  const file = openSync(path, 'r+')
  try {
    ftruncateSync(file, writeSync(file, text, 0))
  } finally {
    closeSync(file)
  }
}

/** Stores certificates in a folder that only its owner can read. The first write makes a missing folder. */
export function certificateFolder(folder: string): CertificateFiles {
  return {
    read: (name) => readIfPresent(join(folder, name)),
    write: (name, text) => {
      explained(`the folder ${folder} cannot be made`, () => makeFolder(folder))
      writePrivateFile(join(folder, name), text)
    },
  }
}

/** Stores certificates in memory. */
export interface CertificateMemory extends CertificateFiles {
  /** All texts, by name. */
  readonly texts: ReadonlyMap<string, string>
  /** A copy for another server. */
  fork(): CertificateMemory
}

export function certificateMemory(from: Iterable<readonly [string, string]> = []): CertificateMemory {
  const texts = new Map<string, string>(from)
  return { read: (name) => texts.get(name), write: (name, text) => void texts.set(name, text), fork: () => certificateMemory(texts), texts }
}

function readIfPresent(path: string): string | undefined {
  return explained(`the file ${path} cannot be read`, () => (isThere(path) ? readFileSync(path, 'utf8') : undefined))
}

/** Turns a system error into a sentence. */
function explained<T>(what: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    const code = systemCodeOf(error)
    const errno = systemErrnoOf(error)
    if (code === undefined || errno === undefined) throw error
    throw new FileError(`${what}: ${getSystemErrorMessage(errno)} (${code})`, { cause: error })
  }
}
