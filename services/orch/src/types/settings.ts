import { settingsOf, settingTypes } from '@orch/platform'
import { clusterSettings } from '../cluster/connect.ts'
import { generalSettings } from '../settings/general.ts'

const { string } = settingTypes
const setting = settingsOf('Types')

/** The settings of `orch types`. */
export const typesSettings = {
  config: generalSettings.config,
  logFormat: generalSettings.logFormat,
  ...clusterSettings,
  output: setting({ flag: '--output', type: string, defaultDoc: 'it is printed' }, 'File that the types are written to.'),
}
