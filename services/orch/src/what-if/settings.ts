import { settingsOf, settingTypes } from '@orch/platform'
import { clusterSettings } from '../cluster/connect.ts'
import { generalSettings } from '../settings/general.ts'

const { list, oneOf } = settingTypes
const setting = settingsOf('What-if')

/** The settings of `orch audit`. */
export const auditSettings = {
  config: generalSettings.config,
  logFormat: generalSettings.logFormat,
  ...clusterSettings,
  stored: setting(
    { flag: '--stored', type: list, defaultDoc: 'all objects of the server' },
    'Dumps with the stored objects, of any form that orch load takes.',
  ),
  output: setting(
    { flag: '--output', type: oneOf(['table', 'json']), default: 'table' },
    'json for machines: counts, and findings with object, operation, verdict and message.',
  ),
}
