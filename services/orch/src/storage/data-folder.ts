import type { Store } from '@orch/core/contracts'
import type { Revision } from '@orch/core/meta'
import type { Profile } from '@orch/core/names'
import { endAtOnce, type Log, type LogFormat, makePrivateFolder, messageOf } from '@orch/platform'
import { type DirectoryLock, lockDirectory, openLmdbStore } from '@orch/storage'
import { printComplaint, type Terminal } from '../process/terminal.ts'
import { StartError } from '../start-error.ts'

/** Creates the folder and lets only the owner read all files that this process writes from now on. An existing folder keeps its mode. */
export function makeDataFolder(folder: string, log: Pick<Log, 'warn'>): void {
  process.umask(0o077)
  const mode = makePrivateFolder(folder)
  if ((mode & 0o077) === 0) return
  log.warn({ folder, mode: mode.toString(8) }, 'the data folder is open to other users; new files in it are for the owner alone')
}

/** Locks the folder for this process until it ends, at any stage of the start: a second server must not open files that this process still has open. */
export function lockDataFolder(folder: string): DirectoryLock {
  try {
    return lockDirectory(folder)
  } catch (error) {
    throw new StartError(messageOf(error), { cause: error })
  }
}

/** The store of a folder, with the process's messages. */
export interface FolderStoreOptions {
  readonly directory: string
  readonly profile: Profile
  readonly terminal: Pick<Terminal, 'error'>
  readonly logFormat: LogFormat
}

/**
 * Opens the store of a folder that this process has locked. A StartError explains a fault. If a value that is read later is damaged, the process ends
 * at once with the same explanation, so that nothing continues without the value.
 */
export async function openFolderStore({ directory, profile, terminal, logFormat }: FolderStoreOptions): Promise<Store> {
  const onDamage = ({ message }: Error) => {
    terminal.error(printComplaint(logFormat, 'error', message))
    process.exit(1)
  }
  const onFailure = ({ message }: Error) => {
    const text = `${message}: the server ends; once the disk is sound it starts with all that it has acknowledged`
    // lmdb has started a line on the terminal.
    terminal.error(`\n${printComplaint(logFormat, 'error', text)}`)
    endAtOnce()
  }
  const onPastForgotten = (damage: string, upTo: Revision) => {
    const text =
      `the past in the data file of ${directory} is damaged (${damage}): changes up to revision ${upTo} are forgotten, ` +
      'and the server goes on, as nothing current is damaged'
    terminal.error(printComplaint(logFormat, 'warn', text))
  }
  sayOnce()
  try {
    return await openLmdbStore({ directory, profile, onDamage, onFailure, onPastForgotten })
  } catch (error) {
    throw new StartError(messageOf(error), { cause: error })
  }
}

/** lmdb prints each error with its stack and also rejects with it. Only lmdb's errors have numeric codes. */
function sayOnce(): void {
  const { error: print } = console
  console.error = (...values: unknown[]) => {
    const [first] = values
    if (!(first instanceof Error && 'code' in first && typeof first.code === 'number')) print(...values)
  }
}
