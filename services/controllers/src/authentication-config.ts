import type { Names } from '@orch/core/names'
import type { BootstrapObject } from './bootstrap.ts'

/** The server's client authentication, for other servers that accept the same clients. */
export interface AuthenticationConfigOptions {
  readonly names: Names
  /** Authorities of client certificates, PEM. */
  readonly clientAuthorities: string
  /** Undefined if no proxy is trusted. */
  readonly proxy?:
    | {
        /** PEM. */
        readonly authorities: string
        readonly usernameHeaders: readonly string[]
        readonly uidHeaders: readonly string[]
        readonly groupHeaders: readonly string[]
        readonly extraHeaderPrefixes: readonly string[]
        readonly allowedNames: readonly string[]
      }
    | undefined
}

/** The ConfigMap that tells other servers which proxies and authorities to trust. Its content is public. */
export function authenticationConfig({ names, clientAuthorities, proxy }: AuthenticationConfigOptions): BootstrapObject {
  const proxyData =
    proxy === undefined
      ? {}
      : {
          'requestheader-allowed-names': JSON.stringify(proxy.allowedNames),
          'requestheader-client-ca-file': proxy.authorities,
          'requestheader-extra-headers-prefix': JSON.stringify(proxy.extraHeaderPrefixes),
          'requestheader-group-headers': JSON.stringify(proxy.groupHeaders),
          // Omitted if empty, because older servers do not know this member.
          ...(proxy.uidHeaders.length === 0 ? {} : { 'requestheader-uid-headers': JSON.stringify(proxy.uidHeaders) }),
          'requestheader-username-headers': JSON.stringify(proxy.usernameHeaders),
        }
  return {
    resource: { group: '', version: 'v1', plural: 'configmaps', namespaced: true },
    object: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'extension-apiserver-authentication', namespace: names.systemNamespace },
      data: { ...(clientAuthorities === '' ? {} : { 'client-ca-file': clientAuthorities }), ...proxyData },
    },
  }
}
