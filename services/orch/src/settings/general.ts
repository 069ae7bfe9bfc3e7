import { profiles } from '@orch/core/names'
import { logFormats, logLevels, setting, settingTypes } from '@orch/platform'

const { oneOf, path } = settingTypes

/** Settings that every command has. */
export const generalSettings = {
  config: setting({
    flag: '--config',
    env: 'ORCH_CONFIG',
    type: path,
    default: '',
    group: 'General',
    doc: 'YAML file with settings. The key of a setting is its flag without the leading dashes.',
  }),
  profile: setting({
    flag: '--profile',
    env: 'ORCH_PROFILE',
    type: oneOf(profiles),
    default: 'orch',
    group: 'General',
    doc: 'Names of API groups, labels and namespaces: orch uses its own, kubernetes uses those that kubectl and other existing clients expect.',
  }),
  logLevel: setting({
    flag: '--log-level',
    env: 'ORCH_LOG_LEVEL',
    type: oneOf(logLevels),
    default: 'info',
    group: 'General',
    doc: 'Lowest level of the log lines that are written to standard error.',
  }),
  logFormat: setting({
    flag: '--log-format',
    env: 'ORCH_LOG_FORMAT',
    type: oneOf(logFormats),
    default: 'text',
    group: 'General',
    doc: 'json for machines, text for people.',
  }),
}
