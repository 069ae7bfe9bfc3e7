import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { knownReleases, printRelease } from '@orch/core/feature-gates'
import { SettingsError } from '@orch/platform'
import { StartError, type Terminal } from '../process/terminal.ts'
import { productVersion } from '../version.ts'
import { type AssetsWords, asksForNewest, readAssetsWords, selectsVersion } from './assets-words.ts'
import { printApiServerHelp, printEtcdHelp } from './settings.ts'

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

interface Manifest {
  readonly name: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** Copies an installed package and its dependencies into a separate folder, from which it can run. */
function copyProgram(packageFolder: string, target: string): void {
  cpSync(join(packageFolder, 'dist'), join(target, 'dist'), { recursive: true })
  cpSync(join(packageFolder, 'package.json'), join(target, 'package.json'))
  copyDependencies(packageFolder, target)
}

/** Each package has its dependencies below itself unless the same version is further up. */
function copyDependencies(from: string, target: string, above: ReadonlyMap<string, string> = new Map()): void {
  const { dependencies = {}, optionalDependencies = {} } = readManifest(from)
  const own = new Map(above)
  const copied: [from: string, target: string][] = []
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const found = findPackage(name, from)
    // Copies only binaries for this platform; only compilers need types.
    if (found === undefined || name.startsWith('@types/') || own.get(name) === found) continue
    own.set(name, found)
    const folder = join(target, 'node_modules', name)
    cpSync(found, folder, { recursive: true, dereference: true, filter: (path) => !path.slice(found.length).includes('node_modules') })
    copied.push([found, folder])
  }
  for (const [source, folder] of copied) copyDependencies(source, folder, own)
}

function findPackage(name: string, from: string): string | undefined {
  const folders = createRequire(join(realpathSync(from), 'package.json')).resolve.paths(name) ?? []
  const found = folders.map((folder) => join(folder, name)).find((folder) => existsSync(join(folder, 'package.json')))
  return found === undefined ? undefined : realpathSync(found)
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

/** The package that this module is part of; undefined in a clone of the project. */
function ownPackage(moduleFile: string): string | undefined {
  const folder = dirname(dirname(moduleFile))
  if (!existsSync(join(folder, 'package.json')) || !existsSync(join(folder, 'bin.cjs'))) return undefined
  return folder
}

/**
 * The shell script of a program of the assets. It answers `--help` without Node.js; everything else runs the program beside the script, in the same
 * process. kube-apiserver is of the release of its version.
 */
function programScript(name: 'kube-apiserver' | 'etcd', node: string, version: string): string {
  const release = version.split('.').slice(0, 2).join('.')
  const entry = { 'kube-apiserver': 'api-server.js', etcd: 'etcd.js' }[name]
  return `#!/bin/sh
here=\${0%/*}
for word in "$@"; do
  case $word in
    --help|-help|-h) exec cat "$here/.orch/${name}.help" ;;
  esac
done
${findNode(name, node)}
export ORCH_EMULATED_VERSION=${release}
exec "$node" --max-semi-space-size=16 --min-semi-space-size=8 "$here/.orch/dist/${entry}" "$@"
`
}

/** The Node.js that wrote the assets, else the Node.js on PATH. */
function findNode(name: string, node: string): string {
  return `node=${quote(node)}
if [ ! -x "$node" ]; then
  node=$(command -v node) || {
    echo "${name}: the Node that wrote these assets is gone (${node}) and there is none on the PATH; run orch envtest-assets use once more" >&2
    exit 1
  }
fi`
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** The first kubectl on PATH; without kubectl, orchctl, which has the most used commands. */
function kubectlScript(node: string): string {
  return `#!/bin/sh
here=$(cd "\${0%/*}" && pwd)
IFS=:
for folder in $PATH; do
  if [ "$folder" != "$here" ] && [ -x "$folder/kubectl" ]; then
    unset IFS
    exec "$folder/kubectl" "$@"
  fi
done
unset IFS
${findNode('kubectl', node)}
exec "$node" "$here/.orch/dist/main.js" ctl "$@"
`
}
