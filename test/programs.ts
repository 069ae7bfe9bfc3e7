import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Where a program is on the PATH; tests that need one which is absent are skipped, and say so. */
export function findProgram(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  return folders.map((folder) => join(folder, name)).find(isProgram)
}

/** What the title of a skipped test ends with; nothing where all the programs are there. */
export function withoutPrograms(...names: readonly string[]): string {
  const absent = names.filter((name) => findProgram(name) === undefined)
  return absent.length === 0 ? '' : ` [skipped: no ${absent.join(' and no ')} on the PATH]`
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
