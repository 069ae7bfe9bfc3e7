import type { Profile } from '@orch/core/names'
import { type Cidr, type PortRange, SettingsError, type Values } from '@orch/platform'
import type { CallPlaces } from '@orch/platform/webhooks'
import { type AggregationOptions, readAggregation } from '../aggregation/options.ts'
import { type ApiOptions, readApi } from '../api/options.ts'
import { type AuditOptions, readAudit } from '../audit/options.ts'
import { type AuthenticationOptions, readAuthentication } from '../authentication/options.ts'
import { type AuthorizationOptions, readAuthorization } from '../authorization/options.ts'
import { type FlowControlOptions, readFlowControl } from '../flow-control/options.ts'
import { isLoopback } from '../serving/loopback.ts'
import { readServing, type ServingOptions } from '../serving/options.ts'
import { readWebhookPlaces } from '../webhooks/services.ts'
import type { gatewaySettings } from './settings.ts'

/** Settings of a gateway, checked. */
export interface GatewayGroups {
  readonly api: ApiOptions
  readonly serving: ServingOptions
  readonly authentication: AuthenticationOptions
  readonly authorization: AuthorizationOptions
  /** Absent: nothing is written down. */
  readonly audit: AuditOptions | undefined
  readonly flowControl: FlowControlOptions
  /** What objects are given that do not bring it. */
  readonly objects: ObjectsOptions
  readonly aggregation: AggregationOptions
  /** Every flag with its value. */
  readonly flags?: ReadonlyMap<string, string>
  /** Where conversion webhooks and the servers of APIServices may be called. */
  readonly webhookPlaces: CallPlaces
}

interface ObjectsOptions {
  readonly eventTtlMs: number
  readonly serviceClusterIpRange: Cidr
  readonly serviceNodePortRange: PortRange
}

type GatewayValues = Values<typeof gatewaySettings> & { readonly profile: Profile }

/** Checks each group of settings, and what does not go together. */
export function readGateway(settings: GatewayValues): GatewayGroups {
  const { eventTtlMs, serviceClusterIpRange, serviceNodePortRange } = settings
  const serving = readServing(settings)
  const authorization = readAuthorization(settings)
  const authentication = readAuthentication(settings, authorization.modes)
  checkTogether(serving, authentication, authorization)
  const api = readApi(settings)
  checkUidHeaders(api, authentication)
  return {
    api,
    serving,
    authentication,
    authorization,
    audit: readAudit(settings),
    flowControl: readFlowControl(settings),
    objects: { eventTtlMs, serviceClusterIpRange, serviceNodePortRange },
    aggregation: readAggregation(settings),
    webhookPlaces: readWebhookPlaces(settings),
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
