import { ConfigurationError, choosePlugins, defaultPluginSettings } from '@orch/admission'
import { SettingsError, settingsOf, settingTypes, type Values } from '@orch/platform'
import type { CallPlaces } from '@orch/platform/webhooks'
import { readLevel } from '../api/settings.ts'

const { bool, int, list, path } = settingTypes
const setting = settingsOf('Admission')

const seconds = int({ min: 0, max: 2 ** 31 - 1 })

/** The settings of admission's own plugins, only for the process that hosts admission. */
export const pluginSettings = {
  enableAdmissionPlugins: setting(
    { flag: '--enable-admission-plugins', type: list },
    'Admission plugins to enable in addition to the default ones. The order does not matter.',
  ),
  disableAdmissionPlugins: setting(
    { flag: '--disable-admission-plugins', type: list },
    'Default admission plugins to disable. The order does not matter.',
  ),
  admissionControlConfigFile: setting(
    { flag: '--admission-control-config-file', type: path },
    'File with an AdmissionConfiguration: the configuration of individual plugins.',
  ),
  defaultNotReadyTolerationSeconds: setting(
    { flag: '--default-not-ready-toleration-seconds', type: seconds, default: '300' },
    'Default tolerationSeconds of pods for nodes that are not ready (DefaultTolerationSeconds).',
  ),
  defaultUnreachableTolerationSeconds: setting(
    { flag: '--default-unreachable-toleration-seconds', type: seconds, default: '300' },
    'Default tolerationSeconds of pods for nodes that are unreachable (DefaultTolerationSeconds).',
  ),
}

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

export const admissionSettings = { ...pluginSettings, ...webhookSettings }

type AdmissionValues = Values<typeof admissionSettings>

/** Validated admission settings. */
export type AdmissionSettings = ReturnType<typeof readAdmission>

/** Checks that the plugins exist at the level. */
export function readAdmission(values: AdmissionValues & { readonly emulatedVersion?: readonly string[] }) {
  const plugins = { enabled: values.enableAdmissionPlugins, disabled: values.disableAdmissionPlugins }
  try {
    choosePlugins(plugins, readLevel(values.emulatedVersion ?? []))
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    throw new SettingsError(`--enable-admission-plugins, --disable-admission-plugins: ${error.message}`)
  }
  return {
    plugins,
    /** Undefined if no plugin has a configuration. */
    configFile: values.admissionControlConfigFile === '' ? undefined : values.admissionControlConfigFile,
    settings: {
      ...defaultPluginSettings,
      notReadyTolerationSeconds: values.defaultNotReadyTolerationSeconds,
      unreachableTolerationSeconds: values.defaultUnreachableTolerationSeconds,
      webhookPlaces: readWebhookPlaces(values),
    },
  }
}

/** The plugins to disable with these controllers. Without the controller of service accounts every pod would be refused for a missing account. */
export function pluginsToDisable(
  { enableAdmissionPlugins, disableAdmissionPlugins }: Pick<AdmissionValues, 'enableAdmissionPlugins' | 'disableAdmissionPlugins'>,
  controllers: readonly string[],
): readonly string[] {
  const isUseful = controllers.includes('serviceaccount') || enableAdmissionPlugins.includes('ServiceAccount')
  return isUseful || disableAdmissionPlugins.includes('ServiceAccount')
    ? disableAdmissionPlugins
    : [...disableAdmissionPlugins, 'ServiceAccount']
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
