import type { User } from '@orch/core/contracts'
import { unauthorized } from '@orch/core/meta'
import type { Clock, Log } from '@orch/platform'
import type { Authentication } from '../authentication/authenticator.ts'
import type { Authenticators } from '../authentication/authenticators.ts'
import type { AttemptMetrics, AttemptResult } from '../authentication/metrics.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { GatewayRequest } from '../request.ts'
import type { Step } from './step.ts'

/** What finding the user of a request needs. */
export interface AuthenticateParts {
  readonly authentication: Pick<Authenticators, 'authenticate' | 'credentialHeaders' | 'audiences'>
  readonly attempts: AttemptMetrics
  readonly clock: Pick<Clock, 'now' | 'monotonic'>
  readonly log: Log
  /** Requests without credentials are `system:anonymous`. */
  readonly anonymousAuth: boolean
}

const anonymous: User = Object.freeze({ name: 'system:anonymous', uid: '', groups: Object.freeze(['system:unauthenticated']), extra: {} })

/** Says who asks. Without anonymous access no path answers a stranger, as upstream: not even those of health. */
export const authenticate: Step<AuthenticateParts> = (request, parts) => {
  const { exchange } = request
  const startedMs = parts.clock.monotonic()
  const answer = parts.authentication.authenticate({
    peer: exchange.peer,
    nowMs: parts.clock.now(),
    timeoutMs: Math.max(0, request.deadlineMs - startedMs),
    header: (name) => exchange.header(name),
    headerValues: (name) => exchange.headerValues(name),
    headerNames: () => exchange.headerNames(),
  })
  // A user who is known by the connection must not cost a promise.
  return answer instanceof Promise
    ? answer.then((settled) => settle(request, settled, startedMs, parts))
    : settle(request, answer, startedMs, parts)
}

/** Counts the attempt, then says who asks or refuses. */
function settle(request: GatewayRequest, answer: Authentication, startedMs: number, parts: AuthenticateParts): void {
  const { attempts, clock } = parts
  let result: AttemptResult = 'failure'
  try {
    takeAnswer(request, answer, parts)
    result = 'success'
    attempts.user(request.user.name)
  } finally {
    attempts.attempt(result, (clock.monotonic() - startedMs) / 1000)
  }
}

function takeAnswer(request: GatewayRequest, answer: Authentication, { authentication, anonymousAuth, log }: AuthenticateParts): void {
  const { exchange } = request
  const spent = spentHeaders(exchange, authentication.credentialHeaders)
  if (spent.length > 0) exchange.dropHeaders(spent)
  switch (answer.kind) {
    case 'user':
      if (!isForUs(answer, authentication.audiences)) throw unauthorized()
      request.user = asAuthenticated(answer.user)
      request.explanation?.authenticated(answer.method ?? 'credential', answer.user.name)
      for (const [key, value] of Object.entries(answer.auditAnnotations ?? noAnnotations)) request.annotate(key, value)
      return
    case 'refused':
      log.debug({ auditId: request.auditId, reason: answer.reason }, 'a credential was refused')
      throw unauthorized()
    case 'none':
      if (!anonymousAuth) throw unauthorized()
      request.user = anonymous
      request.explanation?.authenticated('anonymous', anonymous.name)
  }
}

const noAnnotations: Readonly<Record<string, string>> = {}

/** A credential that names audiences must name one of ours. */
function isForUs({ audiences }: Extract<Authentication, { kind: 'user' }>, ours: readonly string[]): boolean {
  return audiences === undefined || ours.length === 0 || audiences.some((audience) => ours.includes(audience))
}

/** Headers that are of no concern once it is known who asks. */
function spentHeaders(exchange: Exchange, patterns: readonly string[]): readonly string[] {
  const authorization = exchange.header('authorization') === undefined ? noHeaders : onlyAuthorization
  if (patterns.length === 0) return authorization
  return [...authorization, ...exchange.headerNames().filter((name) => patterns.some((pattern) => isMeantBy(name, pattern)))]
}

const noHeaders: readonly string[] = []
const onlyAuthorization: readonly string[] = ['authorization']

function isMeantBy(name: string, pattern: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern
}

const authenticatedGroup = 'system:authenticated'
const unauthenticatedGroup = 'system:unauthenticated'

/** Users with the group that everybody has who is known; kept beside the user, who is the same object for a whole connection. */
const withGroup = new WeakMap<User, User>()

/** The user, in the group of everybody who is known. */
export function asAuthenticated(user: User): User {
  const known = withGroup.get(user)
  if (known !== undefined) return known
  const isSaid = user.groups.includes(authenticatedGroup) || user.groups.includes(unauthenticatedGroup)
  const made = isSaid ? user : { ...user, groups: [...user.groups, authenticatedGroup] }
  withGroup.set(user, made)
  return made
}
