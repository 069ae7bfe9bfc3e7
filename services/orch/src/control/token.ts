import { hash, timingSafeEqual } from 'node:crypto'
import { controlPath } from '@orch/core/names'
import type { PolicyRule } from '@orch/core/rbac'
import { noCredential, type TokenAuthenticator } from '@orch/gateway'
import { type CertificateFiles, systemChance } from '@orch/platform'

/** The user of the control token, with its rights. */
export const controlUser: { readonly name: string; readonly rules: readonly PolicyRule[] } = {
  name: 'system:control',
  rules: [{ verbs: ['*'], nonResourceURLs: [controlPath, `${controlPath}/*`] }],
}

const fileName = 'control.token'
const tokenBytes = 32

/** The token of a server's control, stored with its certificates; it is created at the first start, independent of the seed. */
export function keepControlToken(files: CertificateFiles): string {
  const kept = files.read(fileName)
  if (kept !== undefined) return kept
  const made = Buffer.from(systemChance.bytes(tokenBytes)).toString('base64url')
  files.write(fileName, made)
  return made
}

/** Authenticates the control token. */
export function controlAuthenticator(token: string): TokenAuthenticator {
  const digest = digestOf(token)
  const user = { name: controlUser.name, uid: '', groups: [], extra: {} }
  return {
    name: 'control',
    authenticate: (given) =>
      timingSafeEqual(digestOf(given), digest) ? { kind: 'user', user, method: 'token of the control' } : noCredential,
  }
}

function digestOf(token: string): Buffer {
  return Buffer.from(hash('sha256', token, 'hex'), 'hex')
}
