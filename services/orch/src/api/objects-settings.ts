import { setting, settingTypes } from '@orch/platform'

const { cidr, duration, portRange } = settingTypes

/** What objects are given that do not bring it. */
export const objectsSettings = {
  eventTtlMs: setting({
    flag: '--event-ttl',
    env: 'ORCH_EVENT_TTL',
    type: duration,
    default: '1h',
    group: 'State',
    doc: 'Time to live of Events.',
  }),
  serviceClusterIpRange: setting({
    flag: '--service-cluster-ip-range',
    env: 'ORCH_SERVICE_CLUSTER_IP_RANGE',
    type: cidr,
    default: '10.0.0.0/24',
    group: 'API',
    doc: 'IP range for addresses of Services.',
  }),
  serviceNodePortRange: setting({
    flag: '--service-node-port-range',
    env: 'ORCH_SERVICE_NODE_PORT_RANGE',
    type: portRange,
    default: '30000-32767',
    group: 'API',
    doc: 'Port range for node ports of Services.',
  }),
}
