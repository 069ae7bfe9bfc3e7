import { execFileSync } from 'node:child_process'
import { readFileSync, realpathSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'

/** The state of sources, runtime and machine at the start of the bench. */
export function benchState() {
  const folder = realpathSync(tmpdir())
  const fileSystem = fileSystemOf(folder, readFileSync('/proc/mounts', 'utf8'))
  return {
    /** The commit of the sources, with `+changes` if files differ from it; `unknown` outside a checkout. */
    commit: commitOf(),
    node: process.version,
    cores: cpus().length,
    cpu: cpus()[0]?.model ?? 'unknown',
    /** The parent folder of the data folders; its file system determines the cost of durable writes. */
    folder,
    fileSystem,
  }
}

/** The type of a folder's file system, from the lines of `/proc/mounts`; the last mount of the longest matching path counts. */
export function fileSystemOf(folder: string, mounts: string): string {
  let found = { path: '', type: 'unknown' }
  for (const line of mounts.split('\n')) {
    const [, path = '', type = 'unknown'] = line.split(' ')
    const isAbove = path === '/' || folder === path || folder.startsWith(`${path}/`)
    if (path !== '' && isAbove && path.length >= found.path.length) found = { path, type }
  }
  return found.type
}

/** True for file systems in memory, where a flush costs nothing. */
export function isInMemory(fileSystem: string): boolean {
  return fileSystem === 'tmpfs' || fileSystem === 'ramfs'
}

function commitOf(): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8', stdio: 'pipe' }).trim()
  try {
    return `${git('rev-parse', '--short=12', 'HEAD')}${git('status', '--porcelain') === '' ? '' : '+changes'}`
  } catch {
    return 'unknown'
  }
}
