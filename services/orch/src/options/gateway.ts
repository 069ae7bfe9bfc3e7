import type { Profile } from '@orch/core'
import { type Cidr, type PortRange, SettingsError, type Values } from '@orch/platform'
import { isLoopback } from '../addresses.ts'
import type { gatewaySettings } from '../settings/gateway.ts'
import { type ApiOptions, readApi } from './api.ts'
import { type AuditOptions, readAudit } from './audit.ts'
import { type AuthenticationOptions, readAuthentication } from './authentication.ts'
import { readServing, type ServingOptions } from './serving.ts'

/** What a gateway was told, checked. */
export interface GatewayGroups {
  readonly api: ApiOptions
  readonly serving: ServingOptions
  readonly authentication: AuthenticationOptions
  /** Absent: nothing is written down. */
  readonly audit: AuditOptions | undefined
  /** What objects are given that do not bring it. */
  readonly objects: ObjectsOptions
}

export interface ObjectsOptions {
  readonly eventTtlMs: number
  readonly serviceClusterIpRange: Cidr
  readonly serviceNodePortRange: PortRange
}

type GatewayValues = Values<typeof gatewaySettings> & { readonly profile: Profile }

/** Checks each group of settings, and what does not go together. */
export function readGateway(settings: GatewayValues): GatewayGroups {
  const { eventTtlMs, serviceClusterIpRange, serviceNodePortRange } = settings
  const serving = readServing(settings)
  const authentication = readAuthentication(settings)
  checkTogether(serving, authentication)
  return {
    api: readApi(settings),
    serving,
    authentication,
    audit: readAudit(settings),
    objects: { eventTtlMs, serviceClusterIpRange, serviceNodePortRange },
  }
}

function checkTogether({ bindAddress }: ServingOptions, { anonymousAuth }: AuthenticationOptions): void {
  if (anonymousAuth && !isLoopback(bindAddress)) {
    throw new SettingsError(
      `--anonymous-auth=true with --bind-address=${bindAddress}: everything would be allowed to everyone who reaches that address; only a loopback address is accepted`,
    )
  }
}
