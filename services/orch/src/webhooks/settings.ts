import { setting, settingTypes } from '@orch/platform'

const { bool, list } = settingTypes

/** Where the webhooks of configurations and definitions are. */
export const webhookSettings = {
  webhookServiceMap: setting({
    flag: '--webhook-service-map',
    env: 'ORCH_WEBHOOK_SERVICE_MAP',
    type: list,
    default: '',
    group: 'Admission',
    doc: 'Addresses of Services that webhooks and APIServices refer to, as namespace/name=host:port. Other Services are resolved by their endpoints or external name.',
  }),
  webhookServiceDns: setting({
    flag: '--webhook-service-dns',
    env: 'ORCH_WEBHOOK_SERVICE_DNS',
    type: bool,
    default: 'false',
    group: 'Admission',
    doc: 'Look up Services of webhooks without endpoints in DNS, as name.namespace.svc: for a server that runs in a cluster and calls its Services.',
  }),
  webhookLinkLocal: setting({
    flag: '--webhook-link-local',
    env: 'ORCH_WEBHOOK_LINK_LOCAL',
    type: bool,
    default: 'false',
    group: 'Admission',
    doc: 'Call webhooks at link-local addresses (169.254.0.0/16, fe80::/10), where clouds have their metadata services.',
  }),
}
