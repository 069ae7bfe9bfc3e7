import { type Names, subdomainLabel } from '@orch/core/names'

/** The key of what authentication says about a user beside its name: `pod-name` is `authentication.orch.io/pod-name`. */
export function extraKey(names: Names, name: string): string {
  return subdomainLabel(names, 'authentication', name)
}

/** The key of the identity of the credential that a user has shown: `JTI=…` of a token, `X509SHA256=…` of a certificate. */
export function credentialKey(names: Names): string {
  return extraKey(names, 'credential-id')
}
