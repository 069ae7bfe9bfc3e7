import { join, resolve } from 'node:path'
import {
  createLifecycle,
  createLog,
  type Log,
  makePrivateFolder,
  messageOf,
  SettingsError,
  settingsOf,
  settingTypes,
  stopOnSignal,
  systemChance,
  systemClock,
} from '@orch/platform'
import { type BackendName, keepRunning, locateBackend, openEtcd, openNats, type Program, ProgramPortError } from '@orch/platform/backends'
import { AddressTakenError, endWithStarter, printReadyLine, StartError, type Terminal } from '../process/terminal.ts'
import { generalSettings, readCommandSettings } from '../settings/general.ts'

const { int, path } = settingTypes
const setting = settingsOf('Backends')
const port = int({ min: 0, max: 65_535 })

/** All settings of `orch backends`. */
export const backendsCommandSettings = {
  config: generalSettings.config,
  logLevel: generalSettings.logLevel,
  logFormat: generalSettings.logFormat,
  dataDir: setting({ flag: '--data-dir', type: path }, 'Folder for the data of both.'),
  etcdPort: setting({ flag: '--etcd-port', type: port, default: '0' }, 'Port of etcd; 0 chooses a free one.'),
  natsPort: setting({ flag: '--nats-port', type: port, default: '0' }, 'Port of NATS; 0 chooses a free one.'),
  nats: setting(
    { flag: '--nats', type: settingTypes.bool, default: 'true' },
    'True if a nats-server is started: storages that host watch need none.',
  ),
  certificates: setting(
    { flag: '--certificates', type: path },
    'Folder with ca.crt, etcd.crt, etcd.key, nats.crt and nats.key: enables TLS, and requires client certificates. Without it connections are not encrypted.',
  ),
}

/** `orch backends`: an etcd and a nats-server on this machine, which end with this process. Each is started again when it ends by itself. */
export async function backends(terminal: Terminal, flags: readonly string[]): Promise<undefined> {
  const { values } = await readCommandSettings(backendsCommandSettings, terminal, flags)
  const { dataDir, certificates, etcdPort, natsPort, nats: hasNats, logLevel, logFormat } = values
  if (dataDir === '') throw new SettingsError('--data-dir is needed: the folder for the data of etcd and NATS')
  const log = createLog({ level: logLevel, format: logFormat }).child({ service: 'backends' })
  const folder = resolve(terminal.workingFolder, dataDir)
  const etcdPath = await locate('etcd', terminal, log)
  const natsPath = hasNats ? await locate('nats-server', terminal, log) : undefined
  process.umask(0o077)
  for (const name of hasNats ? ['etcd', 'nats'] : ['etcd']) makePrivateFolder(join(folder, name))
  const scope = createLifecycle({ log })
  const running = async (name: string, opened: Promise<Program>) => {
    const program = await opened
    const ending = new AbortController()
    const onEnd = (ended: string) => log.error({ program: name, ended }, 'a program ended by itself and is started again')
    const kept = keepRunning(program, { clock: systemClock, random: systemChance.fraction, signal: ending.signal, onEnd })
    scope.onStop(name, async () => {
      ending.abort()
      await program.stop()
      await kept
    })
    return program
  }
  const certificate = (file: string) => resolve(terminal.workingFolder, certificates, file)
  const options = (name: 'etcd' | 'nats', path: string, port: number) => ({
    path,
    dataDir: join(folder, name),
    port: port === 0 ? undefined : port,
    tls:
      certificates === ''
        ? undefined
        : { caFile: certificate('ca.crt'), certFile: certificate(`${name}.crt`), keyFile: certificate(`${name}.key`) },
  })
  const opened = Promise.withResolvers<void>()
  stopOnSignal({ source: process, log, stop: () => opened.promise.then(() => scope.stop()) })
  try {
    const opening = [
      running('etcd', openEtcd(options('etcd', etcdPath, etcdPort))),
      natsPath === undefined ? undefined : running('nats', openNats(options('nats', natsPath, natsPort))),
    ] as const
    // If one fails, the other is stopped, and for that it must exist.
    await Promise.allSettled(opening)
    opened.resolve()
    const [etcd, nats] = await Promise.all(opening)
    endWithStarter()
    const where = {
      etcd: `${certificates === '' ? 'http' : 'https'}://${etcd.address}`,
      ...(nats === undefined ? {} : { nats: nats.address }),
    }
    log.info(where, 'ready')
    const text = `orch backends are ready: etcd at ${where.etcd}${nats === undefined ? '' : `, NATS at ${nats.address}`}\n`
    terminal.out(printReadyLine(logFormat, text, { service: 'backends', ...where }))
    await terminal.notify?.({ kind: 'ready', ...where })
  } catch (error) {
    await scope.stop()
    throw explain(error)
  }
}

function explain(error: unknown): StartError {
  const message = messageOf(error)
  if (error instanceof ProgramPortError) return new AddressTakenError(message, { address: error.address, cause: error })
  return new StartError(message, { cause: error })
}

/** Finds a program; a missing one is unpacked from its distribution package, without root. */
export async function locate(name: BackendName, { workingFolder }: Pick<Terminal, 'workingFolder'>, log: Log): Promise<string> {
  const cacheFolder = join(workingFolder, '.cache', 'backends')
  const present = await locateBackend(name, { cacheFolder, mayFetch: false })
  if (present.kind === 'found') return present.path
  log.info({ program: name, folder: cacheFolder }, 'the program is not on the PATH: its package is fetched and unpacked')
  const located = await locateBackend(name, { cacheFolder, mayFetch: true })
  if (located.kind === 'missing') throw new StartError(located.reason)
  return located.path
}
