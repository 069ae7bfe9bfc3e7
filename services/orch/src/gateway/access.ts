import { type AuthenticationNeeds, type GatewayAuthentication, openGatewayAuthentication } from '../authentication/open.ts'
import { type AuthorizationNeeds, type GatewayAuthorization, openAuthorization } from '../authorization/open.ts'
import type { Surroundings } from '../surroundings.ts'
import type { GatewayGroups } from './options.ts'

/** What deciding about requests needs. */
export interface AccessNeeds
  extends GatewayGroups,
    Omit<AuthenticationNeeds, 'authentication'>,
    Omit<AuthorizationNeeds, 'authorization' | 'storage' | 'metrics'> {}

/** Who asks, and who may do what. */
export interface GatewayAccess {
  readonly authentication: GatewayAuthentication
  readonly authorization: GatewayAuthorization
}

/** Opens both, to be closed with the rest. */
export async function openAccess(needs: AccessNeeds, surroundings: Surroundings): Promise<GatewayAccess> {
  return {
    authentication: await openGatewayAuthentication(needs, surroundings),
    authorization: await openAuthorization(needs, surroundings),
  }
}
