import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { checkFile, stateOfFile } from './file-check.ts'
import { DamageError } from './lmdb-file.ts'

const fileName = 'state.mdb'
const markName = 'initialized'
const markText = `${fileName} holds the state of this folder. While this file is here, no server starts without that one.\n`

/** The names of the state files in a data folder; without these files the folder is unused. */
export const storeFiles = [fileName, `${fileName}-lock`, markName] as const

/** The name of the folder in a data folder in which a restore makes the new state. */
export const restoringName = 'restoring'

/** The files of a store in a folder. */
export interface DataFolder {
  readonly directory: string
  /** LMDB's data file. */
  readonly path: string
  /** The folder has contained a store, so a missing or empty data file is an error. */
  readonly isUsed: boolean
}

/**
 * Checks a folder before LMDB opens the file in it. A used file has these trees; otherwise a DamagedStoreError names the error and its remedy in one
 * sentence.
 */
export function checkDataFolder(directory: string, trees: readonly string[]): DataFolder {
  const path = join(directory, fileName)
  const folder = { directory, path, isUsed: existsSync(join(directory, markName)) }
  const size = statSync(path, { throwIfNoEntry: false })?.size
  if (size === undefined && folder.isUsed) throw new DamagedStoreError(folder, whyMissing(directory))
  if (size === 0 && folder.isUsed) throw new DamagedStoreError(folder, 'it is empty, and the folder has been in use')
  if (size !== undefined && size > 0) explainDamage(folder, () => checkFile(path, folder.isUsed ? trees : [], closedAs(folder)))
  return folder
}

/** The note about the data file from the last clean close; undefined if there is none. */
function closedAs({ directory, isUsed }: DataFolder): string | undefined {
  return isUsed ? /^closed: (.+)$/m.exec(readFileSync(join(directory, markName), 'utf8'))?.[1] : undefined
}

function whyMissing(directory: string): string {
  return existsSync(join(directory, restoringName))
    ? 'it is missing, as a restore was interrupted; the same restore with --replace completes it'
    : 'it is missing, and the folder has been in use'
}

/** Turns a DamageError into an error that names the file. */
export function explainDamage<T>(folder: DataFolder, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof DamageError ? new DamagedStoreError(folder, error.message, { cause: error }) : error
  }
}

/** Records durably that the folder has a store, before the first acknowledged commit. */
export function markUsed({ directory, path, isUsed }: DataFolder): void {
  if (isUsed) return
  writeFileSync(join(directory, markName), markText, { mode: 0o600, flush: true })
  // The names of both files.
  syncFolder(dirname(path))
}

/** Records the data file's state after a clean close, so that the next start need not read all pages. A start without the note reads all pages. */
export function markClosed({ directory, path }: DataFolder): void {
  const mark = join(directory, markName)
  try {
    const text = `${markText}closed: ${stateOfFile(path)}\n`
    writeFileSync(`${mark}.new`, text, { mode: 0o600 })
    renameSync(`${mark}.new`, mark)
  } catch {
    // The folder may be full or missing; the note is optional.
  }
}

/** Makes the names of a folder's files durable. */
export function syncFolder(directory: string): void {
  // Windows cannot open folders, and its file systems journal names.
  if (process.platform === 'win32') return
  const descriptor = openSync(directory, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}

/** The data file of a store differs from the store's writes. */
export class DamagedStoreError extends Error {
  /** The damage itself, without the file. */
  readonly what: string

  constructor({ directory, path }: Pick<DataFolder, 'directory' | 'path'>, what: string, options?: { cause?: unknown }) {
    super(
      `the data file ${path} is damaged (${what}): put back a copy of the folder ${directory}, or move it away to start with an empty one`,
      options,
    )
    this.name = 'DamagedStoreError'
    this.what = what
  }
}
