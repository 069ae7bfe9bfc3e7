/** One folder for all temporary files of a test run, removed when the run ends. The next run removes the files of a killed run. */
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const prefix = 'orch-tests-'

/**
 * Creates the folder and sets it, with the compile cache, in the environment of this process and its children. Returns a function that removes the
 * folder.
 */
export default function setup() {
  const environment = { TMPDIR: process.env.TMPDIR, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }
  const parent = tmpdir()
  removeLeftOvers(parent)
  const folder = join(parent, `${prefix}${process.pid}`)
  mkdirSync(folder, { recursive: true })
  process.env.TMPDIR = folder
  process.env.NODE_COMPILE_CACHE = compileCache()
  return () => {
    for (const [name, before] of Object.entries(environment)) {
      if (before === undefined) delete process.env[name]
      else process.env[name] = before
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/**
 * The folder of Node's compile cache, which the next run reuses: without it every process and thread compiles the same modules again. A changed module
 * leaves its old entry behind, so a folder with too many entries is emptied.
 */
export function compileCache(folder = join(import.meta.dirname, '../.cache/compile-cache'), entriesMax = 20_000) {
  const entries = existsSync(folder) ? readdirSync(folder, { recursive: true }).length : 0
  if (entries > entriesMax) rmSync(folder, { recursive: true, force: true })
  return folder
}

/** Removes the folders of ended runs. A folder that cannot be removed, for example with a mounted file system, stays and fails no run. */
export function removeLeftOvers(parent, remove = rmSync) {
  for (const name of readdirSync(parent)) {
    const pid = name.startsWith(prefix) ? Number(name.slice(prefix.length)) : Number.NaN
    if (!Number.isSafeInteger(pid) || pid <= 0 || isRunning(pid)) continue
    try {
      remove(join(parent, name), { recursive: true, force: true })
    } catch (error) {
      process.stderr.write(`${join(parent, name)} is left by an ended run and cannot be removed: ${error.message}\n`)
    }
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}
