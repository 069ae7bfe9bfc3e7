import { settingsOf, settingTypes } from '@orch/platform'

const { cidr, duration, portRange } = settingTypes
const inState = settingsOf('State')
const inApi = settingsOf('API')

/** What objects are given that do not bring it. */
export const objectsSettings = {
  eventTtlMs: inState({ flag: '--event-ttl', type: duration, default: '1h', doc: 'Time to live of Events.' }),
  serviceClusterIpRange: inApi({
    flag: '--service-cluster-ip-range',
    type: cidr,
    default: '10.0.0.0/24',
    doc: 'IP range for addresses of Services.',
  }),
  serviceNodePortRange: inApi({
    flag: '--service-node-port-range',
    type: portRange,
    default: '30000-32767',
    doc: 'Port range for node ports of Services.',
  }),
}
