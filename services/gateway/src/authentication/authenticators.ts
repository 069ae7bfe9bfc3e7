import type { Catalogue } from '@orch/core/catalogue'
import type { User } from '@orch/core/contracts'
import { memo } from '@orch/core/memo'
import { unauthorized } from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import type { Clock, Log } from '@orch/platform'
import type { Exchange, Peer } from '../exchange/exchange.ts'
import { bearerSubprotocol, isWebSocket, offeredSubprotocols } from '../exchange/web-socket-opening.ts'
import type { GatewayRequest } from '../request/request.ts'
import {
  type Attempt,
  type Authentication,
  type GatewayAuthentication,
  none,
  type Refusal,
  type RequestAuthenticator,
  refused,
  type TokenQuestion,
} from './authenticator.ts'
import { outsideCredentialKey } from './extra-keys.ts'
import { textOfHeader } from './header-text.ts'
import { limits } from './limits.ts'
import type { AttemptMetrics, AttemptResult } from './metrics.ts'

/** All authenticators, joined. */
export type Authenticators = ReturnType<typeof createAuthenticators>

/** The names, the level and the gates by which users are found. */
type AuthenticationCatalogue = Pick<Catalogue, 'names' | 'level' | 'isGateOn'>

/** Client certificates, verified by TLS: the common name is the user, each organization a group. */
export function createCertificateAuthenticator(catalogue: AuthenticationCatalogue): RequestAuthenticator {
  const key = outsideCredentialKey(catalogue)
  const readsUid = catalogue.isGateOn('AllowParsingUserUIDFromCertAuth')
  return {
    name: 'certificate',
    authenticate({ peer, nowMs }: Attempt): Authentication {
      switch (peer.kind) {
        case 'certificate': {
          // A connection may outlive its client certificate.
          if (peer.expiresMs <= nowMs) return refused('the client certificate has expired')
          const { uids = [] } = readsUid ? peer : {}
          if (uids.length > 1) return refused(`expected 1 UID, but found multiple: [${uids.join(' ')}]`)
          const [uid] = uids
          if (uid === '') return refused('the UID of the client certificate is empty')
          const extra = key === undefined ? {} : { [key]: [`X509SHA256=${peer.sha256}`] }
          return ofPeer(peer, { name: peer.commonName, uid: uid ?? '', groups: peer.organizations, extra })
        }
        case 'untrusted':
          return refused(`the client certificate does not verify: ${peer.reason}`)
        case 'internal':
        case 'console':
        case 'unknown':
          return none
      }
    },
  }
}

/** One user object per connection. */
const ofPeer = memo((peer: Peer, { name, uid = '', groups, extra }: Omit<User, 'uid'> & Partial<Pick<User, 'uid'>>): Authentication => {
  const method = peer.kind === 'internal' ? 'part of the server' : 'client certificate'
  return { kind: 'user', method, user: { name, uid, groups: [...new Set(groups)], extra } }
})

/** The default configuration: only client certificates. */
export function certificatesAlone(catalogue: AuthenticationCatalogue): GatewayAuthentication {
  return { requests: [createCertificateAuthenticator(catalogue)], tokens: [], audiences: [] }
}

/** Joins the configured authenticators in call order. */
export function createAuthenticators(
  { requests, tokens, audiences, issuer }: GatewayAuthentication,
  { apiDomain }: Pick<Names, 'apiDomain'>,
) {
  const readToken = (token: string, question: TokenQuestion): Answer => {
    if (token.length > limits.tokenLengthMax) return refused('the token is too long')
    const answer = firstToAccept(tokens, (authenticator) => authenticator.authenticate(token, question))
    const settle = (settled: Authentication) => forAudiences(settled, question.audiences, audiences)
    return answer instanceof Promise ? answer.then(settle) : settle(answer)
  }
  const lastOf = new WeakMap<Attempt['peer'], Brought>()
  const bearer: RequestAuthenticator = {
    name: 'bearer',
    authenticate({ peer, header: headerOf, nowMs, timeoutMs }) {
      const header = headerOf('authorization')
      if (header === undefined) return ofWebSocket(headerOf, { audiences, nowMs, timeoutMs })
      let brought = lastOf.get(peer)
      if (brought?.header !== header) {
        brought = { header, token: bearerTokenOf(header) }
        lastOf.set(peer, brought)
      }
      const { token } = brought
      return token === undefined ? { kind: 'none' } : readToken(token, { audiences, nowMs, timeoutMs, source: brought })
    },
  }
  const ofWebSocket = (headerOf: Attempt['header'], question: TokenQuestion): Answer => {
    if (!isWebSocket(headerOf('upgrade'))) return { kind: 'none' }
    const brought = tokenInSubprotocols(headerOf('sec-websocket-protocol'), apiDomain)
    return brought.kind === 'token' ? readToken(brought.token, question) : brought
  }
  const authenticators = [...requests, bearer]
  return {
    /** The user; the first authenticator that accepts decides. */
    authenticate(attempt: Attempt): Answer {
      const { peer } = attempt
      // Parts of this process need no credential.
      if (peer.kind === 'internal') return ofPeer(peer, { ...peer, extra: {} })
      // A session is already authenticated; other credentials in its requests are ignored.
      if (peer.kind === 'console') return { kind: 'user', method: 'session of the console', user: peer.user }
      return firstToAccept(authenticators, (authenticator) => authenticator.authenticate(attempt))
    },
    /** The user of a token. A token that no authenticator accepts is refused. */
    readToken,
    /** Headers other than `Authorization` with credentials: names in lower case, or prefixes before a `*`. */
    credentialHeaders: requests.flatMap(({ headers = [] }) => headers),
    audiences,
    /** The issuer of service account tokens; undefined if none are issued. */
    issuer,
  }
}

