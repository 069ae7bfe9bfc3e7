import { ConfigurationError, choosePlugins, defaultPluginSettings } from '@orch/admission'
import { SettingsError, settingsOf, settingTypes, type Values } from '@orch/platform'
import { readLevel } from '../api/settings.ts'
import { readWebhookPlaces, webhookSettings } from '../webhooks/settings.ts'

const { int, list, path } = settingTypes
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
