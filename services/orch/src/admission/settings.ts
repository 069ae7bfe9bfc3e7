import { setting, settingTypes } from '@orch/platform'
import { webhookSettings } from '../webhooks/settings.ts'

const { int, list, path } = settingTypes

const seconds = int({ min: 0, max: 2 ** 31 - 1 })

/** What admission lets pass. */
export const admissionSettings = {
  enableAdmissionPlugins: setting({
    flag: '--enable-admission-plugins',
    env: 'ORCH_ENABLE_ADMISSION_PLUGINS',
    type: list,
    default: '',
    group: 'Admission',
    doc: 'Admission plugins to enable in addition to the default ones. The order does not matter.',
  }),
  disableAdmissionPlugins: setting({
    flag: '--disable-admission-plugins',
    env: 'ORCH_DISABLE_ADMISSION_PLUGINS',
    type: list,
    default: '',
    group: 'Admission',
    doc: 'Default admission plugins to disable. The order does not matter.',
  }),
  admissionControlConfigFile: setting({
    flag: '--admission-control-config-file',
    env: 'ORCH_ADMISSION_CONTROL_CONFIG_FILE',
    type: path,
    default: '',
    group: 'Admission',
    doc: 'File with an AdmissionConfiguration: the configuration of individual plugins.',
  }),
  defaultNotReadyTolerationSeconds: setting({
    flag: '--default-not-ready-toleration-seconds',
    env: 'ORCH_DEFAULT_NOT_READY_TOLERATION_SECONDS',
    type: seconds,
    default: '300',
    group: 'Admission',
    doc: 'Default tolerationSeconds of pods for nodes that are not ready (DefaultTolerationSeconds).',
  }),
  defaultUnreachableTolerationSeconds: setting({
    flag: '--default-unreachable-toleration-seconds',
    env: 'ORCH_DEFAULT_UNREACHABLE_TOLERATION_SECONDS',
    type: seconds,
    default: '300',
    group: 'Admission',
    doc: 'Default tolerationSeconds of pods for nodes that are unreachable (DefaultTolerationSeconds).',
  }),
  ...webhookSettings,
}
