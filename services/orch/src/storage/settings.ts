import { settingsOf, settingTypes } from '@orch/platform'
import { encryptionSettings } from '../encryption/settings.ts'

const { duration } = settingTypes
const setting = settingsOf('State')

/** What storage keeps. */
export const storageSettings = {
  ...encryptionSettings,
  watchHistoryMs: setting({
    flag: '--watch-history',
    type: duration,
    default: '5m',
    doc: 'How long past changes are kept, so that watches can resume and lists can be continued.',
  }),
}
