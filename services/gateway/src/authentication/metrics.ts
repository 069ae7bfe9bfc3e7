import { counter, declareMetrics, gauge, hotCounter, hotHistogram, type Metrics } from '@orch/platform'

/** The result of an attempt to authenticate. */
export type AttemptResult = 'success' | 'failure'

/** The counts of authenticated requests. */
export type AttemptMetrics = ReturnType<typeof createAttemptMetrics>

const attemptTable = {
  authentication_attempts: hotCounter('[ALPHA] Attempts to authenticate requests, by result.', ['result']),
  authentication_duration_seconds: hotHistogram(
    '[ALPHA] Time of authenticating requests, by result.',
    [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096, 8.192, 16.384],
    ['result'],
  ),
  authenticated_user_requests: hotCounter('[ALPHA] Requests of authenticated users, by the kind of their name.', ['username']),
}

/** Counts attempts. User names never become labels: their number is unbounded, and some are e-mail addresses. */
export function createAttemptMetrics(metrics: Metrics) {
  const declared = declareMetrics(metrics, attemptTable)
  const { authentication_attempts: attempts, authentication_duration_seconds: durations, authenticated_user_requests: users } = declared
  const series = (result: AttemptResult) => ({ count: attempts.series({ result }), duration: durations.series({ result }) })
  const byResult = { success: series('success'), failure: series('failure') }
  const [addresses, others] = [users.series({ username: 'email_id' }), users.series({ username: 'other' })]
  return {
    attempt(result: AttemptResult, seconds: number) {
      const { count, duration } = byResult[result]
      count.add(1)
      duration.observe(seconds)
    },
    /** A request of an authenticated user. */
    user: (name: string) => (name.includes('@') ? addresses : others).add(1),
  }
}

/** The counts of the token cache. */
export type TokenCacheMetrics = ReturnType<typeof createTokenCacheMetrics>

const tokenCacheTable = {
  authentication_token_cache_request_total: hotCounter('[ALPHA] Tokens that were looked for in the cache.', ['status']),
  authentication_token_cache_request_duration_seconds: hotHistogram(
    '[ALPHA] Time of deciding about a token.',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    ['status'],
  ),
  authentication_token_cache_fetch_total: counter('[ALPHA] Tokens that were authenticated without the cache, by result.', ['status']),
  authentication_token_cache_active_fetch_count: gauge(
    '[ALPHA] Tokens whose authentication is in progress, and requests that wait for it.',
    ['status'],
  ),
}

/** Declares the metrics of the token cache. */
export function createTokenCacheMetrics(metrics: Metrics) {
  const declared = declareMetrics(metrics, tokenCacheTable)
  const { authentication_token_cache_request_total: requests, authentication_token_cache_request_duration_seconds: durations } = declared
  const { authentication_token_cache_fetch_total: fetches, authentication_token_cache_active_fetch_count: active } = declared
  const series = (status: 'hit' | 'miss') => ({ count: requests.series({ status }), duration: durations.series({ status }) })
  const [hits, misses] = [series('hit'), series('miss')]
  const [accepted, refused] = [fetches.labels({ status: 'ok' }), fetches.labels({ status: 'error' })]
  const actives = { in_flight: active.labels({ status: 'in_flight' }), blocked: active.labels({ status: 'blocked' }) }
  return {
    /** The token's result was cached. */
    hit() {
      hits.count.add(1)
      // A lookup in a map is faster than the first bucket.
      hits.duration.observe(0)
    },
    /** The lookup was necessary, or already in progress. */
    miss(seconds: number) {
      misses.count.add(1)
      misses.duration.observe(seconds)
    },
    /** A lookup starts, or a wait for one in progress; the result is called at its end. */
    begin(kind: 'in_flight' | 'blocked') {
      actives[kind].inc()
      return () => actives[kind].dec()
    },
    fetched: (isAccepted: boolean) => (isAccepted ? accepted : refused).inc(),
  }
}

/** Accepted tokens of service accounts by kind. */
export type AccountTokenMetrics = ReturnType<typeof createAccountTokenMetrics>

const accountTokenTable = {
  serviceaccount_valid_tokens_total: counter('[ALPHA] Tokens of service accounts that were accepted within the time that was asked for.'),
  serviceaccount_stale_tokens_total: counter('[ALPHA] Tokens of service accounts that were accepted after the time that was asked for.'),
  serviceaccount_legacy_tokens_total: counter('[ALPHA] Tokens of service accounts that were accepted and lie in Secrets.'),
}

/** Declares the metrics of service account tokens. */
export function createAccountTokenMetrics(metrics: Metrics) {
  const declared = declareMetrics(metrics, accountTokenTable)
  return {
    valid: () => declared.serviceaccount_valid_tokens_total.inc(),
    /** Used after the requested expiry. */
    stale: () => declared.serviceaccount_stale_tokens_total.inc(),
    /** From a Secret. */
    legacy: () => declared.serviceaccount_legacy_tokens_total.inc(),
  }
}
