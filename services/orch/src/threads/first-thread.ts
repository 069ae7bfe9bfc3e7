import type { HealthCheck } from '@orch/gateway'
import type { Clock } from '@orch/platform'
import type { GatewayAccess } from '../gateway/access.ts'
import type { FirstThreadService } from './contracts.ts'

/** What the first thread has that the others ask for. */
export interface FirstThreadParts {
  readonly access: GatewayAccess
  readonly checks: readonly HealthCheck[]
  /** The metrics of the process, as they are sent. */
  readonly printMetrics: () => Promise<Uint8Array>
  readonly clock: Clock
}

/** Answers what the other threads ask of the first one. */
export function createFirstThread({ access, checks, printMetrics, clock }: FirstThreadParts): FirstThreadService {
  const { authentication, authorization } = access
  return {
    metrics: async () => ({ text: await printMetrics() }),
    problem: async ({ check }) => ({ text: await checks.find(({ name }) => name === check)?.check() }),
    token: async ({ token, ...question }) => ({ answer: await authentication.readToken(token, { ...question, nowMs: clock.now() }) }),
    anonymous: async ({ path }) => ({ isAllowed: await authentication.anonymous.isAllowed(path) }),
    authorizers: () => authorization.shared.follow(),
    access: async (question) => ({ decision: await authorization.shared.ask(question) }),
  }
}
