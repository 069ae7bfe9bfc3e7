import type { ControllerName, ControllersOptions } from '@orch/controllers'
import { settingsOf, settingTypes, type Values } from '@orch/platform'
import { type AdmissionSettings, admissionSettings, readAdmission } from '../admission/settings.ts'
import { controllersSettings, readControllerOptions, readControllers } from '../controllers/settings.ts'
import { type EncryptionOptions, readEncryption } from '../encryption/open.ts'
import { type GatewayGroups, gatewaySettings, readGateway } from '../gateway/settings.ts'
import type { generalSettings } from './general.ts'

const { bool, duration, int, path } = settingTypes
const inState = settingsOf('State')

/** The settings of a storage: encryption at rest and the past. */
export const storageSettings = {
  encryptionProviderConfig: inState(
    { flag: '--encryption-provider-config', type: path },
    'EncryptionConfiguration: which resources are encrypted in the store, and with which keys. By default none is.',
  ),
  encryptionProviderConfigAutomaticReload: inState(
    { flag: '--encryption-provider-config-automatic-reload', type: bool, default: 'false' },
    'Reads the EncryptionConfiguration again when its file changes. One that is not valid leaves the present one in use.',
  ),
  watchHistoryMs: inState(
    { flag: '--watch-history', type: duration, default: '5m' },
    'Time for which past changes are kept, so that watches can resume and lists can be continued.',
  ),
}

/** The settings of simulated nodes: at most as many as there are addresses. */
export const nodesSettings = {
  simulatedNodes: settingsOf('Nodes')(
    { flag: '--simulated-nodes', type: int({ min: 0, max: 1000 }), default: '0' },
    'Nodes to simulate, named node-1, node-2 and so on: they run Pods as kubelets do, without containers. Switches the controllers of workloads and nodes on; -NAME in --controllers still removes one.',
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
