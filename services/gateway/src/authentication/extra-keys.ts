import type { Catalogue } from '@orch/core/catalogue'
import { type Names, subdomainLabel } from '@orch/core/names'

/** The key of an extra attribute from authentication: `pod-name` becomes `authentication.orch.io/pod-name`. */
export function extraKey(names: Names, name: string): string {
  return subdomainLabel(names, 'authentication', name)
}

/** The key of the ID of a credential: `JTI=…` of a token, `X509SHA256=…` of a certificate. */
export function credentialKey(names: Names): string {
  return extraKey(names, 'credential-id')
}

/** `credentialKey` for users of certificates and of OpenID Connect tokens; undefined at levels without it. */
export function outsideCredentialKey({ names, level }: Pick<Catalogue, 'names' | 'level'>): string | undefined {
  return level < outsideCredentialsSince ? undefined : credentialKey(names)
}

const outsideCredentialsSince = 32
