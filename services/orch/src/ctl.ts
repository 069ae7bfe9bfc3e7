import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { ConfigurationError, createClient, createTransport, loadConfiguration } from '@orch/client'
import { type Captured, configurationFiles, runCtl } from '@orch/ctl'
import { settingsOf, settingTypes, systemClock, systemCodeOf } from '@orch/platform'
import { StartError, type Terminal } from './process/terminal.ts'

/** `orch ctl`, and the command `orchctl` of the package. */
export async function ctl(terminal: Terminal, words: readonly string[]): Promise<number> {
  const { env, workingFolder, out, error, statusLine } = terminal
  const ending = new AbortController()
  process.once('SIGINT', () => ending.abort())
  return runCtl({
    arguments: words,
    env,
    workingFolder,
    homeFolder: homedir(),
    ...(await nearConfiguration(terminal)),
    isInteractive: process.stdin.isTTY === true,
    hasColors: process.stdout.isTTY === true && process.stdout.hasColors() && (env['NO_COLOR'] ?? '') === '',
    lineWidth: () => (process.stdout.isTTY === true ? process.stdout.columns : undefined),
    out,
    error,
    readInput,
    run,
    capture,
    ...(statusLine === undefined ? {} : { statusLine }),
    signal: ending.signal,
  })
}

/** The administrator's configuration of the single running server below the working folder, as found by `orch status`. */
export async function nearConfiguration(terminal: Terminal): Promise<{ nearConfiguration?: string }> {
  const { findInstances } = await import('./instance/folders.ts')
  const running = findInstances(terminal, { dataDir: '', profile: '' }).filter(({ owner }) => owner !== undefined)
  const files = running.map(({ folder }) => join(folder, 'admin.conf')).filter((file) => existsSync(file))
  const [file] = files
  return file === undefined || files.length > 1 ? {} : { nearConfiguration: file }
}

/** Runs a program with exclusive use of the terminal. */
function run(program: string, words: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { stdio: 'inherit' })
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? 1))
  })
}

function capture(program: string, words: readonly string[]): Promise<Captured | undefined> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] })
    const printed = { out: '', error: '' }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed.out += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      printed.error += text
    })
    child.on('error', (error) => (systemCodeOf(error) === 'ENOENT' ? resolve(undefined) : reject(error)))
    child.on('close', (code) => resolve({ code: code ?? 1, ...printed }))
  })
}

async function readInput(): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of process.stdin) parts.push(part)
  return Buffer.concat(parts).toString()
}

const { string } = settingTypes
const setting = settingsOf('Cluster')

/** The settings of a command that is a client of a server. */
export const clusterSettings = {
  kubeconfig: setting(
    { flag: '--kubeconfig', type: string, defaultDoc: 'those of KUBECONFIG, that of a server started here, or ~/.kube/config' },
    'Client configuration file.',
  ),
  context: setting({ flag: '--context', type: string, defaultDoc: 'the current one' }, 'Context of the client configuration.'),
}

/** Connects to the server of the settings or the environment. */
export async function openCluster(terminal: Terminal, { kubeconfig, context }: { readonly kubeconfig: string; readonly context: string }) {
  const { env, error, workingFolder } = terminal
  const given = kubeconfig === '' ? undefined : resolve(workingFolder, kubeconfig)
  const files = configurationFiles({ env, homeFolder: homedir(), ...(await nearConfiguration(terminal)) }, given)
  const file = files.find((name) => existsSync(name))
  if (file === undefined) throw new StartError(`no client configuration found: ${files.join(', ')}; give one with --kubeconfig`)
  const configuration = await loadConfiguration(file, context === '' ? {} : { context }).catch((cause) => {
    throw cause instanceof ConfigurationError ? new StartError(`${file}: ${cause.message}`, { cause }) : cause
  })
  const transport = createTransport(configuration, { now: () => systemClock.now(), env, isInteractive: false, say: error })
  return { client: createClient(transport), transport }
}
