import type { StorageService, Stream } from '@orch/core/contracts'
import {
  type Authorization,
  type AuthorizationMetrics,
  createAuthorizationMetrics,
  type Decision,
  openAuthorization as openAuthorizers,
  webhookRules,
} from '@orch/gateway'
import type { Log, Metrics } from '@orch/platform'
import type { Surroundings } from '../surroundings.ts'
import { ConfiguredAuthorization, openWebhook } from './configured.ts'
import type { AuthorizationOptions } from './settings.ts'
import {
  type ChainLink,
  type ChainSource,
  linksOf,
  type PlainChain,
  type PlainLink,
  SharedChain,
  type WebhookQuestion,
} from './shared-chain.ts'

/** Timeout of a request to the authorization webhook. */
const webhookTimeoutMs = 30_000

export interface AuthorizationNeeds {
  readonly authorization: AuthorizationOptions
  readonly storage: StorageService
  readonly metrics: Metrics
  /** The thread that reads the configuration and calls webhooks for this one; by default this one does. */
  readonly authorizationElsewhere?: AuthorizationElsewhere | undefined
}

/** Authorization of a gateway. */
export interface GatewayAuthorization extends Authorization {
  /** Its chain, for other threads. */
  readonly shared: SharedChain
}

/** The authorizers of the options; closed with the rest. */
export async function openAuthorization(needs: AuthorizationNeeds, surroundings: Surroundings): Promise<GatewayAuthorization> {
  const { storage, metrics, authorization: options } = needs
  const { catalogue, chance, clock, lifecycle, log } = surroundings
  const counted = createAuthorizationMetrics(metrics)
  const source = await openSource(needs, surroundings, counted)
  const shared = new SharedChain(source.chain, clock)
  const { names, level } = catalogue
  const world = { counted, policies: options.policies, storage, names, level, clock, log, random: chance.fraction }
  const authorization = openAuthorizers({ chain: linksOf(source.chain), isReplaceable: options.configurationFile !== '', ...world })
  const following = source.follow?.((chain) => {
    shared.replace(chain)
    authorization.replace(linksOf(chain))
  })
  lifecycle.onStop('authorization', () => {
    following?.stop()
    authorization.close()
    source.close()
  })
  return { ...authorization, shared }
}

async function openSource(
  { authorization: options, metrics, authorizationElsewhere: elsewhere }: AuthorizationNeeds,
  surroundings: Surroundings,
  counted: AuthorizationMetrics,
): Promise<ChainSource> {
  const isPlain = options.configurationFile === '' && options.webhook === undefined
  if (elsewhere !== undefined && !isPlain) return await openChainElsewhere(elsewhere, { counted, log: surroundings.log })
  if (options.configurationFile === '') return await chainOfModes(options, surroundings, counted)
  const configured = new ConfiguredAuthorization(options.configurationFile, surroundings, counted)
  const chain = await configured.read()
  configured.addMetrics(metrics, surroundings.clock)
  return { chain, follow: (apply) => configured.follow(apply), close: () => configured.close() }
}

/** Name of the webhook of the flags in kube-apiserver's metrics. */
const nameInMetrics = 'default'

/** The authorizers of the flags, with the close function of the webhook. */
async function chainOfModes(
  { modes, webhook }: AuthorizationOptions,
  surroundings: Surroundings,
  counted: AuthorizationMetrics,
): Promise<ChainSource> {
  if (webhook === undefined) return { chain: modes.filter((mode) => mode !== 'Webhook'), close: () => {} }
  const name = 'webhook'
  const file = { flag: '--authorization-webhook-config-file', path: webhook.configFile, to: `authorization/${name}` }
  const options = { ...webhook, timeoutMs: webhookTimeoutMs, counted: counted.webhook(nameInMetrics) }
  const { authorizer, sender } = await openWebhook(file, options, surroundings)
  const chain = modes.map((mode): ChainLink => (mode === 'Webhook' ? { id: name, name, authorizer } : mode))
  return { chain, close: () => sender.close() }
}

/** The thread of the process that reads the configuration of authorizers and calls their webhooks. */
export interface AuthorizationElsewhere {
  /** The current chain, then each new one. */
  chains(): Stream<PlainChain>
  ask(question: WebhookQuestion): Promise<Decision>
}

/** The chain of that thread, in this one. */
async function openChainElsewhere(
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
