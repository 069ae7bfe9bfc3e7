import { type DirectoryLock, lockDirectory } from '@orch/storage'
import { StartError } from '../start-error.ts'

/**
 * Takes the folder for this process until it ends, however far the start has come by then: a second server may not open
 * what this one still has open.
 */
export function lockDataFolder(folder: string): Pick<DirectoryLock, 'announce'> {
  try {
    return lockDirectory(folder)
  } catch (error) {
    throw new StartError((error as Error).message, { cause: error })
  }
}
