import { settingsOf, settingTypes } from '@orch/platform'
import { webhookSettings } from '../webhooks/settings.ts'

const { int, list, path } = settingTypes
const setting = settingsOf('Admission')

const seconds = int({ min: 0, max: 2 ** 31 - 1 })

/** What admission lets pass. */
export const admissionSettings = {
  enableAdmissionPlugins: setting({
    flag: '--enable-admission-plugins',
    type: list,
    doc: 'Admission plugins to enable in addition to the default ones. The order does not matter.',
  }),
  disableAdmissionPlugins: setting({
    flag: '--disable-admission-plugins',
    type: list,
    doc: 'Default admission plugins to disable. The order does not matter.',
  }),
  admissionControlConfigFile: setting({
    flag: '--admission-control-config-file',
    type: path,
    doc: 'File with an AdmissionConfiguration: the configuration of individual plugins.',
  }),
  defaultNotReadyTolerationSeconds: setting({
    flag: '--default-not-ready-toleration-seconds',
    type: seconds,
    default: '300',
    doc: 'Default tolerationSeconds of pods for nodes that are not ready (DefaultTolerationSeconds).',
  }),
  defaultUnreachableTolerationSeconds: setting({
    flag: '--default-unreachable-toleration-seconds',
    type: seconds,
    default: '300',
    doc: 'Default tolerationSeconds of pods for nodes that are unreachable (DefaultTolerationSeconds).',
  }),
  ...webhookSettings,
}