/** The last credential of a connection. Clients repeat it, and reading and hashing a long token costs more than comparing it. */
interface Brought {
  readonly header: string
  readonly token: string | undefined
}

/** A token that no authenticator knows is refused; one without audiences is for this server. */
function forAudiences(answer: Authentication, asked: readonly string[], ours: readonly string[]): Authentication {
  if (answer.kind === 'none') return refused('no authenticator knows the token')
  const isForThem = answer.kind === 'refused' || answer.audiences !== undefined || asked === ours || asked.some((one) => ours.includes(one))
  return isForThem ? answer : refused('the token is for others')
}

/** The treatment of requests without credentials: as `system:anonymous`, or refused. */
export interface AnonymousAccess {
  /** `path` is without query, and without the prefix of the server. Returns no promise if possible. */
  isAllowed(path: string): boolean | Promise<boolean>
}

/** The dependencies of finding the user of a request. */
export interface AuthenticateParts {
  readonly authentication: Pick<Authenticators, 'authenticate' | 'credentialHeaders' | 'audiences'>
  readonly attempts: AttemptMetrics
  readonly clock: Pick<Clock, 'now' | 'monotonic'>
  readonly log: Log
  readonly anonymousAuth: AnonymousAccess
}

const anonymous: User = Object.freeze({ name: 'system:anonymous', uid: '', groups: Object.freeze(['system:unauthenticated']), extra: {} })

/** Authenticates a request. Without anonymous access every path needs credentials, including health, as upstream. */
export function authenticate(request: GatewayRequest, parts: AuthenticateParts): void | Promise<void> {
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
  // A user known by the connection must not cause a promise.
  const settled = (known: Authentication): void | Promise<void> => {
    const outcome = known.kind === 'none' ? withoutCredential(request, parts) : known
    return outcome instanceof Promise
      ? outcome.then((late) => settle(request, late, startedMs, parts))
      : settle(request, outcome, startedMs, parts)
  }
  return answer instanceof Promise ? answer.then(settled) : settled(answer)
}

/** The result of an attempt; `none` for a request without the required credential. */
type Outcome = Authentication | { readonly kind: 'anonymous' }

function withoutCredential({ path }: GatewayRequest, { anonymousAuth }: AuthenticateParts): Outcome | Promise<Outcome> {
  const outcomeOf = (isAllowed: boolean): Outcome => (isAllowed ? { kind: 'anonymous' } : none)
  const isAllowed = anonymousAuth.isAllowed(path)
  return typeof isAllowed === 'boolean' ? outcomeOf(isAllowed) : isAllowed.then(outcomeOf)
}

/** Counts the attempt, then sets the user or refuses. */
function settle(request: GatewayRequest, outcome: Outcome, startedMs: number, parts: AuthenticateParts): void {
  const { attempts, clock } = parts
  let result: AttemptResult = 'failure'
  try {
    takeOutcome(request, outcome, parts)
    result = 'success'
    attempts.user(request.user.name)
  } finally {
    attempts.attempt(result, (clock.monotonic() - startedMs) / 1000)
  }
}

function takeOutcome(request: GatewayRequest, outcome: Outcome, { authentication, log }: AuthenticateParts): void {
  const { exchange } = request
  const spent = spentHeaders(exchange, authentication.credentialHeaders)
  if (spent.length > 0) exchange.dropHeaders(spent)
  switch (outcome.kind) {
    case 'user':
      if (!isForUs(outcome, authentication.audiences)) throw unauthorized()
      request.user = asAuthenticated(outcome.user)
      request.isKnown = true
      request.explanation?.authenticated(outcome.method ?? 'credential', outcome.user.name)
      for (const [key, value] of Object.entries(outcome.auditAnnotations ?? noAnnotations)) request.annotate(key, value)
      for (const text of outcome.warnings ?? noWarnings) request.warn(text)
      return
    case 'refused':
      log.debug({ auditId: request.auditId, reason: outcome.reason }, 'a credential was refused')
      throw unauthorized()
    case 'none':
      throw unauthorized()
    case 'anonymous':
      request.user = anonymous
      request.isKnown = true
      request.explanation?.authenticated('anonymous', anonymous.name)
  }
}

