import { settingsOf, settingTypes } from '@orch/platform'
import { admissionSettings } from '../admission/settings.ts'
import { gateSettings } from '../api/settings.ts'
import { etcdSettings } from '../backends/etcd-settings.ts'
import { natsSettings, natsStreamSettings } from '../backends/nats-settings.ts'
import { trustSettings } from '../certificates/service-trust-settings.ts'
import { accountKeySettings, controllersSettings } from '../controllers/settings.ts'
import {
  admissionAddressSettings,
  hostedWatchSettings,
  listenSettings,
  probeSettings,
  shutdownSettings,
  storageAddressSettings,
  watchAddressSettings,
} from '../distributed/settings.ts'
import { gatewaySettings } from '../gateway/settings.ts'
import { storageSettings } from '../storage/settings.ts'
import { stateSettings } from '../storage/state-settings.ts'
import { generalSettings } from './general.ts'

const inServing = settingsOf('Serving')
const inControllers = settingsOf('Controllers')

/** All settings of `orch storage`. */
export const storageCommandSettings = {
  ...generalSettings,
  emulatedVersion: gateSettings.emulatedVersion,
  ...listenSettings('127.0.0.1:7100'),
  ...hostedWatchSettings,
  ...trustSettings,
  ...etcdSettings,
  ...natsSettings,
  ...natsStreamSettings,
  dataDir: {
    ...stateSettings.dataDir,
    defaultDoc: '',
    doc: 'Folder for the state, instead of etcd. Only one storage can use it.',
  },
  ...storageSettings,
  ...probeSettings('127.0.0.1:7101'),
  ...shutdownSettings,
}

/** All settings of `orch watch`. */
export const watchCommandSettings = {
  ...generalSettings,
  emulatedVersion: gateSettings.emulatedVersion,
  ...listenSettings('127.0.0.1:7200'),
  ...storageAddressSettings,
  ...trustSettings,
  ...natsSettings,
  ...probeSettings('127.0.0.1:7201'),
  ...shutdownSettings,
}

/** All settings of `orch admission`. */
export const admissionCommandSettings = {
  ...generalSettings,
  ...listenSettings('127.0.0.1:7300'),
  ...storageAddressSettings,
  ...trustSettings,
  ...gateSettings,
  ...admissionSettings,
  ...probeSettings('127.0.0.1:7301'),
  ...shutdownSettings,
}

/** All settings of `orch gateway`. */
export const gatewayCommandSettings = {
  ...generalSettings,
  ...gatewaySettings,
  advertiseAddress: inServing({
    flag: '--advertise-address',
    type: settingTypes.string,
    doc: "Address of this gateway in the Endpoints of the server's own Service. By default the address that it listens on, or the first address of this machine.",
  }),
  ...storageAddressSettings,
  ...watchAddressSettings,
  ...admissionAddressSettings,
  ...admissionSettings,
  ...trustSettings,
}

/** All settings of `orch controllers`. */
export const controllersCommandSettings = {
  ...generalSettings,
  emulatedVersion: gateSettings.emulatedVersion,
  kubeconfig: inControllers({
    flag: '--kubeconfig',
    type: settingTypes.path,
    doc: 'Client configuration file with the server and the credentials of the controllers.',
  }),
  servers: inControllers({
    flag: '--servers',
    type: settingTypes.list,
    defaultDoc: 'the server of --kubeconfig',
    doc: 'URLs of the gateways, for use without a load balancer: when one cannot be reached, the next is tried.',
  }),
  leaderElect: inControllers({
    flag: '--leader-elect',
    type: settingTypes.bool,
    default: 'true',
    doc: 'Only one of several replicas runs the controllers: the holder of a Lease in the system namespace.',
  }),
  impersonateServiceAccounts: inControllers({
    flag: '--impersonate-service-accounts',
    type: settingTypes.bool,
    default: 'true',
    doc: 'Each controller impersonates a service account of its own, for which the user of --kubeconfig needs permission. Otherwise all controllers act as that user.',
  }),
  ...controllersSettings,
  ...accountKeySettings,
  ...trustSettings,
  ...probeSettings('127.0.0.1:7401'),
}
