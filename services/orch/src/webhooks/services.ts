import { SettingsError, type Values } from '@orch/platform'
import type { CallPlaces } from '@orch/platform/webhooks'
import type { webhookSettings } from './settings.ts'

const flag = '--webhook-service-map'
const pattern = /^([a-z0-9.-]+\/[a-z0-9.-]+)=((?:\[[0-9a-fA-F:.]+\]|[^:[\]\s/]+):(\d{1,5}))$/

/** Where webhooks may be called. */
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
