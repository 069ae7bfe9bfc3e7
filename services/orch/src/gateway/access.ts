import { type AuditNeeds, type GatewayAudit, openAudit } from '../audit/open.ts'
import { type AuthenticationNeeds, type GatewayAuthentication, openGatewayAuthentication } from '../authentication/open.ts'
import { type AuthorizationNeeds, type GatewayAuthorization, openAuthorization } from '../authorization/open.ts'
import type { Surroundings } from '../surroundings.ts'
import type { GatewayGroups } from './options.ts'

/** What these three need. */
export interface AccessNeeds
  extends GatewayGroups,
    Omit<AuditNeeds, 'audit'>,
    Omit<AuthenticationNeeds, 'authentication'>,
    Omit<AuthorizationNeeds, 'authorization' | 'storage' | 'metrics'> {}

/** Authentication, authorization and audit of a gateway. */
export interface GatewayAccess {
  readonly authentication: GatewayAuthentication
  readonly authorization: GatewayAuthorization
  /** Absent: no audit policy is set. */
  readonly audit: GatewayAudit | undefined
}

/** Opens them, to be closed with the rest. */
export async function openAccess(needs: AccessNeeds, surroundings: Surroundings): Promise<GatewayAccess> {
  return {
    authentication: await openGatewayAuthentication(needs, surroundings),
    authorization: await openAuthorization(needs, surroundings),
    audit: await openAudit(needs, surroundings),
  }
}
