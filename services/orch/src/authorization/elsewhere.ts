import type { Stream } from '@orch/core/contracts'
import { type AuthorizationMetrics, type Decision, webhookRules } from '@orch/gateway'
import type { Log } from '@orch/platform'
import type { ChainLink, ChainSource, PlainChain, PlainLink, WebhookQuestion } from './shared-chain.ts'

/** The thread of the process that reads the configuration of authorizers and asks the webhooks among them. */
export interface AuthorizationElsewhere {
  /** The present chain, then each that takes its place. */
  chains(): Stream<PlainChain>
  ask(question: WebhookQuestion): Promise<Decision>
}

/** The chain of that thread, in this one. */
export async function openChainElsewhere(
  elsewhere: AuthorizationElsewhere,
  { counted, log }: { readonly counted: AuthorizationMetrics; readonly log: Log },
): Promise<ChainSource> {
  const toChain = ({ links }: PlainChain) => links.map((link) => toLink(link, elsewhere, counted))
  const stream = elsewhere.chains()
  const chains = stream[Symbol.asyncIterator]()
  const { value: first } = await chains.next()
  if (first === undefined) throw new Error('the first thread names no authorizers')
  return {
    chain: toChain(first),
    follow(apply) {
      void applyEach(chains, (chain) => apply(toChain(chain))).catch((error: unknown) =>
        log.debug({ err: error }, 'the first thread has ended'),
      )
      return { stop: () => stream.close() }
    },
    close: () => stream.close(),
  }
}

async function applyEach(chains: AsyncIterator<PlainChain>, apply: (chain: PlainChain) => void): Promise<void> {
  for (let next = await chains.next(); next.done !== true; next = await chains.next()) apply(next.value)
}

function toLink(link: PlainLink, elsewhere: AuthorizationElsewhere, counted: AuthorizationMetrics): ChainLink {
  if (typeof link === 'string') return link
  const { id, name } = link
  return {
    id,
    name,
    authorizer: {
      authorize: (user, access) => elsewhere.ask({ webhook: id, user, access }),
      rulesOf: () => webhookRules,
      decided: counted.webhook(name).decided,
    },
  }
}
