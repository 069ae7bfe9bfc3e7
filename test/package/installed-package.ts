import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = new URL('../..', import.meta.url).pathname

/** A project outside the workspace that has the packed package installed. */
export interface InstalledPackage {
  readonly project: string
  readonly tarball: string
  /** The command of the package. */
  readonly bin: string
}

/** The longest time that a process waits for the packing process, which takes seconds. */
const packMsMax = 170_000

/** The result of a packing process. */
type Packed = { readonly tarball: string } | { readonly error: string }

let installed: Promise<InstalledPackage> | undefined

/** Installs the packed package; links to the workspace's modules replace the downloads. */
export function installPackage(): Promise<InstalledPackage> {
  installed ??= install()
  return installed
}

async function install(): Promise<InstalledPackage> {
  const tarball = await packOnce()
  const project = realpathSync(mkdtempSync(join(tmpdir(), 'package-')))
  const modules = join(project, 'node_modules')
  mkdirSync(join(modules, 'orch'), { recursive: true })
  await run('tar', ['xzf', tarball, '-C', join(modules, 'orch'), '--strip-components=1'])
  link(modules, join(root, 'services/storage'), ['lmdb', 'etcd3', '@grpc/grpc-js'])
  link(modules, root, ['vitest', '@types/node'])
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'project', private: true, type: 'module' }))
  return { project, tarball, bin: join(modules, 'orch/bin.cjs') }
}

/** Packs the package once per run. The run's processes share a temporary folder: the first process packs, and the others wait. */
async function packOnce(): Promise<string> {
  const folder = join(realpathSync(tmpdir()), 'packed')
  const end = join(folder, 'end.json')
  if (!isFirst(folder)) {
    for (const began = performance.now(); !existsSync(end); await setTimeout(100)) {
      if (performance.now() - began > packMsMax) throw new Error(`${folder} holds no package after ${packMsMax / 1000} s`)
    }
    const packed: Packed = JSON.parse(readFileSync(end, 'utf8'))
    if ('error' in packed) throw new Error(packed.error)
    return packed.tarball
  }
  const say = (packed: Packed) => {
    writeFileSync(`${end}.new`, JSON.stringify(packed))
    renameSync(`${end}.new`, end)
  }
  try {
    const tarball = await pack(folder)
    say({ tarball })
    return tarball
  } catch (error) {
    say({ error: String(error) })
    throw error
  }
}

/** Creates the folder, which only one process can. */
function isFirst(folder: string): boolean {
  try {
    mkdirSync(folder)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

async function pack(folder: string): Promise<string> {
  const written = await run(process.execPath, [join(root, 'scripts/run.mjs'), 'package', join(folder, 'package')], { cwd: root })
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  const { stdout } = await run('npm', args, { cwd: written.stdout.trim() })
  return join(folder, JSON.parse(stdout)[0].filename)
}

function link(modules: string, from: string, names: readonly string[]): void {
  for (const name of names) {
    const target = join(modules, name)
    mkdirSync(dirname(target), { recursive: true })
    symlinkSync(realpathSync(join(from, 'node_modules', name)), target)
  }
}
