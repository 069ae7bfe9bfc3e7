import { setting, settingTypes } from '@orch/platform'

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
    doc: 'Admission plugins that are on, besides those that are on by default. The order of the names does not matter.',
  }),
  disableAdmissionPlugins: setting({
    flag: '--disable-admission-plugins',
    env: 'ORCH_DISABLE_ADMISSION_PLUGINS',
    type: list,
    default: '',
    group: 'Admission',
    doc: 'Admission plugins that are off, although they are on by default. The order of the names does not matter.',
  }),
  admissionControlConfigFile: setting({
    flag: '--admission-control-config-file',
    env: 'ORCH_ADMISSION_CONTROL_CONFIG_FILE',
    type: path,
    default: '',
    group: 'Admission',
    doc: 'File with an AdmissionConfiguration: what single plugins are told.',
  }),
  defaultNotReadyTolerationSeconds: setting({
    flag: '--default-not-ready-toleration-seconds',
    env: 'ORCH_DEFAULT_NOT_READY_TOLERATION_SECONDS',
    type: seconds,
    default: '300',
    group: 'Admission',
    doc: 'Seconds that pods tolerate a node that is not ready, if they do not say it themselves (DefaultTolerationSeconds).',
  }),
  defaultUnreachableTolerationSeconds: setting({
    flag: '--default-unreachable-toleration-seconds',
    env: 'ORCH_DEFAULT_UNREACHABLE_TOLERATION_SECONDS',
    type: seconds,
    default: '300',
    group: 'Admission',
    doc: 'Seconds that pods tolerate a node that cannot be reached, if they do not say it themselves (DefaultTolerationSeconds).',
  }),
  webhookServiceMap: setting({
    flag: '--webhook-service-map',
    env: 'ORCH_WEBHOOK_SERVICE_MAP',
    type: list,
    default: '',
    group: 'Admission',
    doc: 'Where Services are that webhooks name, as namespace/name=host:port. Others are found by their endpoints, external name or DNS.',
  }),
}
