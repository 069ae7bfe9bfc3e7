import { admissionSettings } from '../admission/settings.ts'
import { controllersSettings } from '../controllers/settings.ts'
import { upDistributedSettings } from '../distributed/up-settings.ts'
import { gatewaySettings } from '../gateway/settings.ts'
import { storageSettings } from '../storage/settings.ts'
import { stateSettings } from '../storage/state-settings.ts'
import { generalSettings } from './general.ts'
import { threadsSettings } from './threads-settings.ts'

/** All settings of `orch up`. */
export const upSettings = {
  ...generalSettings,
  ...gatewaySettings,
  ...threadsSettings,
  ...admissionSettings,
  ...controllersSettings,
  ...stateSettings,
  ...storageSettings,
  ...upDistributedSettings,
}
