import { settingsOf, settingTypes } from '@orch/platform'
import { etcdSettings } from '../backends/etcd.ts'
import { trustSettings } from '../certificates/service-trust.ts'
import { instanceSettings } from '../instance/settings.ts'

const setting = settingsOf('Server')

/** All settings of `orch backup`. */
export const backupSettings = {
  ...instanceSettings,
  ...etcdSettings,
  insecureTransport: trustSettings.insecureTransport,
}

/** All settings of `orch restore`. */
export const restoreSettings = {
  ...backupSettings,
  replace: setting(
    { flag: '--replace', env: 'ORCH_RESTORE_REPLACE', type: settingTypes.bool, default: 'false' },
    'Restores over the objects that are there: a data folder keeps them in a folder replaced-<id>, those of etcd are saved to a file beside the backup first.',
  ),
}
