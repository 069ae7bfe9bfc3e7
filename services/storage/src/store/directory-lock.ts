import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

const lockFile = 'lock'
const ownerFile = 'owner'

/** A data directory that is this process's alone until it is released or the process ends. */
export interface DirectoryLock {
  /** Says where the owner listens, for the message that a second start prints. */
  announce(address: string): void
  release(): void
}

/**
 * Locks a data directory, or throws an error that names its owner. The lock is one that the operating system drops when
 * the process ends, however it ends: SQLite takes it, on a file that never gets content; that is portable and native
 * code of ours is not needed.
 */
export function lockDirectory(directory: string): DirectoryLock {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const database = new DatabaseSync(join(directory, lockFile))
  try {
    database.exec('PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (cause) {
    database.close()
    throw new Error(`the data directory ${directory} is in use by ${ownerOf(directory)}`, { cause })
  }
  const announce = (address: string) =>
    writeFileSync(join(directory, ownerFile), JSON.stringify({ pid: process.pid, address }), { mode: 0o600 })
  announce('')
  return { announce, release: () => database.close() }
}

function ownerOf(directory: string): string {
  try {
    const { pid, address } = JSON.parse(readFileSync(join(directory, ownerFile), 'utf8')) as { pid: number; address: string }
    return address === '' ? `process ${pid}` : `process ${pid}, which listens on ${address}`
  } catch {
    // The owner has the lock already and has not yet written its name.
    return 'another process'
  }
}
