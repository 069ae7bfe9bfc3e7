import type { User } from '@orch/core/contracts'
import type { Listeners } from '@orch/platform'
import type { Exchange } from '../exchange/exchange.ts'
import type { AccountTokenIssuer } from './account-token-issuer.ts'

/** The parts of a request that an authenticator may read. */
export interface Attempt extends Pick<Exchange, 'peer' | 'header' | 'headerValues' | 'headerNames'> {
  /** Wall clock. */
  readonly nowMs: number
  /** The deadline of the request. */
  readonly timeoutMs: number
}

/** The result for a credential. */
export type Authentication =
  /** A known user, without the group of all authenticated users, which is added later. */
  | {
      readonly kind: 'user'
      readonly user: User
      /** The name of the method for users. */
      readonly method?: string
      /** Audiences of the credential; by default those of the server. */
      readonly audiences?: readonly string[]
      /** For the audit event of the request. */
      readonly auditAnnotations?: Readonly<Record<string, string>>
      readonly warnings?: readonly string[]
      /** Wall clock after which the credential is not good any more, or says something else. */
      readonly validUntilMs?: number
      /** Longest time in the cache, on the monotonic clock; by default the cache's own. */
      readonly keptMsMax?: number
      /** Storage keys of the objects that the credential depends on: when one changes, it is evaluated again. */
      readonly dependsOn?: readonly string[]
    }
  /** No credential of this kind was presented; the next authenticator is asked. */
  | { readonly kind: 'none' }
  /** An invalid credential. The reason is for the log, never for the client, and never contains the credential. */
  | Refusal

/** An invalid credential. */
export interface Refusal {
  readonly kind: 'refused'
  readonly reason: string
  /** The reason in the words of kube-apiserver, for users who may review tokens; undefined for none. */
  readonly detail?: string
  readonly dependsOn?: readonly string[]
  /** Wall clock time after which it has to be evaluated again; undefined if it does not change. */
  readonly validUntilMs?: number
  /** Maximum cache time of a refusal, on the monotonic clock; 0 if it may change at any time. */
  readonly keptMsMax?: number
}

/** Finds the user of a request from the whole request. Cheap authenticators answer without a promise. */
export interface RequestAuthenticator {
  readonly name: string
  /** Headers that contain its credential: names in lower case, or prefixes before a `*`. They are removed for all later steps. */
  readonly headers?: readonly string[]
  authenticate(attempt: Attempt): Authentication | Promise<Authentication>
}

/** A token to authenticate. */
export interface TokenQuestion {
  /** Accepted audiences of the token, one of which is sufficient. */
  readonly audiences: readonly string[]
  /** Wall clock. */
  readonly nowMs: number
  readonly timeoutMs: number
  /** Represents the token: the same object means the same token and audiences. */
  readonly source?: object | undefined
}

/** Authenticates bearer tokens of one kind. A token of another kind is `none`, so that the next authenticator is asked. */
export interface TokenAuthenticator {
  readonly name: string
  authenticate(token: string, question: TokenQuestion): Authentication | Promise<Authentication>
}

/** No credential was presented. */
export const none: Authentication = Object.freeze({ kind: 'none' })

/** The refusal of a presented credential. */
export function refused(reason: string, options: Pick<Refusal, 'dependsOn' | 'detail'> = {}): Refusal {
  return { kind: 'refused', reason, ...options }
}

/** The authentication of requests: the gateway's part of a configuration. */
export interface GatewayAuthentication {
  /** Called in order before bearer tokens: the authenticating proxy, then client certificates. */
  readonly requests: readonly RequestAuthenticator[]
  /** Called in order for a bearer token: file, service accounts, bootstrap, OIDC, webhook. */
  readonly tokens: readonly TokenAuthenticator[]
  readonly audiences: readonly string[]
  /** The issuer of service account tokens; undefined if none are issued. */
  readonly issuer?: AccountTokenIssuer
  /** Reports the first use of a Secret's token on each day; undefined if uses are not recorded. */
  readonly secretUses?: Listeners<SecretUse>
}

/** A use of the token in a Secret, to be noted on it. */
export interface SecretUse {
  readonly namespace: string
  readonly name: string
  readonly uid: string | undefined
  /** `2026-11-29` */
  readonly day: string
}
