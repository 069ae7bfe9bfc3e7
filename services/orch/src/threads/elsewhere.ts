import type { PairSource } from '@orch/platform'
import type { AuthenticationElsewhere } from '../authentication/open.ts'
import type { AuthorizationElsewhere } from '../authorization/open.ts'
import type { PortCertificates } from '../certificates/port-certificates.ts'
import type { ServingOptions } from '../serving/settings.ts'
import type { Surroundings } from '../surroundings.ts'
import type { FirstThreadService } from './contracts.ts'
import { certificateNames } from './first-thread.ts'
import type { SharedCount } from './shared-memory.ts'
import { sourceOf } from './streamed-source.ts'

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
