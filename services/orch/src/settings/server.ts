import type { ControllerName, ControllersOptions } from '@orch/controllers'
import { settingsOf, settingTypes, type Values } from '@orch/platform'
import { type AdmissionSettings, admissionSettings, readAdmission } from '../admission/settings.ts'
import { controllersSettings, readControllerOptions, readControllers } from '../controllers/settings.ts'
import { type EncryptionOptions, readEncryption } from '../encryption/open.ts'
import { type GatewayGroups, gatewaySettings, readGateway } from '../gateway/settings.ts'
import type { generalSettings, storageSettings } from './general.ts'

/** The setting of simulated nodes. The maximum is the number of nodes with an address. */
export const nodesSettings = {
  simulatedNodes: settingsOf('Nodes')(
    { flag: '--simulated-nodes', type: settingTypes.int({ min: 0, max: 1000 }), default: '0' },
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
