import type { StorageService } from '@orch/core/contracts'
import type { IsGateOn } from '@orch/core/feature-gates'
import type { Names } from '@orch/core/names'
import { type Clock, Listeners, type Log, type Metrics, type SigningKey, type VerificationKey } from '@orch/platform'
import type { HealthCheck } from '../server/health-check.ts'
import { createAccountTokenAuthenticator } from './account-tokens.ts'
import type { GatewayAuthentication, RequestAuthenticator, SecretUse, TokenAuthenticator, TokenQuestion } from './authenticator.ts'
import { createBootstrapTokenAuthenticator } from './bootstrap-tokens.ts'
import { watchKeys } from './changed-keys.ts'
import { type Answer, firstToAccept } from './first-to-accept.ts'
import { createAccountTokenMetrics, createTokenCacheMetrics } from './metrics.ts'
import { createStaticTokenAuthenticator, type StaticTokens } from './static-tokens.ts'
import { TokenCache } from './token-cache.ts'

/** The issuing and checking of service account tokens. */
interface ServiceAccountOptions {
  /** The first issuer is written into new tokens; tokens of each are accepted. */
  readonly issuers: readonly [string, ...string[]]
  readonly signingKey: SigningKey
  /** Keys that verify tokens; any of them may match. */
  readonly keys: readonly VerificationKey[]
  readonly keysUri: string
  readonly looksUpSecrets: boolean
  readonly expirationSecondsMax: number
  readonly extendsExpiration: boolean
}

/** The thread that evaluates tokens for all threads of its process, so that a token is looked up once. */
export interface TokensElsewhere {
  readonly authenticator: TokenAuthenticator
  /** The number of resets. */
  readonly forgotten: () => number
}

export interface OpenAuthenticationOptions {
  readonly names: Names
  readonly isGateOn: IsGateOn
  readonly storage: StorageService
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  /** A number in [0, 1). */
  readonly random: () => number
  /** Called before tokens: the authenticating proxy, then client certificates. */
  readonly requests: readonly RequestAuthenticator[]
  /** Undefined without a token file. */
  readonly staticTokens?: StaticTokens | undefined
  readonly serviceAccounts: ServiceAccountOptions
  readonly hasBootstrapTokens: boolean
  /** Called last, in order: OIDC, then the webhook. */
  readonly otherTokens: readonly TokenAuthenticator[]
  /** Audiences of tokens for this server. */
  readonly audiences: readonly string[]
  /** Evaluates tokens instead of the authenticators of the other options. */
  readonly elsewhere?: TokensElsewhere | undefined
}

/** Must be closed, as it watches changes. */
export interface OpenedAuthentication extends GatewayAuthentication {
  /** The check for `/readyz`. It fails while revocations are not received. */
  readonly check: HealthCheck
  /** The user of a token, from the authenticators of tokens in their order. */
  readToken(token: string, question: TokenQuestion): Answer
  /** Every token is evaluated anew. */
  forgetTokens(): void
  close(): Promise<void>
}

/** All authenticators, in order, with a cache over those with lookups. `close` ends the watch for changes. */
export function openAuthentication(options: OpenAuthenticationOptions): OpenedAuthentication {
  const { storage, clock, log, random, requests, serviceAccounts, audiences, elsewhere } = options
  const { issuers, looksUpSecrets: _, ...rest } = serviceAccounts
  const secretUses = new Listeners<SecretUse>()
  const cache = new TokenCache(elsewhere === undefined ? lookedUpTokens(options, secretUses) : [elsewhere.authenticator], {
    clock,
    metrics: createTokenCacheMetrics(options.metrics),
    forgottenBefore: elsewhere?.forgotten,
  })
  const isListed = options.staticTokens !== undefined && elsewhere === undefined
  const tokens = [...(isListed ? [createStaticTokenAuthenticator(options.staticTokens)] : []), cache]
  let isWatching = false
  const ending = new AbortController()
  const watching = watchKeys({
    storage,
    clock,
    log,
    random,
    resources: ['core/serviceaccounts', 'core/secrets'],
    onChange: (key) => cache.forget(key),
    onLost: () => cache.forgetAll(),
    onWatching() {
      isWatching = true
    },
    signal: ending.signal,
  })
  return {
    requests,
    tokens,
    audiences,
    secretUses,
    issuer: { name: issuers[0], ...rest },
    check: {
      name: 'authentication',
      condition: 'access',
      check: () => (isWatching ? undefined : 'changes of credentials are not watched yet'),
    },
    readToken: (token, question) => firstToAccept(tokens, (authenticator) => authenticator.authenticate(token, question)),
    forgetTokens: () => cache.forgetAll(),
    async close() {
      ending.abort()
      await watching
    },
  }
}

/** Authenticators of tokens that have to look something up, in their order. */
function lookedUpTokens(
  { names, isGateOn, storage, serviceAccounts, audiences, ...options }: OpenAuthenticationOptions,
  secretUses: Listeners<SecretUse>,
): TokenAuthenticator[] {
  const { issuers, keys, looksUpSecrets } = serviceAccounts
  const metrics = createAccountTokenMetrics(options.metrics)
  return [
    createAccountTokenAuthenticator({ names, storage, keys, issuers, audiences, looksUpSecrets, metrics, isGateOn, secretUses }),
    ...(options.hasBootstrapTokens ? [createBootstrapTokenAuthenticator({ names, storage })] : []),
    ...options.otherTokens,
  ]
}
