import { aggregationSettings } from '../aggregation/settings.ts'
import { objectsSettings } from '../api/objects-settings.ts'
import { apiSettings } from '../api/settings.ts'
import { auditSettings } from '../audit/settings.ts'
import { authenticationSettings } from '../authentication/settings.ts'
import { authorizationSettings } from '../authorization/settings.ts'
import { flowControlSettings } from '../flow-control/settings.ts'
import { servingSettings } from '../serving/settings.ts'
import { webhookSettings } from '../webhooks/settings.ts'

/** Settings of a gateway, in whatever process it runs. */
export const gatewaySettings = {
  ...servingSettings,
  ...authenticationSettings,
  ...authorizationSettings,
  ...auditSettings,
  ...flowControlSettings,
  ...apiSettings,
  ...objectsSettings,
  ...webhookSettings,
  ...aggregationSettings,
}
