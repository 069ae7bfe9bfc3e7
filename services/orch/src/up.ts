import { spawn } from 'node:child_process'
import { closeSync, openSync, rmSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { usualNamespaceDelayMs } from '@orch/controllers'
import {
  certificateFolder,
  createLifecycle,
  createLog,
  endOnFailure,
  type Log,
  makePrivateFolder,
  stopOnSignal,
  systemChance,
  systemClock,
} from '@orch/platform'
import { leaveEarlySignals } from '@orch/platform/early-signals'
import { createMemoryStore } from '@orch/storage'
import { writeClientFiles } from './certificates/clients.ts'
import { serverIdentity } from './controllers/open.ts'
import { usualNodes } from './nodes/open.ts'
import { printReadyLine, StartError, type StarterMessage, type Terminal } from './process/terminal.ts'
import { type Server, type ServerOptions, startServer } from './server.ts'
import { controlFile } from './settings/general.ts'
import { readUpOptions, threadsHere, type UpOptions } from './settings/up.ts'
import { optionsOfFork } from './start/start-settings.ts'
import { printStartMessage, toStartFields } from './start-message.ts'
import { lockDataFolder, makeDataFolder, openFolderStore } from './storage/open.ts'
import type { StopOptions } from './surroundings.ts'
import { openTelemetry, type Telemetry } from './telemetry/open.ts'

/** `orch up`: starts the server and prints its address; it runs until a signal stops it. */
export async function up(terminal: Terminal, flags: readonly string[]): Promise<number | undefined> {
  const options = await readUpOptions(terminal, flags)
  if (options.settings.detach) {
    makePrivateFolder(options.dataDir)
    return upDetached(terminal, flags, options.dataDir)
  }
  if (options.settings.distributed) return (await import('./distributed/up-distributed.ts')).upDistributed(terminal, options)
  const { settings, dataDir } = options
  const log = createLog({ level: settings.logLevel, format: settings.logFormat })
  endOnFailure({ source: process, log, exit: () => process.exit(1) })
  for (const warning of options.api.featureGates.warnings) log.warn({}, warning)
  makeDataFolder(dataDir, log)
  const lock = lockDataFolder(dataDir)
  const scope = createLifecycle({ log })
  const { serving } = options
  const started = Promise.withResolvers<void>()
  const how: StopOptions = { delayMs: serving.shutdownDelayMs, graceMs: serving.watchGraceMs, finishesRequests: true }
  let isStopping = false
  // Handlers are set before the server listens, because a client may send a signal in the first second. A signal during the start takes effect after
  // it.
  const signals = stopOnSignal({
    source: process,
    log,
    async stop() {
      log.info({}, 'stopping')
      isStopping = true
      await started.promise
      await scope.stop()
    },
  })
  try {
    const telemetry = scope.opened('telemetry', await openTelemetry({ service: 'server', env: terminal.env, clock: systemClock, log }))
    const hasGivenCertificate = options.serving.servingPair !== undefined
    const beforeReady = async (server: Server) => {
      if (settings.load.length > 0) {
        const paths = settings.load.map((path) => resolve(terminal.workingFolder, path))
        await loadIntoStarted(server, paths, log)
      }
      lock.announce(server.url)
      writeClientFiles({ ...server, dataDir, hasGivenCertificate })
    }
    const server = await start({ ...options, beforeReady }, log, telemetry, terminal)
    let isReady = false
    scope.onStop('server', () => server.stop(isReady ? how : { delayMs: 0, graceMs: 0 }))
    if (isStopping) return undefined
    isReady = true
    const message = {
      profile: settings.profile,
      configuration: server.configuration,
      hasGivenCertificate,
      dataDir,
      isInMemory: settings.memory,
      hasControl: settings.control,
      workingFolder: terminal.workingFolder,
    }
    const text = printStartMessage(message)
    terminal.out(printReadyLine(settings.logFormat, text, toStartFields(message)))
    await terminal.notify?.({ kind: 'ready', text })
  } catch (error) {
    signals.close()
    await scope.stop()
    throw error
  } finally {
    started.resolve()
  }
}

async function start(
  { settings, dataDir, texts, ...options }: UpOptions & Pick<ServerOptions, 'beforeReady'>,
  log: Log,
  { tracer }: Telemetry,
  terminal: Terminal,
): Promise<Server> {
  const threads = threadsHere(settings.threads, log)
  const server = {
    ...options,
    hasUsualConsole: true,
    simulatedNodes: usualNodes(settings.simulatedNodes),
    store: settings.memory ? createMemoryStore() : await openFolderStore({ ...settings, directory: dataDir, terminal }),
    adminKey: 'RSA',
    namespaceDelayMs: usualNamespaceDelayMs,
    hasProcessMetrics: true,
    // Threads then read neither the settings file nor the environment.
    threads: { count: threads, flags: [...texts].filter(([flag]) => flag !== '--config').map(([flag, text]) => `${flag}=${text}`) },
    chance: systemChance,
    log,
    tracer,
  } as const
  if (!settings.control) {
    // A killed process does not delete its file.
    rmSync(join(dataDir, controlFile), { force: true })
    return startServer({ ...server, clock: systemClock, certificateFiles: certificateFolder(dataDir) })
  }
  const { startControlledServer } = await import('./start/controlled-server.ts')
  const fork = optionsOfFork(settings.profile, texts)
  return startControlledServer({ server, dataDir, isVirtual: settings.virtualClock, start: fork })
}

/** Loads dumps into a server that is starting. */
export async function loadIntoStarted(server: Server, paths: readonly string[], log: Log): Promise<void> {
  const { explained, load } = await import('./load/load.ts')
  const { storeIn } = await import('./load/store-objects.ts')
  const client = server.clientAs(serverIdentity)
  try {
    const store = storeIn({ client, loadObjects: server.loadObjects })
    const { findings, unread, ...counts } = await explained(() => load(paths, {}, { client, store }))
    for (const { object, file, reason } of findings) log.warn({ object, file }, reason)
    for (const { file, reason } of unread) log.debug({ file }, reason)
    log.info({ ...counts, findings: findings.length, unread: unread.length }, 'the dump is loaded')
  } finally {
    client.close()
  }
}

/** `orch up --detach`: starts the same command as a separate process, with a log file in the data folder, and returns when it is ready. */
async function upDetached({ env, workingFolder, out }: Terminal, flags: readonly string[], dataDir: string): Promise<number> {
  leaveEarlySignals()
  const file = join(dataDir, 'server.log')
  const log = openSync(file, 'a', 0o600)
  // The last value of a repeated flag counts.
  const child = spawn(process.execPath, [...nodeFlags(), process.argv[1] ?? '', 'up', ...flags, '--detach=false'], {
    cwd: workingFolder,
    env: { ...env },
    stdio: ['ignore', log, log, 'ipc'],
    detached: true,
  })
  closeSync(log)
  const message = await new Promise<StarterMessage>((resolve, reject) => {
    child.once('message', (message) => resolve(message as StarterMessage))
    child.once('error', reject)
    child.once('exit', (code) => resolve({ kind: 'failed', reason: `the server ended with exit code ${code}; see ${file}` }))
  })
  if (message.kind === 'failed') throw new StartError(message.reason)
  child.disconnect()
  child.unref()
  out(
    `${message['text'] ?? ''}Process ${child.pid} goes on in the background on the folder ${dataDir}; its log is ${file}. End it with: ${stopCommand(env, dataDir)}\n`,
  )
  return 0
}

/** The command as the user would type it here; in a clone it uses npm. Commands find servers outside `.orch` by their folder. */
function stopCommand(env: Terminal['env'], dataDir: string): string {
  const command = env['npm_package_name'] === workspaceName ? 'npm run orch -- stop' : 'orch stop'
  return basename(dirname(dataDir)) === '.orch' ? command : `${command} --data-dir ${dataDir}`
}

/** The name of the clone in its package.json, which npm passes to its scripts. */
const workspaceName = 'orch-workspace'

/** This process's flags without preloaded modules: in a clone, one of them ends the process with its parent. */
function nodeFlags(): string[] {
  const isLoader = (flag: string | undefined) => flag === loaderFlag
  return process.execArgv.filter((flag, index, flags) => !isLoader(flag) && !isLoader(flags[index - 1]))
}

/** Its value is the next word. */
const loaderFlag = '--import'
