import { failed, type User } from '@orch/core'
import type { PathInfo, RequestInfo, ResourceInfo } from '../request-info.ts'
import type { Step } from './step.ts'

export type Decision =
  | { readonly kind: 'allow' }
  | { readonly kind: 'deny'; readonly reason: string }
  | { readonly kind: 'noOpinion'; readonly reason: string }

/** What somebody wants to do. Every request is one; a review may ask about others, with verbs that no request has. */
export type Access =
  | PathInfo
  | (Omit<ResourceInfo, 'verb' | 'rest'> & {
      /** A verb of requests, another word such as `impersonate`, or `*`. */
      readonly verb: string
    })

/** One way to decide whether a user may do something. */
export interface Authorizer {
  authorize(user: User, access: Access): Decision | Promise<Decision>
}

const allow: Decision = { kind: 'allow' }

/** The mode in which everybody who is known may do everything. */
export const alwaysAllow: Authorizer = { authorize: () => allow }

/** Asks the authorizers in order; the first that has an opinion decides, and without any the request is refused. */
export const authorize: Step = (request, { options }) => {
  const authorizers = options.authorizers ?? [alwaysAllow]
  // The only mode of a small server must not cost a promise.
  if (authorizers.length === 1 && authorizers[0] === alwaysAllow) return
  return requireAccess(authorizers, request.user, request.info)
}

async function requireAccess(authorizers: readonly Authorizer[], user: User, info: RequestInfo): Promise<void> {
  const decision = await decide(authorizers, user, info)
  if (decision.kind !== 'allow') throw refusal(user, info, decision.reason)
}

/** The decision of the first authorizer that has an opinion, with the reasons of all that were asked. */
export async function decide(authorizers: readonly Authorizer[], user: User, access: Access): Promise<Decision> {
  const reasons: string[] = []
  for (const authorizer of authorizers) {
    const decision = await authorizer.authorize(user, access)
    if (decision.kind === 'allow') return decision
    if (decision.reason !== '') reasons.push(decision.reason)
    if (decision.kind === 'deny') return { kind: 'deny', reason: reasons.join(', ') }
  }
  return { kind: 'noOpinion', reason: reasons.join(', ') }
}

function refusal(user: User, info: RequestInfo, reason: string): Error {
  const why = reason === '' ? '' : `: ${reason}`
  if (info.kind === 'path') {
    return failed(
      403,
      'Forbidden',
      `forbidden: User ${JSON.stringify(user.name)} cannot ${info.verb} path ${JSON.stringify(info.path)}${why}`,
      {},
    )
  }
  const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`
  const dotted = info.group === '' ? info.resource : `${info.resource}.${info.group}`
  const what = info.name === '' ? `${dotted} is forbidden` : `${dotted} ${JSON.stringify(info.name)} is forbidden`
  const where = info.namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(info.namespace)}`
  const message = `${what}: User ${JSON.stringify(user.name)} cannot ${info.verb} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(info.group)} ${where}${why}`
  return failed(403, 'Forbidden', message, {
    ...(info.name === '' ? {} : { name: info.name }),
    ...(info.group === '' ? {} : { group: info.group }),
    kind: info.resource,
  })
}
