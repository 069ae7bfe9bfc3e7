import { setting, settingTypes } from '@orch/platform'
import { admissionSettings } from '../admission/settings.ts'
import { etcdSettings } from '../backends/etcd-settings.ts'
import { natsSettings, natsStreamSettings } from '../backends/nats-settings.ts'
import { trustSettings } from '../certificates/service-trust-settings.ts'
import { accountKeySettings, controllersSettings } from '../controllers/settings.ts'
import {
  admissionAddressSettings,
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

/** All settings of `orch storage`. */
export const storageCommandSettings = {
  ...generalSettings,
  ...listenSettings('127.0.0.1:7100'),
  ...trustSettings,
  ...etcdSettings,
  ...natsSettings,
  ...natsStreamSettings,
  dataDir: {
    ...stateSettings.dataDir,
    defaultDoc: '',
    doc: 'Folder for the state where there is no etcd; then there can be one storage only.',
  },
  ...storageSettings,
  ...probeSettings('127.0.0.1:7101'),
  ...shutdownSettings,
}

/** All settings of `orch watch`. */
export const watchCommandSettings = {
  ...generalSettings,
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
  ...admissionSettings,
  ...probeSettings('127.0.0.1:7301'),
  ...shutdownSettings,
}

/** All settings of `orch gateway`. */
export const gatewayCommandSettings = {
  ...generalSettings,
  ...gatewaySettings,
  advertiseAddress: setting({
    flag: '--advertise-address',
    env: 'ORCH_ADVERTISE_ADDRESS',
    type: settingTypes.string,
    default: '',
    group: 'Serving',
    doc: "Address by which others find this gateway, for the Endpoints of the server's own Service; by default the one that is listened on, or the first of this machine.",
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
  kubeconfig: setting({
    flag: '--kubeconfig',
    env: 'ORCH_KUBECONFIG',
    type: settingTypes.path,
    default: '',
    group: 'Controllers',
    doc: 'Client configuration by which the gateways are reached, and as whom.',
  }),
  servers: setting({
    flag: '--servers',
    env: 'ORCH_SERVERS',
    type: settingTypes.list,
    default: '',
    defaultDoc: 'the server of --kubeconfig',
    group: 'Controllers',
    doc: 'URLs of the gateways, where no balancer stands before them: when one cannot be reached the next is asked.',
  }),
  leaderElect: setting({
    flag: '--leader-elect',
    env: 'ORCH_LEADER_ELECT',
    type: settingTypes.bool,
    default: 'true',
    group: 'Controllers',
    doc: 'Of several replicas one runs the controllers: the one that holds a Lease in the system namespace.',
  }),
  impersonateServiceAccounts: setting({
    flag: '--impersonate-service-accounts',
    env: 'ORCH_IMPERSONATE_SERVICE_ACCOUNTS',
    type: settingTypes.bool,
    default: 'true',
    group: 'Controllers',
    doc: 'Each controller acts as the service account that is its own, which the user of --kubeconfig must be allowed to impersonate. Without it all act as that user.',
  }),
  ...controllersSettings,
  ...accountKeySettings,
  ...trustSettings,
  ...probeSettings('127.0.0.1:7401'),
}
