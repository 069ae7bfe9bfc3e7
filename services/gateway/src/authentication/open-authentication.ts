import { ended, Listeners } from '@orch/platform'
import type { HealthCheck } from '../server/health-check.ts'
import type { Surroundings } from '../surroundings.ts'
import { watchKeys } from '../target/changed-keys.ts'
import type { AccountTokenIssuer } from './account-token-issuer.ts'
import { createAccountTokenAuthenticator } from './account-tokens.ts'
import type { RequestAuthenticator, SecretUse, TokenAuthenticator, TokenQuestion } from './authenticator.ts'
import { firstToAccept } from './authenticators.ts'
import { createBootstrapTokenAuthenticator } from './bootstrap-tokens.ts'
import { createAccountTokenMetrics, createTokenCacheMetrics } from './metrics.ts'
import { createStaticTokenAuthenticator, type StaticTokens } from './static-tokens.ts'
import { TokenCache } from './token-cache.ts'

/** The issuing and checking of service account tokens. */
interface ServiceAccountOptions extends Omit<AccountTokenIssuer, 'name'> {
  /** The first issuer is written into new tokens; tokens of each are accepted. */
  readonly issuers: readonly [string, ...string[]]
  readonly looksUpSecrets: boolean
}

/** The thread that evaluates tokens for all threads of its process, so that a token is looked up once. */
export interface TokensElsewhere {
  readonly authenticator: TokenAuthenticator
  /** The number of resets. */
  readonly forgotten: () => number
}

export interface OpenAuthenticationOptions
  extends Pick<Surroundings, 'names' | 'isGateOn' | 'storage' | 'clock' | 'log' | 'metrics' | 'random'> {
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
export type OpenedAuthentication = ReturnType<typeof openAuthentication>

/** All authenticators, in order, with a cache over those with lookups. `close` ends the watch for changes. */
export function openAuthentication(options: OpenAuthenticationOptions) {
  const { storage, clock, log, random, requests, serviceAccounts, audiences, elsewhere } = options
  const { issuers, looksUpSecrets: _, ...rest } = serviceAccounts
  const secretUses = new Listeners<SecretUse>()
  const cache = new TokenCache(elsewhere === undefined ? lookedUpTokens(options, secretUses) : [elsewhere.authenticator], {
    clock,
    metrics: createTokenCacheMetrics(options.metrics),
    forgottenBefore: elsewhere?.forgotten,
  })
  const staticTokens = elsewhere === undefined ? options.staticTokens : undefined
  for (const warning of staticTokens?.warnings ?? []) log.warn({}, `--token-auth-file: ${warning}`)
  const tokens = [...(staticTokens === undefined ? [] : [createStaticTokenAuthenticator(staticTokens)]), cache]
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
    /** The check for `/readyz`. It fails while revocations are not received. */
    check: {
      name: 'authentication',
      condition: 'access',
      check: () => (isWatching ? undefined : 'changes of credentials are not watched yet'),
    } satisfies HealthCheck,
    /** The user of a token, from the authenticators of tokens in their order. */
    readToken: (token: string, question: TokenQuestion) =>
      firstToAccept(tokens, (authenticator) => authenticator.authenticate(token, question)),
    /** Every token is evaluated anew. */
    forgetTokens: () => cache.forgetAll(),
    async close() {
      ending.abort(ended)
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
