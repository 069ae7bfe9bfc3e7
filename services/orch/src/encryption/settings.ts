import { setting, settingTypes } from '@orch/platform'

const { bool, path } = settingTypes

/** How storage encrypts what it keeps. */
export const encryptionSettings = {
  encryptionProviderConfig: setting({
    flag: '--encryption-provider-config',
    env: 'ORCH_ENCRYPTION_PROVIDER_CONFIG',
    type: path,
    default: '',
    group: 'State',
    doc: 'EncryptionConfiguration: which resources are encrypted in the store, and with which keys. By default none is.',
  }),
  encryptionProviderConfigAutomaticReload: setting({
    flag: '--encryption-provider-config-automatic-reload',
    env: 'ORCH_ENCRYPTION_PROVIDER_CONFIG_AUTOMATIC_RELOAD',
    type: bool,
    default: 'false',
    group: 'State',
    doc: 'Reads the EncryptionConfiguration again when its file changes. One that is not valid leaves the present one in use.',
  }),
}
