import { SettingsError, settingsOf, settingTypes, type Values } from '@orch/platform'
import type { CallPlaces } from '@orch/platform/webhooks'

const { bool, list } = settingTypes
const setting = settingsOf('Admission')

/** The settings of the targets of conversion and admission webhooks. */
export const webhookSettings = {
  webhookServiceMap: setting(
    { flag: '--webhook-service-map', type: list },
    'Addresses of Services that webhooks and APIServices refer to, as namespace/name=host:port. Other Services are resolved by their endpoints or external name.',
  ),
  webhookServiceDns: setting(
    { flag: '--webhook-service-dns', type: bool, default: 'false' },
    'Look up Services of webhooks without endpoints in DNS, as name.namespace.svc: for a server that runs in a cluster and calls its Services.',
  ),
  webhookLinkLocal: setting(
    { flag: '--webhook-link-local', type: bool, default: 'false' },
    'Call webhooks at link-local addresses (169.254.0.0/16, fe80::/10), where clouds have their metadata services.',
  ),
}

const flag = '--webhook-service-map'
const pattern = /^([a-z0-9.-]+\/[a-z0-9.-]+)=((?:\[[0-9a-fA-F:.]+\]|[^:[\]\s/]+):(\d{1,5}))$/

/** The allowed targets of webhooks. */
export function readWebhookPlaces(settings: Values<typeof webhookSettings>): CallPlaces {
  return {
    services: readServices(settings.webhookServiceMap),
    asksDns: settings.webhookServiceDns,
    allowsLinkLocal: settings.webhookLinkLocal,
  }
}

function readServices(entries: readonly string[]): ReadonlyMap<string, string> {
  const services = new Map<string, string>()
  for (const entry of entries) {
    const [, service = '', address = '', port] = pattern.exec(entry) ?? []
    const number = Number(port)
    if (!(number >= 1 && number <= 65_535)) {
      throw new SettingsError(`${flag}=${entry}: must be namespace/name=host:port such as team/checks=127.0.0.1:8443`)
    }
    if (services.has(service)) throw new SettingsError(`${flag}=${entry}: ${service} is given twice`)
    services.set(service, address)
  }
  return services
}
