import type { User } from '@orch/core/contracts'
import { decide, type ResourceInfoAccess } from '../authorization/authorizer.ts'
import type { GatewayRequest } from '../request.ts'
import { type AuthorizeParts, refusal } from '../steps/authorize.ts'
import type { Step } from '../steps/step.ts'
import { readWanted, type Wanted } from './wanted.ts'

/** A caller who may impersonate another user acts as that user from here on; the audit event still knows both. */
export const impersonate: Step<AuthorizeParts> = (request, parts) => {
  const wanted = readWanted(request.exchange, parts.names)
  if (wanted !== undefined) return become(request, wanted, parts)
}

async function become(
  request: GatewayRequest,
  { user, accesses, headers }: Wanted,
  { authorizers }: Pick<AuthorizeParts, 'authorizers'>,
): Promise<void> {
  for (const access of accesses) await requireAllowed(request.user, access, authorizers)
  request.exchange.dropHeaders(headers)
  request.user = user
}

/** What could not be decided is not allowed; what went wrong is no concern of the caller. */
async function requireAllowed(caller: User, access: ResourceInfoAccess, authorizers: AuthorizeParts['authorizers']): Promise<void> {
  const { kind, reason } = await decide(authorizers, caller, access)
  if (kind !== 'allow') throw refusal(caller, access, reason)
}
