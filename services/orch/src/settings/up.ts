import { resolve } from 'node:path'
import type { ControllerName, ControllersOptions } from '@orch/controllers'
import { canSharePorts } from '@orch/gateway'
import { flagTexts, type Log, SettingsError, settingsOf, settingTypes, type Values } from '@orch/platform'
import { type AdmissionSettings, admissionSettings, readAdmission } from '../admission/settings.ts'
import { controllersSettings, readControllerOptions, readControllers } from '../controllers/settings.ts'
import { type EncryptionOptions, readEncryption } from '../encryption/open.ts'
import { type GatewayGroups, gatewaySettings, readGateway } from '../gateway/settings.ts'
import type { Terminal } from '../process/terminal.ts'
import { isLoopback } from '../serving/loopback.ts'
import { defaultDataDir, generalSettings, nodesSettings, readCommandSettings, stateSettings, storageSettings } from './general.ts'

const { bool, int, list } = settingTypes
const setting = settingsOf('Distributed')
const inTests = settingsOf('Tests')

function replicaSetting(
  flag: `--${string}`,
  of: string,
  { min = 1, ...shown }: { readonly default: string; readonly defaultDoc?: string; readonly min?: number },
) {
  return setting({ flag, type: int({ min, max: 16 }), ...shown }, `How many ${of} --distributed starts.`)
}

/** The settings of `orch up` for services apart. */
export const upDistributedSettings = {
  distributed: setting(
    { flag: '--distributed', type: bool, default: 'false' },
    'Starts each service as a separate process, with an etcd (and a nats-server for --watches) on this machine, to try out a distributed deployment. Further gateways use the ports after --secure-port.',
  ),
  gateways: replicaSetting('--gateways', 'gateways', { default: '2' }),
  storages: replicaSetting('--storages', 'storages', { default: '2' }),
  watches: replicaSetting('--watches', 'watches (0: each storage hosts its own, and there is no NATS)', { default: '0', min: 0 }),
  admissions: replicaSetting('--admissions', 'admissions (0: each gateway hosts its own)', {
    default: '1',
    min: 0,
    defaultDoc: '1; 0 with --gateways=1',
  }),
  controllerReplicas: replicaSetting('--controller-replicas', 'processes for controllers, of which one runs them,', { default: '1' }),
}

type UpDistributed = Values<typeof upDistributedSettings>

/**
 * The number of each service. By default one gateway hosts admission: a separate process would pass the same bytes over one more socket and could not
 * scale alone.
 */
export function sharedWhereSingle<S extends UpDistributed>(settings: S, given: { has(flag: string): boolean }): S {
  const isHosted = settings.gateways === 1 && !given.has(upDistributedSettings.admissions.flag)
  return isHosted ? { ...settings, admissions: 0 } : settings
}

/** The settings of a server that a test controls. */
export const controlSettings = {
  control: inTests(
    { flag: '--control', type: bool, default: 'false' },
    'Serves /orch/v1, by which a test in any language reads requests, adds faults, makes users and forks, resets the server and moves its clock. The file control.json of the data folder has its URL and token.',
  ),
  virtualClock: inTests(
    { flag: '--virtual-clock', type: bool, default: 'false' },
    'Time stands still until /orch/v1/clock moves it; with --control.',
  ),
}

/** Settings of the services of a server, except storage. */
export const serviceSettings = { ...gatewaySettings, ...admissionSettings, ...controllersSettings, ...nodesSettings }

/** Settings of a server in one process, checked. */
export interface ServerGroups extends GatewayGroups, Pick<ControllersOptions, 'autoscaling' | 'nodes' | 'schedulers'> {
  readonly admission: AdmissionSettings
  readonly controllers: readonly ControllerName[]
  /** Undefined without encryption. */
  readonly encryption: EncryptionOptions | undefined
  readonly watchHistoryMs: number
}

type ServerValues = Values<typeof serviceSettings & typeof storageSettings> & Pick<Values<typeof generalSettings>, 'profile'>

/** Checks each group of settings. */
export function readServer(settings: ServerValues) {
  return {
    ...readGateway(settings),
    admission: readAdmission(settings),
    controllers: readControllers(settings),
    ...readControllerOptions(settings),
    encryption: readEncryption(settings),
    watchHistoryMs: settings.watchHistoryMs,
  } satisfies ServerGroups
}

