import type { User } from '@orch/core/contracts'
import { failed } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import { parseFieldSelector } from '@orch/core/selectors'
import { type Access, type Authorizer, type Decision, decide } from '../authorization/authorizer.ts'
import type { GatewayRequest } from '../request.ts'
import { PlainRefusal } from '../respond.ts'
import type { Step } from './step.ts'

/** What a decision about access needs. */
export interface AuthorizeParts {
  readonly names: Names
  /** Asked in order until one decides. */
  readonly authorizers: readonly Authorizer[]
}

/** Lets a request go on that is allowed, and refuses every other. */
export const authorize: Step<AuthorizeParts> = (request, { authorizers, names }) => {
  const access = accessOf(request)
  const decision = decide(authorizers, request.user, access)
  // A decision that is known at once must not cost a promise.
  if (decision instanceof Promise) return decision.then((late) => requireAllowed(request, access, late, names))
  requireAllowed(request, access, decision, names)
}

/** A PUT or an apply that makes an object is its creation too, and must be allowed as one. A POST has been asked about already. */
export function requireMayCreate(
  { info, user }: GatewayRequest,
  name: string,
  { authorizers }: Pick<AuthorizeParts, 'authorizers'>,
): Promise<void> | undefined {
  if (info.kind === 'path' || info.verb === 'create') return undefined
  return requireAccess(user, { ...info, verb: 'create', name }, authorizers)
}

async function requireAccess(user: User, access: Access, authorizers: readonly Authorizer[]): Promise<void> {
  const { kind, reason } = await decide(authorizers, user, access)
  if (kind !== 'allow') throw refusal(user, access, reason)
}

function requireAllowed(request: GatewayRequest, access: Access, { kind, reason, error }: Decision, names: Names): void {
  const { user, exchange } = request
  const group = domainGroup(names, 'authorization')
  request.explanation?.authorized(kind === 'allow', reason)
  request.annotate(`${group}/decision`, kind === 'allow' ? 'allow' : 'forbid')
  request.annotate(`${group}/reason`, kind === 'allow' || error === undefined ? reason : 'internal error')
  if (kind === 'allow') return
  if (error !== undefined) throw new PlainRefusal(500, `Internal Server Error: ${JSON.stringify(exchange.target)}: ${error}\n`)
  throw refusal(user, access, reason)
}

/** A list or watch of the one object that its field selector names is an access to that object. */
function accessOf({ info, query }: GatewayRequest): Access {
  if (info.kind === 'path' || query.isEmpty || info.name !== '' || (info.verb !== 'list' && info.verb !== 'watch')) return info
  const name = demandedName(query.get('fieldSelector'))
  return name === undefined ? info : { ...info, name }
}

function demandedName(fieldSelector: string | undefined): string | undefined {
  if (!fieldSelector?.includes('metadata.name')) return undefined
  const reading = parseFieldSelector(fieldSelector)
  if (reading.kind === 'malformed') return undefined
  const demanded = reading.requirements.find(({ field, operator }) => field === 'metadata.name' && operator === 'Equals')
  const isSegment = demanded !== undefined && !/[/%]/.test(demanded.value) && !['', '.', '..'].includes(demanded.value)
  return isSegment ? demanded.value : undefined
}

/** The 403 for an access. */
export function refusal(user: User, access: Access, reason: string): Error {
  const why = reason === '' ? '' : `: ${reason}`
  if (access.kind === 'path') {
    const { verb, path } = access
    return failed(403, 'Forbidden', `forbidden: User ${JSON.stringify(user.name)} cannot ${verb} path ${JSON.stringify(path)}${why}`, {
      details: {},
    })
  }
  const { verb, group, name, namespace } = access
  const resource = access.subresource === '' ? access.resource : `${access.resource}/${access.subresource}`
  const dotted = group === '' ? access.resource : `${access.resource}.${group}`
  const what = name === '' ? `${dotted} is forbidden` : `${dotted} ${JSON.stringify(name)} is forbidden`
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`
  const message = `${what}: User ${JSON.stringify(user.name)} cannot ${verb} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(group)} ${where}${why}`
  return failed(403, 'Forbidden', message, {
    details: {
      ...(name === '' ? {} : { name }),
      ...(group === '' ? {} : { group }),
      kind: access.resource,
    },
  })
}
