import { settingsOf, settingTypes } from '@orch/platform'

const { bool, list } = settingTypes
const setting = settingsOf('Admission')

/** Where the webhooks of configurations and definitions are. */
export const webhookSettings = {
  webhookServiceMap: setting({
    flag: '--webhook-service-map',
    type: list,
    doc: 'Addresses of Services that webhooks and APIServices refer to, as namespace/name=host:port. Other Services are resolved by their endpoints or external name.',
  }),
  webhookServiceDns: setting({
    flag: '--webhook-service-dns',
    type: bool,
    default: 'false',
    doc: 'Look up Services of webhooks without endpoints in DNS, as name.namespace.svc: for a server that runs in a cluster and calls its Services.',
  }),
  webhookLinkLocal: setting({
    flag: '--webhook-link-local',
    type: bool,
    default: 'false',
    doc: 'Call webhooks at link-local addresses (169.254.0.0/16, fe80::/10), where clouds have their metadata services.',
  }),
}
