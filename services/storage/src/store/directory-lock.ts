import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { writePrivateFile } from '@orch/platform'

const lockFile = 'lock'
const ownerFile = 'owner'

/** What SQLite says where another process has the lock. */
const busyCode = 5

/** A lock ends with the object that holds it, and the collector of garbage would end one that its owner has not kept. */
const held = new Set<DatabaseSync>()

/** A data directory that is this process's alone until it is released or the process ends. */
export interface DirectoryLock {
  /** Says where the owner listens, for the message that a second start prints. */
  announce(address: string): void
  /** For a process that goes on and has closed everything in the directory; otherwise the lock ends with the process. */
  release(): void
}

/**
 * Locks a data directory, or throws an error that names its owner. The lock is one that the operating system drops when
 * the process ends, however it ends: SQLite takes it, on a file that never gets content; that is portable and native
 * code of ours is not needed.
 */
export function lockDirectory(directory: string): DirectoryLock {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const database = openLock(directory)
  held.add(database)
  const announce = (address: string) => writePrivateFile(join(directory, ownerFile), JSON.stringify({ pid: process.pid, address }))
  announce('')
  return {
    announce,
    release() {
      held.delete(database)
      database.close()
    },
  }
}

function openLock(directory: string): DatabaseSync {
  const path = join(directory, lockFile)
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(path)
    database.exec('PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return database
  } catch (cause) {
    database?.close()
    const { errcode, message } = cause as Error & { errcode?: number }
    const isTaken = errcode === busyCode
    throw new Error(isTaken ? `the data directory ${directory} is in use by ${ownerOf(directory)}` : `${path}: ${message}`, { cause })
  }
}

function ownerOf(directory: string): string {
  try {
    const { pid, address }: { pid: number; address: string } = JSON.parse(readFileSync(join(directory, ownerFile), 'utf8'))
    return address === '' ? `process ${pid}` : `process ${pid}, which listens on ${address}`
  } catch {
    // The owner has the lock already and has not yet written its name.
    return 'another process'
  }
}
