import { setting, settingTypes } from '@orch/platform'
import { encryptionSettings } from '../encryption/settings.ts'

const { duration } = settingTypes

/** What storage keeps. */
export const storageSettings = {
  ...encryptionSettings,
  watchHistoryMs: setting({
    flag: '--watch-history',
    env: 'ORCH_WATCH_HISTORY',
    type: duration,
    default: '5m',
    group: 'State',
    doc: 'How long past changes are kept, so that watches can resume and lists can be continued.',
  }),
}
