import { counter, declareMetrics, histogram, hotCounter, hotHistogram, type Metrics } from '@orch/platform'

const table = {
  apiserver_authorization_decisions_total: hotCounter('[ALPHA] Accesses that an authorizer has allowed or denied.', [
    'type',
    'name',
    'decision',
  ]),
  apiserver_authorization_webhook_evaluations_total: counter('[BETA] Questions to authorization webhooks, by result.', ['name', 'result']),
  apiserver_authorization_webhook_duration_seconds: histogram(
    '[BETA] Time until authorization webhooks have answered.',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    ['name', 'result'],
  ),
  apiserver_authorization_webhook_evaluations_fail_open_total: counter(
    '[BETA] Questions without an answer that the failure policy leaves to the next authorizer.',
    ['name', 'result'],
  ),
  apiserver_authorization_match_condition_evaluation_seconds: histogram(
    '[ALPHA] Time of evaluating the conditions of an authorizer.',
    [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25],
    ['type', 'name'],
  ),
  apiserver_authorization_match_condition_exclusions_total: counter(
    '[ALPHA] Accesses that an authorizer does not decide, because a condition is false.',
    ['type', 'name'],
  ),
  apiserver_authorization_match_condition_evaluation_errors_total: counter(
    '[ALPHA] Accesses for which a condition of an authorizer could not be evaluated.',
    ['type', 'name'],
  ),
  node_authorizer_graph_actions_duration_seconds: histogram(
    '[ALPHA] Time of processing a change in the graph of the objects that nodes need.',
    Array.from({ length: 12 }, (_, index) => 0.0001 * 2 ** index),
    ['operation'],
  ),
}

const accessTable = {
  authorization_attempts_total: hotCounter('[ALPHA] Requests by the result of their authorization.', ['result']),
  authorization_duration_seconds: hotHistogram(
    '[ALPHA] Time of authorizing requests.',
    [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096, 8.192, 16.384],
    ['result'],
  ),
}

/** The counts of authorized requests. */
export type AccessMetrics = ReturnType<typeof createAccessMetrics>

/** Declares the metrics of authorized requests. */
export function createAccessMetrics(metrics: Metrics) {
  const { authorization_attempts_total: attempts, authorization_duration_seconds: durations } = declareMetrics(metrics, accessTable)
  const series = (result: string) => ({ count: attempts.series({ result }), duration: durations.series({ result }) })
  const byResult = { allowed: series('allowed'), denied: series('denied'), 'no-opinion': series('no-opinion'), error: series('error') }
  return {
    authorized(result: 'allowed' | 'denied' | 'no-opinion' | 'error', seconds: number) {
      const { count, duration } = byResult[result]
      count.add(1)
      duration.observe(seconds)
    },
  }
}

/** An authorizer's decision, besides having no opinion. */
export type CountedDecision = 'allow' | 'deny'

/** The counts of one authorization webhook. */
export interface AccessWebhookMetrics {
  decided(kind: CountedDecision): void
  /** A sent request has an answer, or none. Nothing cancels a request, as equal ones share one answer. */
  asked(result: 'success' | 'timeout' | 'error', seconds: number): void
  /** Without an answer the next authorizer is called. */
  failedOpen(result: 'timeout' | 'error'): void
  /** Its conditions have been evaluated. */
  conditions(outcome: 'met' | 'unmet' | 'error', seconds: number): void
}

/** The counts of authorizers. */
export type AuthorizationMetrics = ReturnType<typeof createAuthorizationMetrics>

/** Declares the metrics of authorization. */
export function createAuthorizationMetrics(metrics: Metrics) {
  const declared = declareMetrics(metrics, table)
  const { apiserver_authorization_decisions_total: decisions } = declared
  const decisionsOf = (type: string, name: string) => {
    const series = (decision: string) => decisions.series({ type, name, decision })
    const counters = { allow: series('allowed'), deny: series('denied') }
    return (kind: CountedDecision) => counters[kind].add(1)
  }
  return {
    /** Counts the decisions of an authorizer. */
    decisionsOf,
    /** The graph of the node authorizer has processed a change: `AddPod`, `DeletePV`. */
    graphChanged: (operation: string, seconds: number) =>
      declared.node_authorizer_graph_actions_duration_seconds.observe({ operation }, seconds),
    webhook(name: string): AccessWebhookMetrics {
      const ofConditions = { type: 'Webhook', name }
      return {
        decided: decisionsOf('Webhook', name),
        asked(result, seconds) {
          declared.apiserver_authorization_webhook_evaluations_total.inc({ name, result })
          declared.apiserver_authorization_webhook_duration_seconds.observe({ name, result }, seconds)
        },
        failedOpen: (result) => declared.apiserver_authorization_webhook_evaluations_fail_open_total.inc({ name, result }),
        conditions(outcome, seconds) {
          declared.apiserver_authorization_match_condition_evaluation_seconds.observe(ofConditions, seconds)
          if (outcome === 'unmet') declared.apiserver_authorization_match_condition_exclusions_total.inc(ofConditions)
          if (outcome === 'error') declared.apiserver_authorization_match_condition_evaluation_errors_total.inc(ofConditions)
        },
      }
    },
  }
}
