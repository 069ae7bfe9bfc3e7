import { SettingsError, type Values } from '@orch/platform'
import { aggregationSettings, readAggregation } from '../aggregation/settings.ts'
import { type ApiOptions, apiSettings, objectsSettings, readApi } from '../api/settings.ts'
import { auditSettings, readAudit } from '../audit/settings.ts'
import { type AuthenticationOptions, authenticationSettings, readAuthentication } from '../authentication/settings.ts'
import { type AuthorizationOptions, authorizationSettings, readAuthorization } from '../authorization/settings.ts'
import { checkTests, testSettings } from '../control/settings.ts'
import { flowControlSettings, readFlowControl } from '../flow-control/settings.ts'
import { kubeletSettings, readKubelets } from '../kubelets/settings.ts'
import { isLoopback } from '../serving/loopback.ts'
import { readServing, type ServingOptions, servingSettings } from '../serving/settings.ts'
import { readWebhookPlaces, webhookSettings } from '../webhooks/settings.ts'

/** Settings of a gateway, in any process. */
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
  ...kubeletSettings,
  ...testSettings,
}

/** Settings of a gateway, checked. */
export interface GatewayGroups extends ReturnType<typeof readGateway> {
  /** Every flag with its value. */
  readonly flags?: ReadonlyMap<string, string>
}

type GatewayValues = Values<typeof gatewaySettings> & Parameters<typeof readApi>[0]

/** Checks each group of settings, and their combinations. */
export function readGateway(settings: GatewayValues) {
  const { eventTtlMs, serviceClusterIpRange, serviceNodePortRange } = settings
  const serving = readServing(settings)
  const authorization = readAuthorization(settings)
  const authentication = readAuthentication(settings, authorization.modes)
  checkTogether(serving, authentication, authorization)
  const api = readApi(settings)
  checkUidHeaders(api, authentication)
  checkTests(settings)
  return {
    api,
    serving,
    authentication,
    authorization,
    /** Undefined if the server logs no requests. */
    audit: readAudit(settings),
    flowControl: readFlowControl(settings),
    /** Values that the server assigns to objects. */
    objects: { eventTtlMs, serviceClusterIpRange, serviceNodePortRange },
    aggregation: readAggregation(settings),
    kubelets: readKubelets(settings),
    /** The allowed targets of conversion webhooks and of the servers of APIServices. */
    webhookPlaces: readWebhookPlaces(settings),
    /** True if FaultRules take effect. */
    followsFaultRules: settings.faultInjection,
  }
}

function checkUidHeaders({ featureGates }: ApiOptions, { proxy }: AuthenticationOptions): void {
  if (proxy === undefined || proxy.uidHeaders.length === 0 || featureGates.isOn('RemoteRequestHeaderUID')) return
  throw new SettingsError('--requestheader-uid-headers: needs the feature gate RemoteRequestHeaderUID')
}

function checkTogether({ bindAddress }: ServingOptions, { anonymousAuth }: AuthenticationOptions, { modes }: AuthorizationOptions): void {
  if (anonymousAuth && modes.includes('AlwaysAllow') && !isLoopback(bindAddress)) {
    throw new SettingsError(
      `--anonymous-auth=true with --authorization-mode=AlwaysAllow and --bind-address=${bindAddress}: everything would be allowed to everyone who reaches that address; only a loopback address is accepted`,
    )
  }
}
