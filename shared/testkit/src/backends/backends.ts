import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BackendName, type LocatedBackend, locateBackend } from '@orch/platform/backends'

/** Finds the program, or the reason why it is missing; if needed, fetches Debian's package into the project's cache. */
export function findBackend(name: BackendName): Promise<LocatedBackend> {
  return locateBackend(name, { cacheFolder: join(projectFolder(), '.cache', 'backends'), mayFetch: true })
}

function projectFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'pnpm-workspace.yaml'))) {
    const parent = dirname(folder)
    if (parent === folder) throw new Error('the project’s folder was not found')
    folder = parent
  }
  return folder
}
