import { resolve } from 'node:path'
import { flagTexts, SettingsError, settingsOf, settingTypes, type Values } from '@orch/platform'
import { checkControl, controlSettings } from '../control/settings.ts'
import type { Terminal } from '../process/terminal.ts'
import { stateSettings, storageSettings } from '../storage/settings.ts'
import { defaultDataDir, generalSettings, readCommandSettings } from './general.ts'
import { readServer, serviceSettings } from './server.ts'
import { checkThreads, threadsSettings } from './threads.ts'

const { bool, int, list } = settingTypes
const setting = settingsOf('Distributed')

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

/** The setting of `orch up` that loads a dump. */
const loadSettings = {
  load: settingsOf('Load')(
    { flag: '--load', type: list },
    'Dumps of a cluster that are loaded before the server is ready, at each start: files and folders of kubectl, must-gather, crust-gather and velero, snapshots of etcd.',
  ),
}

/** All settings of `orch up`. */
export const upSettings = {
  ...generalSettings,
  ...serviceSettings,
  ...threadsSettings,
  ...stateSettings,
  ...storageSettings,
  ...upDistributedSettings,
  ...controlSettings,
  ...loadSettings,
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