/** All settings of `orch up`. */
export const upSettings = {
  ...generalSettings,
  ...serviceSettings,
  threads: settingsOf('Serving')(
    { flag: '--threads', type: int({ min: 1, max: 16 }), default: '1' },
    'Experimental. How many threads take requests, each of them some of the connections (Linux). The first one also holds the objects. See docs/how-to/threads.md.',
  ),
  ...stateSettings,
  ...storageSettings,
  ...upDistributedSettings,
  ...controlSettings,
  load: settingsOf('Load')(
    { flag: '--load', type: list },
    'Dumps of a cluster that are loaded before the server is ready, at each start: files and folders of kubectl, must-gather, crust-gather and velero, snapshots of etcd.',
  ),
}

/** The checked settings of `orch up`. */
export type UpOptions = Awaited<ReturnType<typeof readUpOptions>>

/** Reads flags, environment and file, and refuses conflicting ones. */
export async function readUpOptions(terminal: Terminal, flags: readonly string[]) {
  const { values, texts } = await readCommandSettings(upSettings, terminal, flags)
  const settings = sharedWhereSingle(values, texts)
  checkDistributed(settings, texts)
  const groups = readServer(settings)
  checkThreads({ settings, ...groups })
  checkControl(settings)
  if (settings.distributed && settings.load.length > 0)
    throw new SettingsError('--load with --distributed: a dump is loaded into a server of one process')
  return {
    settings,
    /** The given texts by flag, for other processes. */
    texts,
    dataDir: resolve(terminal.workingFolder, settings.dataDir === '' ? defaultDataDir(settings.profile) : settings.dataDir),
    ...groups,
    flags: flagTexts(upSettings, texts),
  }
}

function checkDistributed({ distributed, memory }: Values<typeof upSettings>, texts: ReadonlyMap<string, string>): void {
  if (distributed && memory) throw new SettingsError('--memory with --distributed: services apart keep their objects in etcd')
  const { gateways, storages, watches, admissions, controllerReplicas } = upSettings
  const counts = [gateways, storages, watches, admissions, controllerReplicas]
  const useless = distributed ? undefined : counts.find(({ flag }) => texts.has(flag))
  if (useless !== undefined) throw new SettingsError(`${useless.flag} needs --distributed: in one process there is one of each service`)
}

/** Refuses settings that would open a test server to others. */
function checkControl({ control, virtualClock, testsBeyondLoopback, bindAddress, distributed, threads }: Values<typeof upSettings>): void {
  if (control && distributed) throw new SettingsError('--control with --distributed: a test controls one process alone')
  if (control && threads > 1) throw new SettingsError('--control with --threads: a test controls a server of one thread alone')
  if (virtualClock && !control) throw new SettingsError('--virtual-clock needs --control: nothing else moves the clock')
  if (control && !testsBeyondLoopback && !isLoopback(bindAddress))
    throw new SettingsError(
      `--control with --bind-address=${bindAddress}: any client that reaches that address could try to; use a loopback address, or add --tests-beyond-loopback`,
    )
}

/** The options that several threads exclude. */
interface ThreadedOptions extends Pick<GatewayGroups, 'flowControl' | 'serving'> {
  readonly settings: { readonly threads: number; readonly distributed: boolean }
}

/** Refuses settings that exclude `--threads` above 1. */
function checkThreads({ settings, flowControl, serving }: ThreadedOptions): void {
  const { threads, distributed } = settings
  if (threads === 1) return
  const flag = `--threads=${threads}`
  if (distributed) throw new SettingsError(`${flag} with --distributed: gateways are processes there; see --gateways`)
  // A port without TLS and its sessions belong to one thread; the TLS port belongs to all threads.
  if (serving.console === 'true' && !isLoopback(serving.bindAddress))
    throw new SettingsError(
      `${flag} with --console=true and --bind-address=${serving.bindAddress}: a session is of one thread, which only a loopback address reaches`,
    )
  for (const [bound, max] of [
    ['--max-requests-inflight', flowControl.readsMax],
    ['--max-mutating-requests-inflight', flowControl.writesMax],
  ] as const) {
    if (max > 0 && max < threads)
      throw new SettingsError(`${flag} with ${bound}=${max}: threads divide it, so it is at least ${threads}, or 0`)
  }
}

/** The number of threads on this machine: more than one if threads can share a port. */
export function threadsHere(threads: number, log: Log, canShare = canSharePorts): number {
  if (threads === 1 || canShare) return threads
  log.warn({ threads }, 'threads can share a port on Linux alone: one thread takes all requests')
  return 1
}
