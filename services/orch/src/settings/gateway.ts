import { apiSettings } from './api.ts'
import { auditSettings } from './audit.ts'
import { authenticationSettings } from './authentication.ts'
import { authorizationSettings } from './authorization.ts'
import { flowControlSettings } from './flow-control.ts'
import { objectsSettings } from './objects.ts'
import { servingSettings } from './serving.ts'

/** What a gateway can be told, in whatever process it runs. */
export const gatewaySettings = {
  ...servingSettings,
  ...authenticationSettings,
  ...authorizationSettings,
  ...auditSettings,
  ...flowControlSettings,
  ...apiSettings,
  ...objectsSettings,
}
