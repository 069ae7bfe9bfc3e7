import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { messageOf, systemCodeOf, writePrivateFile } from '@orch/platform'

const lockFile = 'lock'
const ownerFile = 'owner'

/** SQLite's code for a lock of another process. */
const busyCode = 5

/** A lock ends with its object, so the owner must keep a reference, or the garbage collector ends the lock. */
const held = new Set<DatabaseSync>()

/** A data directory that belongs to this process until it is released or the process ends. */
export interface DirectoryLock {
  /** Records the owner's address, for the message of a second start. */
  announce(address: string): void
  /** For a process that continues after closing all files in the directory; otherwise the lock ends with the process. */
  release(): void
}

/**
 * Locks a data directory; throws an error that names the owner if it is locked. The operating system releases the lock when the process ends in any
 * way. SQLite takes it on an empty file: that is portable and needs no native code here.
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
    const isTaken = cause instanceof Error && 'errcode' in cause && cause.errcode === busyCode
    throw new Error(isTaken ? `the data directory ${directory} is in use by ${ownerOf(directory)}` : `${path}: ${messageOf(cause)}`, {
      cause,
    })
  }
}

function ownerOf(directory: string): string {
  const owner = readOwner(directory)
  if (owner === undefined) return 'another process'
  return owner.address === '' ? `process ${owner.pid}` : `process ${owner.pid}, which listens on ${owner.address}`
}

/** The process that holds the lock of a data directory, from its own announcement. */
export interface DirectoryOwner {
  readonly pid: number
  /** '' while the process starts. */
  readonly address: string
}

/** The owner of a data directory; undefined if the directory is free. Checks the lock only if the process is alive. */
export function directoryOwner(directory: string): DirectoryOwner | undefined {
  const owner = readOwner(directory)
  if (owner === undefined || !isAlive(owner.pid) || !isLocked(directory)) return undefined
  return owner
}

function readOwner(directory: string): DirectoryOwner | undefined {
  try {
    const { pid, address }: Partial<DirectoryOwner> = JSON.parse(readFileSync(join(directory, ownerFile), 'utf8'))
    return pid === undefined ? undefined : { pid, address: address ?? '' }
  } catch {
    // No server has used the directory, or the owner is just writing its announcement.
    return undefined
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return systemCodeOf(error) === 'EPERM'
  }
}

/** The process id may belong to another program by now, so the lock decides. */
function isLocked(directory: string): boolean {
  try {
    openLock(directory).close()
    return false
  } catch {
    return true
  }
}
