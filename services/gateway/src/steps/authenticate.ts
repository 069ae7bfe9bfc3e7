import { type User, unauthorized } from '@orch/core'
import type { GatewayRequest } from '../request.ts'
import type { Step } from './step.ts'

const authenticatedGroup = 'system:authenticated'

const anonymous: User = Object.freeze({ name: 'system:anonymous', uid: '', groups: Object.freeze(['system:unauthenticated']), extra: {} })

/** Says who asks. Without anonymous access only the paths that say nothing about the cluster answer a stranger. */
export const authenticate: Step = (request, { clock, options }) => {
  const { peer } = request.exchange
  switch (peer.kind) {
    case 'internal':
      request.user = userOf(peer, peer.name, peer.groups)
      return
    case 'certificate':
      // A connection may outlive the certificate that opened it.
      if (peer.expiresMs <= clock.now()) throw unauthorized()
      request.user = userOf(peer, peer.commonName, peer.organizations)
      return
    case 'untrusted':
      throw unauthorized()
    case 'unknown':
      if (hasBearerToken(request)) throw unauthorized()
      if (options.anonymousAuth !== true && !isOpenPath(request)) throw unauthorized()
      request.user = anonymous
  }
}

/** One user object per connection. */
const users = new WeakMap<object, User>()

function userOf(peer: object, name: string, groups: readonly string[]): User {
  const known = users.get(peer)
  if (known !== undefined) return known
  const user = { name, uid: '', groups: [...new Set([...groups, authenticatedGroup])], extra: {} }
  users.set(peer, user)
  return user
}

function hasBearerToken(request: GatewayRequest): boolean {
  const text = request.exchange.header('authorization')
  return text !== undefined && /^bearer\s+\S/i.test(text)
}

/** Paths that answer anybody. */
function isOpenPath({ info }: GatewayRequest): boolean {
  return info.kind === 'path' && /^\/(?:(?:livez|readyz|healthz)(?:\/.+)?|version\/?)$/.test(info.path)
}
