import type { Peer } from '../exchange/exchange.ts'
import type { AccountTokenIssuer } from './account-token-issuer.ts'
import {
  type Attempt,
  type Authentication,
  type GatewayAuthentication,
  none,
  type RequestAuthenticator,
  refused,
  type TokenQuestion,
} from './authenticator.ts'
import { bearerTokenOf } from './bearer-token.ts'
import { type Answer, firstToAccept } from './first-to-accept.ts'
import { limits } from './limits.ts'

/** All authenticators, joined. */
export interface Authenticators {
  /** The user; the first authenticator that accepts decides. */
  authenticate(attempt: Attempt): Answer
  /** Whose token it is. A token that no authenticator accepts is refused. */
  readToken(token: string, question: TokenQuestion): Answer
  /** Headers beside `Authorization` that carry credentials: names in lower case, or prefixes before a `*`. */
  readonly credentialHeaders: readonly string[]
  /** Audiences of this server. */
  readonly audiences: readonly string[]
  /** What makes tokens of service accounts; undefined: none are made. */
  readonly issuer: AccountTokenIssuer | undefined
}

/** Client certificates, verified by TLS: the common name is the user, each organization a group. */
export const certificateAuthenticator: RequestAuthenticator = {
  name: 'certificate',
  authenticate({ peer, nowMs }: Attempt): Authentication {
    switch (peer.kind) {
      case 'certificate':
        // A connection may outlive the certificate that opened it.
        if (peer.expiresMs <= nowMs) return refused('the client certificate has expired')
        return ofPeer(peer, peer.commonName, peer.organizations)
      case 'untrusted':
        return refused(`the client certificate does not verify: ${peer.reason}`)
      case 'internal':
      case 'unknown':
        return none
    }
  },
}

/** One user object per connection. */
const known = new WeakMap<Peer, Authentication>()

function ofPeer(peer: Peer, name: string, groups: readonly string[]): Authentication {
  const found = known.get(peer)
  if (found !== undefined) return found
  const method = peer.kind === 'internal' ? 'part of the server' : 'client certificate'
  const made: Authentication = { kind: 'user', method, user: { name, uid: '', groups: [...new Set(groups)], extra: {} } }
  known.set(peer, made)
  return made
}

/** Where nothing is configured: client certificates alone. */
export const certificatesAlone: GatewayAuthentication = { requests: [certificateAuthenticator], tokens: [], audiences: [] }

/** Joins the configured authenticators in the order in which they are asked. */
export function createAuthenticators({ requests, tokens, audiences, issuer }: GatewayAuthentication): Authenticators {
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
      if (header === undefined) return { kind: 'none' }
      let brought = lastOf.get(peer)
      if (brought?.header !== header) {
        brought = { header, token: bearerTokenOf(header) }
        lastOf.set(peer, brought)
      }
      const { token } = brought
      return token === undefined ? { kind: 'none' } : readToken(token, { audiences, nowMs, timeoutMs, source: brought })
    },
  }
  const authenticators = [...requests, bearer]
  return {
    authenticate(attempt) {
      const { peer } = attempt
      // Parts of this process need no credential.
      if (peer.kind === 'internal') return ofPeer(peer, peer.name, peer.groups)
      return firstToAccept(authenticators, (authenticator) => authenticator.authenticate(attempt))
    },
    readToken,
    credentialHeaders: requests.flatMap(({ headers = [] }) => headers),
    audiences,
    issuer,
  }
}

/** What a connection has brought last. Clients repeat themselves; reading and hashing a long token costs more than comparing it. */
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
