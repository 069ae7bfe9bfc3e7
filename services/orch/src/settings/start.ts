import { admissionSettings } from './admission.ts'
import { controllersSettings } from './controllers.ts'
import { gatewaySettings } from './gateway.ts'
import { generalSettings } from './general.ts'
import { storageSettings } from './storage.ts'

/** What a server in memory can be told by flags. */
export const startSettings = {
  profile: generalSettings.profile,
  ...gatewaySettings,
  ...admissionSettings,
  ...controllersSettings,
  ...storageSettings,
}