const noAnnotations: Readonly<Record<string, string>> = {}
const noWarnings: readonly string[] = []

/** A credential with audiences must have one of ours. */
function isForUs({ audiences }: Extract<Authentication, { kind: 'user' }>, ours: readonly string[]): boolean {
  return audiences === undefined || ours.length === 0 || audiences.some((audience) => ours.includes(audience))
}

/** Headers that are not needed after authentication. */
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

/** The user, in the group of all authenticated users. */
export const asAuthenticated: (user: User) => User = memo((user: User) => {
  const isSaid = user.groups.includes(authenticatedGroup) || user.groups.includes(unauthenticatedGroup)
  const made = isSaid ? user : { ...user, groups: [...user.groups, authenticatedGroup] }
  return made
})

/** The token of an `Authorization` header: the text after `Bearer`. Undefined without one. */
function bearerTokenOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const match = /^bearer[ \t]+(\S.*)$/is.exec(header.trim())
  return match === null ? undefined : textOfHeader(match[1] ?? '')
}

/** The token in the subprotocols of a WebSocket, whose name must be in the domain of the API. */
function tokenInSubprotocols(
  header: string | undefined,
  apiDomain: string,
): { readonly kind: 'token'; readonly token: string } | Authentication {
  const [first, ...others] = offeredSubprotocols(header)
    .map(bearerSubprotocol)
    .filter((found) => found?.domain === apiDomain)
  if (first === undefined) return none
  if (others.length > 0) return refused('several tokens are offered as subprotocols')
  try {
    const token = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(first.encoded, 'base64url'))
    return token === '' ? none : { kind: 'token', token }
  } catch {
    return refused('the token that is offered as a subprotocol is not UTF-8 in base64 of URLs')
  }
}

/** An authenticator's answer, without a promise if possible. */
export type Answer = Authentication | Promise<Authentication>

interface Progress {
  readonly index: number
  readonly refusals: readonly Refusal[]
}

const start: Progress = { index: 0, refusals: [] }

/** Calls authenticators in order until one accepts. The reasons of refusals are joined; `none` if all are `none`. */
export function firstToAccept<Named extends { readonly name: string }>(
  authenticators: readonly Named[],
  ask: (authenticator: Named) => Answer,
  { index, refusals }: Progress = start,
): Answer {
  for (; index < authenticators.length; index += 1) {
    const authenticator = authenticators[index]
    if (authenticator === undefined) break
    const answer = askOne(authenticator, ask)
    if (answer instanceof Promise) {
      const next = index + 1
      return answer.then((settled) => {
        if (settled.kind === 'user') return settled
        return firstToAccept(authenticators, ask, { index: next, refusals: withRefusal(refusals, authenticator.name, settled) })
      })
    }
    if (answer.kind === 'user') return answer
    refusals = withRefusal(refusals, authenticator.name, answer)
  }
  if (refusals.length === 0) return none
  return joined(refusals)
}

/** The minimum of their cache times. */
function joined(refusals: readonly Refusal[]): Refusal {
  const details = refusals.flatMap(({ detail = [] }) => detail)
  return {
    kind: 'refused',
    ...(details.length === 0 ? {} : { detail: details.join(', ') }),
    reason: refusals.map(({ reason }) => reason).join('; '),
    dependsOn: refusals.flatMap(({ dependsOn = [] }) => dependsOn),
    validUntilMs: Math.min(...refusals.map(({ validUntilMs = Number.POSITIVE_INFINITY }) => validUntilMs)),
    keptMsMax: Math.min(...refusals.map(({ keptMsMax = Number.POSITIVE_INFINITY }) => keptMsMax)),
  }
}

/** A failed authenticator counts as a refusal, and the others are still called. It may recover at any time, so the refusal is not cached. */
function askOne<Named extends { readonly name: string }>(authenticator: Named, ask: (authenticator: Named) => Answer): Answer {
  try {
    const answer = ask(authenticator)
    return answer instanceof Promise ? answer.catch(failed) : answer
  } catch (error) {
    return failed(error)
  }
}

function failed(error: unknown): Authentication {
  return { ...refused(`failed: ${error instanceof Error ? error.message : String(error)}`), keptMsMax: 0 }
}

function withRefusal(refusals: readonly Refusal[], name: string, answer: Authentication): readonly Refusal[] {
  if (answer.kind !== 'refused') return refusals
  return [...refusals, { ...answer, reason: `${name}: ${answer.reason}` }]
}
