import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The path of a program on PATH. A test whose program is absent is skipped and says so. */
export function findProgram(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  return folders.map((folder) => join(folder, name)).find(isProgram)
}

/** The variables with which programs start quickly: Node's compile cache, and the pace of Go's collections. */
export function quickStart(): Record<string, string> {
  const { NODE_COMPILE_CACHE, GOGC } = process.env
  return { ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }), ...(GOGC === undefined ? {} : { GOGC }) }
}

/** The suffix of a skipped test's title; empty if all programs are present. */
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
