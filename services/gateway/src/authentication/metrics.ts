import type { Metrics } from '@orch/platform'
import { createCountedHistogram, createCountedNumbers } from '../counted-metrics.ts'

/** What became of an attempt to tell who asks. */
export type AttemptResult = 'success' | 'failure'

/** What authentication counts of requests. */
export interface AttemptMetrics {
  attempt(result: AttemptResult, seconds: number): void
  /** A request of somebody who is known by name. */
  user(name: string): void
}

/** Counts attempts. Names of users never become labels: there is no end of them, and some are addresses of people. */
export function createAttemptMetrics(metrics: Metrics): AttemptMetrics {
  const attempts = createCountedNumbers(metrics, {
    name: 'authentication_attempts',
    help: '[ALPHA] Attempts to tell who asks, by result.',
    type: 'counter',
  })
  const durations = createCountedHistogram(metrics, {
    name: 'authentication_duration_seconds',
    help: '[ALPHA] Time that it took to tell who asks.',
    buckets: [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096, 8.192, 16.384],
  })
  const users = createCountedNumbers(metrics, {
    name: 'authenticated_user_requests',
    help: '[ALPHA] Requests of those who are known, by what kind of name they have.',
    type: 'counter',
  })
  const series = (result: AttemptResult) => ({ count: attempts.series({ result }), duration: durations.series({ result }) })
  const byResult = { success: series('success'), failure: series('failure') }
  const [addresses, others] = [users.series({ username: 'email_id' }), users.series({ username: 'other' })]
  return {
    attempt(result, seconds) {
      const { count, duration } = byResult[result]
      count.add(1)
      duration.observe(seconds)
    },
    user: (name) => (name.includes('@') ? addresses : others).add(1),
  }
}

/** What the cache of tokens counts. */
export interface TokenCacheMetrics {
  /** It was known what becomes of the token. */
  hit(): void
  /** It had to be found out, or somebody was just finding it out. */
  miss(seconds: number): void
  /** Somebody starts to find out, or to wait for somebody who does; to be called when that ends. */
  begin(kind: 'in_flight' | 'blocked'): () => void
  fetched(isAccepted: boolean): void
}

export function createTokenCacheMetrics(metrics: Metrics): TokenCacheMetrics {
  const labels = ['status'] as const
  const name = (text: string) => `authentication_token_cache_${text}`
  const requests = createCountedNumbers(metrics, {
    name: name('request_total'),
    help: '[ALPHA] Tokens that were looked for in the cache.',
    type: 'counter',
  })
  const durations = createCountedHistogram(metrics, {
    name: name('request_duration_seconds'),
    help: '[ALPHA] Time until it was known what becomes of a token.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  })
  const fetches = metrics.counter({ name: name('fetch_total'), help: '[ALPHA] Tokens that were judged, by the outcome.', labels })
  const active = metrics.gauge({
    name: name('active_fetch_count'),
    help: '[ALPHA] Tokens that are being judged, and who waits for that.',
    labels,
  })
  const series = (status: 'hit' | 'miss') => ({ count: requests.series({ status }), duration: durations.series({ status }) })
  const [hits, misses] = [series('hit'), series('miss')]
  const [accepted, refused] = [fetches.labels({ status: 'ok' }), fetches.labels({ status: 'error' })]
  const actives = { in_flight: active.labels({ status: 'in_flight' }), blocked: active.labels({ status: 'blocked' }) }
  return {
    hit() {
      hits.count.add(1)
      // A look into a map takes less than the first bucket can tell.
      hits.duration.observe(0)
    },
    miss(seconds) {
      misses.count.add(1)
      misses.duration.observe(seconds)
    },
    begin(kind) {
      actives[kind].inc()
      return () => actives[kind].dec()
    },
    fetched: (isAccepted) => (isAccepted ? accepted : refused).inc(),
  }
}

/** Tokens of service accounts that were accepted, by their kind. */
export interface AccountTokenMetrics {
  valid(): void
  /** Used after the time that was asked for. */
  stale(): void
  /** Out of a Secret. */
  legacy(): void
}

export function createAccountTokenMetrics(metrics: Metrics): AccountTokenMetrics {
  const counter = (kind: string, help: string) => metrics.counter({ name: `serviceaccount_${kind}_tokens_total`, help: `[ALPHA] ${help}` })
  const valid = counter('valid', 'Tokens of service accounts that were accepted within the time that was asked for.')
  const stale = counter('stale', 'Tokens of service accounts that were accepted after the time that was asked for.')
  const legacy = counter('legacy', 'Tokens of service accounts that were accepted and lie in Secrets.')
  return { valid: () => valid.inc(), stale: () => stale.inc(), legacy: () => legacy.inc() }
}
