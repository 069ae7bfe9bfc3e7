import { admissionSettings } from '../admission/settings.ts'
import { controllersSettings } from '../controllers/settings.ts'
import { gatewaySettings } from '../gateway/settings.ts'
import { storageSettings } from '../storage/settings.ts'
import { generalSettings } from './general.ts'

/** Flags of a server in memory. */
export const startSettings = {
  profile: generalSettings.profile,
  ...gatewaySettings,
  ...admissionSettings,
  ...controllersSettings,
  ...storageSettings,
}
