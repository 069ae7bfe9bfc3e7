import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { knownReleases, printRelease } from '@orch/core/feature-gates'
import { SettingsError } from '@orch/platform'
import type { Terminal } from '../process/terminal.ts'
import { StartError } from '../start-error.ts'
import { productVersion } from '../version.ts'
import { type AssetsWords, asksForNewest, readAssetsWords, selectsVersion } from './assets-words.ts'
import { printApiServerHelp, printEtcdHelp } from './help.ts'
import { copyProgram, kubectlScript, ownPackage, programScript } from './programs.ts'

/** The oldest release that has assets, by its minor number. */
const oldestMinor = 25
/** The versions of kube-apiserver that the assets replace, the newest first. */
const versions = Array.from(
  { length: knownReleases.newest - oldestMinor + 1 },
  (_, index) => `${printRelease(knownReleases.newest - index)}.0`,
)
const newestVersion = `${printRelease(knownReleases.newest)}.0`
const programs = ['etcd', 'kube-apiserver', 'kubectl'] as const

/** `orch envtest-assets`: the programs that envtest and its relatives start, in a folder laid out as setup-envtest does. */
export async function envtestAssets(terminal: Terminal, words: readonly string[]): Promise<number> {
  const options = readAssetsWords(words, terminal.env)
  const binDir = resolve(terminal.workingFolder, options.binDir)
  switch (options.action) {
    case 'version':
      terminal.out(`orch envtest-assets ${productVersion}\n`)
      return 0
    case 'list':
      terminal.out(listOf(binDir, options))
      return 0
    case 'cleanup':
      cleanUp(terminal, binDir, options)
      return 0
    case 'use':
      return use(terminal, binDir, options)
  }
}

function use(terminal: Terminal, binDir: string, options: AssetsWords): number {
  const fromEnv = terminal.env['KUBEBUILDER_ASSETS']
  if (options.useEnv && fromEnv !== undefined && programs.every((name) => existsSync(join(fromEnv, name)))) {
    return print(terminal, options, { folder: fromEnv, version: undefined })
  }
  const version = selectVersion(binDir, options)
  if (version === undefined) {
    const served = `the versions from ${versions.at(-1)} to ${newestVersion} are served`
    if (!options.allowsAnyVersion) {
      terminal.error(`orch: no assets of version ${options.version}: ${served}; --allow-any-version takes the newest\n`)
      return 2
    }
    terminal.error(`orch: warning: these assets are not of version ${options.version}: ${served}\n`)
  }
  if (options.os !== process.platform || !isOwnArchitecture(options.arch)) {
    throw new SettingsError(`--os ${options.os} --arch ${options.arch}: assets are written for this machine alone`)
  }
  const found = version ?? newestVersion
  const folder = folderOf(binDir, found, options)
  if (!isCurrent(folder)) {
    if (options.installedOnly) {
      terminal.error(`orch: no assets in ${folder}\n`)
      return 2
    }
    install(folder, found)
  }
  return print(terminal, options, { folder, version: found })
}

/** The newest requested version; an installed version if the arguments allow it and one exists. */
function selectVersion(binDir: string, options: AssetsWords): string | undefined {
  const wanted = versions.filter((version) => selectsVersion(options.version, version))
  const installed = wanted.filter((version) => existsSync(join(folderOf(binDir, version, options), stampFile)))
  const isLocal = options.installedOnly || !asksForNewest(options.version)
  return (isLocal ? installed[0] : undefined) ?? wanted[0]
}

function listOf(binDir: string, options: AssetsWords): string {
  const { os, arch, version: selector, installedOnly } = options
  const lines = versions.flatMap((version) => {
    const isInstalled = existsSync(join(folderOf(binDir, version, options), stampFile))
    if (!selectsVersion(selector, version) || (installedOnly && !isInstalled)) return []
    return [`(${isInstalled ? 'installed' : 'available'})  v${version}  ${os}/${arch}\n`]
  })
  return lines.join('')
}

function isOwnArchitecture(arch: string): boolean {
  return arch === process.arch || (arch === 'amd64' && process.arch === 'x64')
}

function folderOf(binDir: string, version: string, { os, arch }: AssetsWords): string {
  return join(binDir, 'k8s', `${version}-${os}-${arch}`)
}

/** The assets in use. Assets that the environment names may have any version. */
interface Used {
  readonly folder: string
  readonly version: string | undefined
}

function print(terminal: Terminal, { print, os, arch }: AssetsWords, { folder, version = 'unknown' }: Used): number {
  if (print === 'path') terminal.out(folder)
  else if (print === 'env') terminal.out(`export KUBEBUILDER_ASSETS='${folder.replaceAll("'", `'\\''`)}'\n`)
  else terminal.out(`Version: ${version}\nOS/Arch: ${os}/${arch}\nPath: ${folder}\n`)
  return 0
}

/** Written last; names the program whose assets these are. */
const stampFile = '.orch/stamp'

function isCurrent(folder: string): boolean {
  const file = join(folder, stampFile)
  return programs.every((name) => existsSync(join(folder, name))) && existsSync(file) && readFileSync(file, 'utf8') === stamp()
}

/** The product's version and the size and time of its program: a package that was installed anew gives new assets. */
function stamp(): string {
  const { size, mtimeMs } = statSync(fileURLToPath(import.meta.url))
  return `${productVersion} ${size} ${Math.floor(mtimeMs)}\n`
}

/** Writes beside the folder and then renames, because several runs may do so concurrently. */
function install(folder: string, version: string): void {
  const own = ownPackage(fileURLToPath(import.meta.url))
  if (own === undefined) {
    throw new StartError(
      'assets are written by the package: npm run package, then npm install its folder in another project (docs/how-to/package.md)',
    )
  }
  mkdirSync(dirname(folder), { recursive: true })
  const draft = mkdtempSync(`${folder}.`)
  try {
    const program = join(draft, '.orch')
    mkdirSync(program)
    copyProgram(own, program)
    writeFileSync(join(program, 'kube-apiserver.help'), printApiServerHelp(Number(version.split('.')[1])))
    writeFileSync(join(program, 'etcd.help'), printEtcdHelp())
    for (const name of ['kube-apiserver', 'etcd'] as const)
      writeFileSync(join(draft, name), programScript(name, process.execPath, version), { mode: 0o555 })
    writeFileSync(join(draft, 'kubectl'), kubectlScript(process.execPath), { mode: 0o555 })
    writeFileSync(join(draft, stampFile), stamp())
    remove(folder)
    renameSync(draft, folder)
    chmodSync(folder, 0o555)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    // Another run with the same program finished first.
    if (!isCurrent(folder)) throw error
  }
}

function remove(folder: string): void {
  if (!existsSync(folder)) return
  chmodSync(folder, 0o755)
  rmSync(folder, { recursive: true, force: true })
}

function cleanUp(terminal: Terminal, binDir: string, { version }: AssetsWords): void {
  const all = join(binDir, 'k8s')
  const folders = existsSync(all) ? readdirSync(all) : []
  for (const name of folders.filter(
    (name) => existsSync(join(all, name, stampFile)) && selectsVersion(version, name.split('-')[0] ?? ''),
  )) {
    remove(join(all, name))
    terminal.out(`(removed)    v${name.replace('-', '  ').replace('-', '/')}\n`)
  }
}
