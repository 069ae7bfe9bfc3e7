import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = new URL('../..', import.meta.url).pathname

/** A project outside of the workspace in which the packed package is installed. */
export interface InstalledPackage {
  readonly project: string
  readonly tarball: string
  /** The command of the package. */
  readonly bin: string
}

let installed: Promise<InstalledPackage> | undefined

/** Packs the package once per process and installs it; what an installer would fetch is linked to what the workspace has. */
export function installPackage(): Promise<InstalledPackage> {
  installed ??= install()
  return installed
}

async function install(): Promise<InstalledPackage> {
  const project = realpathSync(mkdtempSync(join(tmpdir(), 'package-')))
  // Files of tests run at the same time: each has its own.
  const written = await run(process.execPath, [join(root, 'scripts/run.mjs'), 'package', join(project, 'package')], { cwd: root })
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', project]
  const { stdout } = await run('npm', args, { cwd: written.stdout.trim() })
  const tarball = join(project, JSON.parse(stdout)[0].filename)
  const modules = join(project, 'node_modules')
  mkdirSync(join(modules, 'orch'), { recursive: true })
  await run('tar', ['xzf', tarball, '-C', join(modules, 'orch'), '--strip-components=1'])
  link(modules, join(root, 'services/storage'), ['lmdb', 'etcd3', '@grpc/grpc-js'])
  link(modules, root, ['vitest', '@types/node'])
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'project', private: true, type: 'module' }))
  return { project, tarball, bin: join(modules, 'orch/bin.cjs') }
}

function link(modules: string, from: string, names: readonly string[]): void {
  for (const name of names) {
    const target = join(modules, name)
    mkdirSync(dirname(target), { recursive: true })
    symlinkSync(realpathSync(join(from, 'node_modules', name)), target)
  }
}
