import { settingsOf, settingTypes } from '@orch/platform'

const { bool, path } = settingTypes
const setting = settingsOf('State')

/** How storage encrypts what it keeps. */
export const encryptionSettings = {
  encryptionProviderConfig: setting(
    { flag: '--encryption-provider-config', type: path },
    'EncryptionConfiguration: which resources are encrypted in the store, and with which keys. By default none is.',
  ),
  encryptionProviderConfigAutomaticReload: setting(
    { flag: '--encryption-provider-config-automatic-reload', type: bool, default: 'false' },
    'Reads the EncryptionConfiguration again when its file changes. One that is not valid leaves the present one in use.',
  ),
}
