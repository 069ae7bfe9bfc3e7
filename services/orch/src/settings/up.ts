import { admissionSettings } from './admission.ts'
import { controllersSettings } from './controllers.ts'
import { gatewaySettings } from './gateway.ts'
import { generalSettings } from './general.ts'
import { stateSettings } from './state.ts'
import { storageSettings } from './storage.ts'
import { upDistributedSettings } from './up-distributed.ts'

/** Everything that `orch up` can be told. */
export const upSettings = {
  ...generalSettings,
  ...gatewaySettings,
  ...admissionSettings,
  ...controllersSettings,
  ...stateSettings,
  ...storageSettings,
  ...upDistributedSettings,
}
