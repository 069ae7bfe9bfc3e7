import { ConfigurationError, choosePlugins, defaultPluginSettings, type PluginChoice, type PluginSettings } from '@orch/admission'
import { SettingsError, type Values } from '@orch/platform'
import { readWebhookPlaces } from '../webhooks/services.ts'
import type { admissionSettings } from './settings.ts'

/** Admission settings, checked. */
export interface AdmissionSettings {
  readonly plugins: PluginChoice
  /** Absent: no plugin has a configuration. */
  readonly configFile: string | undefined
  readonly settings: PluginSettings
}

/** Checks that there are such plugins. */
export function readAdmission(values: Values<typeof admissionSettings>): AdmissionSettings {
  const plugins = { enabled: values.enableAdmissionPlugins, disabled: values.disableAdmissionPlugins }
  try {
    choosePlugins(plugins)
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    throw new SettingsError(`--enable-admission-plugins, --disable-admission-plugins: ${error.message}`)
  }
  return {
    plugins,
    configFile: values.admissionControlConfigFile === '' ? undefined : values.admissionControlConfigFile,
    settings: {
      ...defaultPluginSettings,
      notReadyTolerationSeconds: values.defaultNotReadyTolerationSeconds,
      unreachableTolerationSeconds: values.defaultUnreachableTolerationSeconds,
      webhookPlaces: readWebhookPlaces(values),
    },
  }
}
