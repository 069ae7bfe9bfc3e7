import type { Stream } from '@orch/core/contracts'
import { notFound } from '@orch/core/meta'
import type { HealthCheck } from '@orch/gateway'
import { type Clock, Listeners, type Log, type PairSource, PushStream } from '@orch/platform'
import type { AuthenticationElsewhere } from '../authentication/open.ts'
import type { AuthorizationElsewhere } from '../authorization/open.ts'
import type { PortCertificates } from '../certificates/gateway.ts'
import type { GatewayAccess } from '../gateway/open.ts'
import type { ServingOptions } from '../serving/settings.ts'
import type { Surroundings } from '../surroundings.ts'
import type { FirstThreadService, SharedCount } from './contracts.ts'

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
    certificate: ({ name }) => streamOf(pairOf(name, files)),
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

function pairOf(name: string, { certificates, proxyPair }: Pick<FirstThreadParts, 'certificates' | 'proxyPair'>): PairSource {
  const index = certificates.named.findIndex((_, index) => name === certificateNames.named(index))
  const source =
    { [certificateNames.serving]: certificates.serving, [certificateNames.proxy]: proxyPair }[name] ?? certificates.named[index]?.pair
  if (source === undefined) throw notFound({ group: '', resource: 'certificates' }, name)
  return source
}

/** Authenticates requests in the first thread. `forgotten` counts how often it has dropped all cached tokens. */
export function authenticationOf(first: FirstThreadService, forgotten: SharedCount): AuthenticationElsewhere {
  return {
    tokens: {
      authenticator: {
        name: 'tokens',
        async authenticate(token, { audiences, timeoutMs }) {
          const { answer } = await first.token({ token, audiences: [...audiences], timeoutMs: Math.ceil(timeoutMs) }, { timeoutMs })
          return answer
        },
      },
      forgotten: () => forgotten.value,
    },
    async isAnonymousAllowed(path) {
      const { isAllowed } = await first.anonymous({ path })
      return isAllowed
    },
  }
}

/** Authorizers of the first thread's configuration; the first thread calls the webhooks among them. */
export function authorizationOf(first: FirstThreadService): AuthorizationElsewhere {
  return {
    chains: () => first.authorizers({}),
    async ask(question) {
      const { decision } = await first.access(question)
      return decision
    },
  }
}

type SourceSurroundings = Pick<Surroundings, 'lifecycle' | 'log'>

/** A certificate that the first thread reads from files, by a name in `certificateNames`. */
export async function certificateOf(first: FirstThreadService, name: string, { lifecycle, log }: SourceSurroundings): Promise<PairSource> {
  return lifecycle.opened('certificate', await sourceOf(first.certificate({ name }), log))
}

/** Certificates and authorities that the first thread reads from files. */
export async function portCertificatesOf(
  first: FirstThreadService,
  { namedPairs }: Pick<ServingOptions, 'namedPairs'>,
  surroundings: SourceSurroundings,
): Promise<PortCertificates> {
  const { lifecycle, log } = surroundings
  const authorities = lifecycle.opened('certificate authorities', await sourceOf(first.authorities({}), log))
  return {
    serving: await certificateOf(first, certificateNames.serving, surroundings),
    named: await Promise.all(
      namedPairs.map(async ({ names }, index) => ({
        pair: await certificateOf(first, certificateNames.named(index), surroundings),
        names,
      })),
    ),
    authorities,
  }
}

/** A value that may change, and its listeners. */
interface Source<T> {
  readonly current: T
  /** Calls the listener after each change. Returns a function that removes the listener. */
  listen(listener: (value: T) => void): () => void
}

/** The present value of a source, then each value that replaces it. */
function streamOf<T>(source: Source<T>): Stream<{ readonly value: T }> {
  const stream = new PushStream<{ readonly value: T }>({ onClose: () => unlisten() })
  const unlisten = source.listen((value) => stream.push({ value }))
  stream.push({ value: source.current })
  return stream
}

/** A source that another thread streams; it begins with the first value. */
async function sourceOf<T>(stream: Stream<{ readonly value: T }>, log: Log): Promise<Source<T> & { close(): void }> {
  const values = stream[Symbol.asyncIterator]()
  const first = await values.next()
  if (first.done === true) throw new Error('another thread has ended before it has sent the first value')
  let current = first.value.value
  const listeners = new Listeners<T>()
  const follow = async () => {
    for (let next = await values.next(); next.done !== true; next = await values.next()) {
      current = next.value.value
      listeners.call(current)
    }
  }
  follow().catch((error: unknown) => log.debug({ err: error }, 'another thread has ended'))
  return {
    get current() {
      return current
    },
    listen: (listener) => listeners.add(listener),
    close: () => stream.close(),
  }
}
