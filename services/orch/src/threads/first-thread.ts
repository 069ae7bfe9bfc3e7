import { notFound } from '@orch/core/meta'
import type { HealthCheck } from '@orch/gateway'
import type { Clock, PairSource } from '@orch/platform'
import type { PortCertificates } from '../certificates/port-certificates.ts'
import type { GatewayAccess } from '../gateway/open.ts'
import type { FirstThreadService } from './contracts.ts'
import { streamOf } from './streamed-source.ts'

/** The first thread's parts for the other threads. */
export interface FirstThreadParts {
  readonly access: GatewayAccess
  readonly certificates: PortCertificates
  /** The client certificate for the servers of APIServices. */
  readonly proxyPair: PairSource | undefined
  readonly checks: readonly HealthCheck[]
  /** The metrics of the process, in the exposition format. */
  readonly printMetrics: () => Promise<Uint8Array>
  readonly clock: Clock
}

/** Answers the other threads' calls to the first thread. */
export function createFirstThread({ access, checks, printMetrics, clock, ...files }: FirstThreadParts): FirstThreadService {
  const { authentication, authorization, audit } = access
  return {
    metrics: async () => ({ text: await printMetrics() }),
    problem: async ({ check }) => ({ text: await checks.find(({ name }) => name === check)?.check() }),
    certificate: ({ name }) => streamOf(certificateOf(name, files)),
    authorities: () => streamOf(files.certificates.authorities),
    token: async ({ token, ...question }) => ({ answer: await authentication.readToken(token, { ...question, nowMs: clock.now() }) }),
    anonymous: async ({ path }) => ({ isAllowed: await authentication.anonymous.isAllowed(path) }),
    authorizers: () => authorization.shared.follow(),
    audit: async (event) => ({ problem: await audit?.take(event) }),
    access: async (question) => ({ decision: await authorization.shared.ask(question) }),
  }
}

/** Certificates that SNI does not select. */
export const certificateNames = { serving: 'serving', proxy: 'proxy', named: (index: number) => `named/${index}` } as const

function certificateOf(name: string, { certificates, proxyPair }: Pick<FirstThreadParts, 'certificates' | 'proxyPair'>): PairSource {
  const index = certificates.named.findIndex((_, index) => name === certificateNames.named(index))
  const source =
    { [certificateNames.serving]: certificates.serving, [certificateNames.proxy]: proxyPair }[name] ?? certificates.named[index]?.pair
  if (source === undefined) throw notFound({ group: '', resource: 'certificates' }, name)
  return source
}
