import type { Names } from '@orch/core/names'
import type { BootstrapObject } from './bootstrap.ts'

/** The server's authentication of clients, for other servers that answer in its name. */
export interface AuthenticationConfigOptions {
  readonly names: Names
  /** Authorities of client certificates, PEM. */
  readonly clientAuthorities: string
  /** Absent: headers of no proxy are believed. */
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

/** The ConfigMap in which other servers find whom to believe. Everything in it is public. */
export function authenticationConfig({ names, clientAuthorities, proxy }: AuthenticationConfigOptions): BootstrapObject {
  const proxyData =
    proxy === undefined
      ? {}
      : {
          'requestheader-allowed-names': JSON.stringify(proxy.allowedNames),
          'requestheader-client-ca-file': proxy.authorities,
          'requestheader-extra-headers-prefix': JSON.stringify(proxy.extraHeaderPrefixes),
          'requestheader-group-headers': JSON.stringify(proxy.groupHeaders),
          // Absent where there is none: servers that do not know it find the data that they know.
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
