import { type Names, subdomainLabel } from '@orch/core/names'

/** The key of an extra attribute from authentication: `pod-name` becomes `authentication.orch.io/pod-name`. */
export function extraKey(names: Names, name: string): string {
  return subdomainLabel(names, 'authentication', name)
}

/** The key of the ID of a credential: `JTI=…` of a token, `X509SHA256=…` of a certificate. */
export function credentialKey(names: Names): string {
  return extraKey(names, 'credential-id')
}
