import { type Log, makePrivateFolder, messageOf } from '@orch/platform'
import { type DirectoryLock, lockDirectory } from '@orch/storage'
import { StartError } from '../start-error.ts'

/** Makes the folder, and from here on everything that this process writes, for the owner alone. A folder of before keeps its mode. */
export function makeDataFolder(folder: string, log: Pick<Log, 'warn'>): void {
  process.umask(0o077)
  const mode = makePrivateFolder(folder)
  if ((mode & 0o077) === 0) return
  log.warn({ folder, mode: mode.toString(8) }, 'the data folder is open to other users; new files in it are for the owner alone')
}

/**
 * Takes the folder for this process until it ends, however far the start has come by then: a second server may not open
 * what this one still has open.
 */
export function lockDataFolder(folder: string): Pick<DirectoryLock, 'announce'> {
  try {
    return lockDirectory(folder)
  } catch (error) {
    throw new StartError(messageOf(error), { cause: error })
  }
}
