import { timingSafeEqual } from 'node:crypto'
import { objectKey } from '@orch/core/contracts'
import { bootstrapSecretName, parseBootstrapToken, readBootstrapSecret } from '@orch/core/tokens'
import { readBytesOfOurs } from '../conversion/convert.ts'
import type { Surroundings } from '../surroundings.ts'
import { type Authentication, none, refused, type TokenAuthenticator, type TokenQuestion } from './authenticator.ts'

/** Bootstrap tokens: each is a Secret in the system namespace, and is valid while that exists and has not expired. */
export function createBootstrapTokenAuthenticator({ names, storage }: Pick<Surroundings, 'names' | 'storage'>): TokenAuthenticator {
  return {
    name: 'bootstrap token',
    authenticate(text, question) {
      const token = parseBootstrapToken(text)
      if (token === undefined) return none
      const key = objectKey('core/secrets', names.systemNamespace, bootstrapSecretName(token.id))
      return check(key, token, question)
    },
  }

  async function check(key: string, token: { id: string; secret: string }, question: TokenQuestion): Promise<Authentication> {
    const { entry } = await storage.get({ key, read: { kind: 'any' } }, { timeoutMs: question.timeoutMs })
    const refusedFor = (reason: string): Authentication => refused(reason, { dependsOn: [key] })
    if (entry === undefined) return refusedFor('there is no such bootstrap token')
    const { object } = readBytesOfOurs(entry.value)
    const reading = readBootstrapSecret(names, object)
    if (reading.kind === 'malformed') return refusedFor(reading.message)
    const { secret } = reading
    if (!isSame(secret.secret, token.secret)) return refusedFor('the secret half of the bootstrap token is wrong')
    if (object.metadata.deletionTimestamp != null) return refusedFor('the bootstrap token is being deleted')
    if (secret.expiresMs !== undefined && secret.expiresMs <= question.nowMs) return refusedFor('the bootstrap token has expired')
    if (!secret.mayAuthenticate) return refusedFor('the bootstrap token is not for authentication')
    return {
      kind: 'user',
      method: 'bootstrap token',
      user: { name: `system:bootstrap:${token.id}`, uid: '', groups: secret.groups, extra: {} },
      dependsOn: [key],
      ...(secret.expiresMs === undefined ? {} : { validUntilMs: secret.expiresMs }),
    }
  }
}

/** Takes constant time for texts of equal length, as secrets of tokens have. */
function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one), Buffer.from(other))
}
