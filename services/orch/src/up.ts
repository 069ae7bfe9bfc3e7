import { X509Certificate } from 'node:crypto'
import { join } from 'node:path'
import { type ClientConfiguration, printConfiguration } from '@orch/client'
import { certificateFolder, createLog, type Log, makePrivateFolder, stopOnSignal, systemClock, writePrivateFile } from '@orch/platform'
import { createMemoryStore, type DirectoryLock, lockDirectory, openLmdbStore } from '@orch/storage'
import type { Terminal } from './command-line.ts'
import { watchGraceMs } from './limits.ts'
import { readUpOptions, type UpOptions } from './options/up.ts'
import { type Server, startServer } from './server.ts'
import { StartError } from './start-error.ts'
import { printStartMessage } from './start-message.ts'
import { openTelemetry, type Telemetry } from './telemetry.ts'

/** `orch up`: starts the server and says where it is; it then runs until a signal stops it. */
export async function up(terminal: Terminal, flags: readonly string[]): Promise<undefined> {
  const options = await readUpOptions(terminal, flags)
  if (options.settings.distributed) return (await import('./commands/up-distributed.ts')).upDistributed(terminal, options)
  const { settings, dataDir } = options
  const log = createLog({ level: settings.logLevel, format: settings.logFormat })
  for (const warning of options.api.featureGates.warnings) log.warn({}, warning)
  // Whatever is written from here on is for the owner alone.
  process.umask(0o077)
  makePrivateFolder(dataDir)
  const telemetry = await openTelemetry({ service: 'server', env: terminal.env, clock: systemClock, log })
  const lock = lockOrExplain(dataDir)
  try {
    const server = await start(options, log, telemetry)
    lock.announce(server.url)
    writeClientFiles(server, options)
    stopWithSignals(server, options, { log, lock, telemetry })
    terminal.out(
      printStartMessage({
        profile: settings.profile,
        url: server.url,
        dataDir,
        isInMemory: settings.memory,
        workingFolder: terminal.workingFolder,
      }),
    )
  } catch (error) {
    lock.release()
    await telemetry.close()
    throw error
  }
}

function lockOrExplain(dataDir: string): DirectoryLock {
  try {
    return lockDirectory(dataDir)
  } catch (error) {
    throw new StartError((error as Error).message, { cause: error })
  }
}

async function start({ settings, dataDir, ...options }: UpOptions, log: Log, { tracer }: Telemetry): Promise<Server> {
  return await startServer({
    ...options,
    watchHistoryMs: settings.watchHistoryMs,
    store: settings.memory ? createMemoryStore() : await openStore(dataDir, settings.profile),
    certificateFiles: certificateFolder(dataDir),
    freezesLinks: false,
    hasProcessMetrics: true,
    clock: systemClock,
    random: Math.random,
    log,
    tracer,
  })
}

async function openStore(directory: string, profile: UpOptions['settings']['profile']) {
  try {
    return await openLmdbStore({ directory, profile })
  } catch (error) {
    throw new StartError((error as Error).message, { cause: error })
  }
}

/** `admin.conf`, for clients that read such files; `ca.crt`, `admin.crt` and `admin.key` are there already. */
function writeClientFiles({ url, names, certificates }: Server, { dataDir, serving: { servingPair } }: UpOptions): void {
  const serverName = servingPair === undefined ? undefined : serverNameFor(url, servingPair.certificate)
  const configuration: ClientConfiguration = {
    server: url,
    ...(serverName === undefined ? {} : { serverName }),
    certificateAuthority: `${certificates.authority}${servingPair === undefined ? '' : `\n${servingPair.certificate}`}`,
    clientCertificate: certificates.admin.certificate,
    clientKey: certificates.admin.key,
  }
  const name = names.serverServiceName
  writePrivateFile(join(dataDir, 'admin.conf'), printConfiguration({ cluster: name, user: `${name}-admin`, configuration }))
}

/** The name to ask a certificate for, where it does not carry the host of the address. */
function serverNameFor(url: string, pem: string): string | undefined {
  const certificate = new X509Certificate(pem)
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  if (certificate.checkIP(host) !== undefined) return undefined
  return /DNS:([^,*]+)/.exec(certificate.subjectAltName ?? '')?.[1]
}

function stopWithSignals(
  server: Server,
  { serving }: UpOptions,
  { log, lock, telemetry }: { log: Log; lock: DirectoryLock; telemetry: Telemetry },
): void {
  stopOnSignal({
    source: {
      on: (signal, listener) => process.on(signal, listener),
      off: (signal, listener) => process.off(signal, listener),
      exit: (code) => process.exit(code),
    },
    log,
    stop: async () => {
      log.info({}, 'stopping')
      await server.stop({ delayMs: serving.shutdownDelayMs, graceMs: watchGraceMs })
      await telemetry.close()
      lock.release()
    },
  })
}
