import type { AuthenticationElsewhere } from '../authentication/open.ts'
import type { AuthorizationElsewhere } from '../authorization/elsewhere.ts'
import type { FirstThreadService } from './contracts.ts'
import type { SharedCount } from './shared-count.ts'

/** Credentials that the first thread evaluates. `forgotten` counts how often it has forgotten all tokens. */
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

/** Authorizers that the first thread reads from its configuration, and asks where they are webhooks. */
export function authorizationOf(first: FirstThreadService): AuthorizationElsewhere {
  return {
    chains: () => first.authorizers({}),
    async ask(question) {
      const { decision } = await first.access(question)
      return decision
    },
  }
}
