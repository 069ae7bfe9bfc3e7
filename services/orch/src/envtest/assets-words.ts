import { homedir } from 'node:os'
import { join } from 'node:path'
import { SettingsError, splitFlag } from '@orch/platform'

/** The form in which the command prints the folder. */
type PrintMode = 'overview' | 'path' | 'env'

/** Settings of `orch envtest-assets`. */
export interface AssetsWords {
  readonly action: 'use' | 'list' | 'cleanup' | 'version'
  readonly print: PrintMode
  readonly binDir: string
  readonly os: string
  readonly arch: string
  /** Uses the folder that `KUBEBUILDER_ASSETS` names, if it is complete. */
  readonly useEnv: boolean
  /** Writes no file. */
  readonly installedOnly: boolean
  /** Accepts the existing version, whatever the requested version. */
  readonly allowsAnyVersion: boolean
  /** Version or range, such as `1.31.x`; empty for the newest. */
  readonly version: string
}

const actions = ['use', 'list', 'cleanup', 'version'] as const
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/** The output of `orch help envtest-assets`. */
export const assetsHelp = `Usage: orch envtest-assets use|list|cleanup|version [version] [flags]

Write the programs that envtest starts: etcd, kube-apiserver and kubectl.

  use      write them where they are absent, and print where they are
  list     print the versions that there are, and which are installed
  cleanup  remove them
  version  print the version of orch

version is such as 1.31.0, 1.31.x, ~1.31.0, <1.32, <=1.32 or latest: the newest that fits, of those installed if there are any. With
a ! at its end it is the newest of all. All patches of a release are one version here.

Flags:
  -p, --print overview|path|env
        What use prints. (default overview)
      --bin-dir path
        Folder of all versions; by default that of setup-envtest.
  -i, --installed-only
        Write nothing: fail where they are absent.
      --use-env
        Take what KUBEBUILDER_ASSETS names, if all is there.
      --allow-any-version
        Take the newest version where the wanted one is absent, with a warning.
      --os system, --arch architecture
        Must be those of this machine.
  -v, --index, --remote-server value
        Without object here: nothing is fetched.
`

/** The platform of assets, in Node's names. */
export interface Machine {
  readonly platform: string
  readonly arch: string
}

/** Reads the command line as setup-envtest does. */
export function readAssetsWords(
  words: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  machine: Machine = process,
): AssetsWords {
  const found: { -readonly [K in keyof AssetsWords]?: AssetsWords[K] } = {}
  const positional: string[] = []
  const queue = [...words]
  for (let word = queue.shift(); word !== undefined; word = queue.shift()) {
    if (!word.startsWith('-')) {
      positional.push(word)
      continue
    }
    const { flag, text: given } = splitFlag(word)
    const value = () => {
      const text = given ?? queue.shift()
      if (text === undefined) throw new SettingsError(`flag needs an argument: ${flag}`)
      return text
    }
    if (flag === '-i' || flag === '--installed-only') found.installedOnly = given !== 'false'
    else if (flag === '--allow-any-version') found.allowsAnyVersion = given !== 'false'
    else if (flag === '--use-env') found.useEnv = given !== 'false'
    else if (flag === '-p' || flag === '--print') found.print = parsePrintMode(value())
    else if (flag === '--bin-dir') found.binDir = value()
    else if (flag === '--os') found.os = value()
    else if (flag === '--arch') found.arch = value()
    else if (flag === '-v' || flag === '--verbose' || flag === '--index' || flag === '--remote-server') value()
    else
      throw new SettingsError(
        `unknown flag ${flag} (known: -i, -p, --allow-any-version, --bin-dir, --os, --arch, --use-env; orch help envtest-assets)`,
      )
  }
  const [action = '', version = ''] = positional
  const known = actions.find((name) => name === action)
  if (known === undefined) throw new SettingsError(`envtest-assets ${action}: must be one of ${actions.join(', ')}`)
  return {
    action: known,
    version,
    print: 'overview',
    binDir: defaultFolder(env, machine),
    os: machine.platform,
    arch: architectures[machine.arch] ?? machine.arch,
    useEnv: false,
    installedOnly: false,
    allowsAnyVersion: false,
    ...found,
  }
}

function parsePrintMode(text: string): PrintMode {
  if (text === 'overview' || text === 'path' || text === 'env') return text
  throw new SettingsError(`-p ${text}: must be overview, path or env`)
}

/** The folder of setup-envtest's assets. */
function defaultFolder(env: Readonly<Record<string, string | undefined>>, { platform }: Machine): string {
  if (platform === 'darwin') return join(homedir(), 'Library/Application Support/io.kubebuilder.envtest')
  return join(env['XDG_DATA_HOME'] || join(homedir(), '.local/share'), 'kubebuilder-envtest')
}

/** Selectors of the newest version. */
const newest: readonly string[] = ['', 'latest']

/** True if a selector means the newest of all versions and not of the installed versions. */
export function asksForNewest(selector: string): boolean {
  return selector.endsWith('!') || newest.includes(selector)
}

/**
 * True if a selector of versions matches this version: `1.31.0`, `1.31.x`, `1.31`, `~1.31.2`, `<1.32`, `<=1.32`, `latest`, each with
 * an optional `!`. All patches of a release are the same.
 */
export function selectsVersion(selector: string, version: string): boolean {
  const text = selector.replace(/!$/, '').replace(/^v/, '')
  if (newest.includes(text) || text === 'latest-on-disk') return true
  const match = /^(~|<=?)?v?(\d+|\*|x)(?:\.(\d+|\*|x))?(?:\.(\d+|\*|x))?$/.exec(text)
  if (match === null)
    throw new SettingsError(`version ${selector}: must be like 1.31.0, 1.31.x, ~1.31.0, <1.32, <=1.32, latest or latest-on-disk`)
  const wanted = match.slice(2).map((part) => (part === undefined || part === '*' || part === 'x' ? undefined : Number(part)))
  const own = version.split('.').map(Number)
  const isEqual = wanted.slice(0, 2).every((part, index) => part === undefined || part === own[index])
  if (match[1]?.startsWith('<')) return isBefore(own, wanted) || (match[1] === '<=' && isEqual)
  return isEqual
}

function isBefore(own: readonly number[], bound: readonly (number | undefined)[]): boolean {
  for (const [index, part = 0] of bound.entries()) {
    const digit = own[index] ?? 0
    if (digit !== part) return digit < part
  }
  return false
}
