import { settingsOf, settingTypes, type Values } from '@orch/platform'
import type { LoadOptions } from '../load/load.ts'
import { generalSettings } from '../settings/general.ts'
import { clusterSettings } from './connect.ts'

const { bool, list, oneOf } = settingTypes
const setting = settingsOf('Load')

/** The settings of `orch load`. */
export const loadSettings = {
  config: generalSettings.config,
  logFormat: generalSettings.logFormat,
  ...clusterSettings,
  skip: setting({ flag: '--skip', type: list }, 'Kinds that are left out, such as Pod, beside those of every load.'),
  redactSecrets: setting(
    { flag: '--redact-secrets', type: bool, default: 'false' },
    'Replaces the values of Secrets by the word redacted.',
  ),
  unknown: setting(
    { flag: '--unknown', type: oneOf(['skip', 'error']), default: 'skip' },
    'Objects of kinds that the server does not serve: with error, nothing is loaded if there is one.',
  ),
  existing: setting(
    { flag: '--existing', type: oneOf(['replace', 'keep']), default: 'replace' },
    'Objects that are there already, by name.',
  ),
  output: setting({ flag: '--output', type: oneOf(['text', 'json']), default: 'text' }, 'json for machines: the whole report.'),
}

/** The options of the settings. */
export function toLoadOptions({ skip, redactSecrets, unknown, existing }: Values<typeof loadSettings>): LoadOptions {
  return { skip, unknown, existing, ...(redactSecrets ? { secrets: 'redact' } : {}) }
}
