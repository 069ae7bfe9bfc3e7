import type { Peer } from '../exchange/exchange.ts'
import { type Attempt, type Authentication, none, type RequestAuthenticator, refused } from './authenticator.ts'

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

/** Parts of this process, which need no credential. */
export const internalAuthenticator: RequestAuthenticator = {
  name: 'internal',
  authenticate: ({ peer }) => (peer.kind === 'internal' ? ofPeer(peer, peer.name, peer.groups) : none),
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
