import { profiles } from '@orch/core/names'
import { logFormats, logLevels, settingsOf, settingTypes } from '@orch/platform'

const { oneOf, path } = settingTypes
const setting = settingsOf('General')

/** Settings that every command has. */
export const generalSettings = {
  config: setting({
    flag: '--config',
    type: path,
    doc: 'YAML file with settings. The key of a setting is its flag without the leading dashes.',
  }),
  profile: setting({
    flag: '--profile',
    type: oneOf(profiles),
    default: 'orch',
    doc: 'Names of API groups, labels and namespaces: orch uses its own, kubernetes uses those that kubectl and other existing clients expect.',
  }),
  logLevel: setting({
    flag: '--log-level',
    type: oneOf(logLevels),
    default: 'info',
    doc: 'Lowest level of the log lines that are written to standard error.',
  }),
  logFormat: setting({ flag: '--log-format', type: oneOf(logFormats), default: 'text', doc: 'json for machines, text for people.' }),
}
