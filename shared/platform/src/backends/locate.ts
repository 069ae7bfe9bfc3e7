import { execFile } from 'node:child_process'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { systemClock } from '../clock.ts'
import { backendFetchTimeoutMs, backendRetryAfterMs } from './limits.ts'

/** Third-party programs that a distributed server needs. */
export type BackendName = 'etcd' | 'nats-server'

/** The path of a program, or one line on how to get it. */
export type LocatedBackend = { readonly kind: 'found'; readonly path: string } | { readonly kind: 'missing'; readonly reason: string }

/** The places in which a program is searched. */
export interface LocateOptions {
  /** The folder that keeps unpacked files for the next time. */
  readonly cacheFolder: string
  /** True if a package of the distribution may be fetched. */
  readonly mayFetch: boolean
}

const packageOf: Readonly<Record<BackendName, string>> = { etcd: 'etcd-server', 'nats-server': 'nats-server' }

const run = promisify(execFile)

/**
 * Finds a program on the PATH, else in the cache, else in the package of Debian's archive. The package is unpacked into the
 * cache and not installed, so no privileges are needed. Several processes may do so at once.
 */
export async function locateBackend(name: BackendName, { cacheFolder, mayFetch }: LocateOptions): Promise<LocatedBackend> {
  const found = onPath(name) ?? inCache(name, cacheFolder)
  if (found !== undefined) return { kind: 'found', path: found }
  const reason = `${name} is not on the PATH; install it (Debian: apt-get install ${packageOf[name]})`
  const failed = join(cacheFolder, `${name}.failed`)
  if (!mayFetch || isYoung(failed)) return { kind: 'missing', reason }
  mkdirSync(cacheFolder, { recursive: true })
  try {
    await unpack(name, cacheFolder)
  } catch (error) {
    writeFileSync(failed, String(error))
    return { kind: 'missing', reason: `${reason}, its package could not be fetched` }
  }
  const path = inCache(name, cacheFolder)
  return path === undefined ? { kind: 'missing', reason } : { kind: 'found', path }
}

function onPath(name: string): string | undefined {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, name)
    if (folder !== '' && isProgram(path)) return path
  }
  return undefined
}

function inCache(name: BackendName, cacheFolder: string): string | undefined {
  return ['bin', 'sbin'].map((folder) => join(cacheFolder, name, 'usr', folder, name)).find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** True if a failure is too recent to try again: without a network each attempt takes long. */
function isYoung(path: string): boolean {
  return existsSync(path) && systemClock.now() - statSync(path).mtimeMs < backendRetryAfterMs
}

async function unpack(name: BackendName, cacheFolder: string): Promise<void> {
  const folder = mkdtempSync(join(cacheFolder, 'fetch-'))
  try {
    await download(packageOf[name], folder)
    const archive = readdirSync(folder).find((file) => file.endsWith('.deb'))
    if (archive === undefined) throw new Error(`apt-get brought no package ${packageOf[name]}`)
    const unpacked = join(folder, 'unpacked')
    await run('dpkg-deb', ['-x', join(folder, archive), unpacked])
    place(unpacked, join(cacheFolder, name))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Moves the unpacked file into the cache. A second process finds it already there. */
function place(unpacked: string, target: string): void {
  try {
    renameSync(unpacked, target)
  } catch (error) {
    if (!existsSync(target)) throw error
  }
}

/** Downloads a package. If apt's package lists are absent or old, they are fetched into a separate folder, which needs no privileges. */
async function download(packageName: string, folder: string): Promise<void> {
  const options = { cwd: folder, timeout: backendFetchTimeoutMs }
  try {
    await run('apt-get', ['download', packageName], options)
  } catch {
    const lists = join(folder, 'lists')
    const cache = join(folder, 'cache')
    for (const part of [join(lists, 'partial'), join(cache, 'archives', 'partial')]) mkdirSync(part, { recursive: true })
    const own = ['-o', `Dir::State::lists=${lists}`, '-o', `Dir::Cache=${cache}`, '-o', 'APT::Sandbox::User=']
    await run('apt-get', [...own, 'update'], options)
    await run('apt-get', [...own, 'download', packageName], options)
  }
}
