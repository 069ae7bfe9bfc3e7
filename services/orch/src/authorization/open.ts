import type { StorageService, Stream, User } from '@orch/core/contracts'
import { serviceUnavailable } from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import {
  type Access,
  type Authorization,
  type AuthorizationLink,
  type AuthorizationMetrics,
  type AuthorizationMode,
  type Authorizer,
  createAccessWebhook,
  createAuthorizationMetrics,
  type Decision,
  openAuthorization as openAuthorizers,
  webhookRules,
} from '@orch/gateway'
import { type Clock, type Log, type Metrics, PushStream, SettingsError } from '@orch/platform'
import { ReloadedFile } from '../configuration/files.ts'
import type { Surroundings } from '../surroundings.ts'
import { openWebhookSender, type WebhookSender } from '../webhooks/sender.ts'
import { type ConfiguredAuthorizer, type ConfiguredWebhook, parseAuthorizationConfiguration, timeoutMsMax } from './configuration.ts'
import type { AuthorizationOptions } from './settings.ts'

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

const flag = '--authorization-config'

interface OpenWebhook {
  readonly authorizer: Authorizer
  readonly sender: WebhookSender
}

/** The file of the authorizer chain, and its webhooks. */
class ConfiguredAuthorization {
  readonly #file: ReloadedFile<readonly ConfiguredAuthorizer[]>
  readonly #path: string
  readonly #surroundings: Surroundings
  /** By their texts in the file: an unchanged one keeps its cache. */
  #webhooks = new Map<string, OpenWebhook>()
  readonly #counted: AuthorizationMetrics
  /** Opened for a new configuration. */
  readonly #opened = new Map<string, OpenWebhook>()
  /** Types of the start, except for webhooks. */
  #modes: ReadonlySet<AuthorizationMode> | undefined

  constructor(path: string, surroundings: Surroundings, counted: AuthorizationMetrics) {
    this.#counted = counted
    this.#path = path
    this.#surroundings = surroundings
    const { log, catalogue } = surroundings
    const parse = (value: unknown) => this.#parse(value, catalogue.names)
    this.#file = new ReloadedFile({ flag, file: path, what: 'authorization', parse, log })
  }

  /** The chain of the start. Rejects for an invalid file. */
  async read(): Promise<readonly ChainLink[]> {
    const authorizers = await this.#file.read()
    this.#modes = modesOf(authorizers)
    return this.#take(authorizers)
  }

  /** Calls back with each new chain; `close` stops that. */
  follow(apply: (chain: readonly ChainLink[]) => void): { stop(): void } {
    return this.#file.follow(this.#surroundings.clock, (authorizers) => apply(this.#take(authorizers)))
  }

  addMetrics(...options: Parameters<ReloadedFile<unknown>['addMetrics']>): void {
    this.#file.addMetrics(...options)
  }

  close(): void {
    for (const { sender } of this.#webhooks.values()) sender.close()
  }

  /** Webhooks are opened here, so that an invalid one leaves the current chain in use. */
  async #parse(value: unknown, names: Names): Promise<readonly ConfiguredAuthorizer[]> {
    const reading = parseAuthorizationConfiguration(value, names)
    if (reading.kind === 'refused') throw new SettingsError(`${flag}=${this.#path}: ${reading.problems.join('; ')}`)
    const { authorizers } = reading
    const modes = modesOf(authorizers)
    if (this.#modes !== undefined && (modes.size !== this.#modes.size || [...modes].some((mode) => !this.#modes?.has(mode)))) {
      const [present, given] = [this.#modes, modes].map((some) => [...some].join(', ') || 'none')
      const problem = `types other than Webhook stay those of the start: they were ${present}, and are ${given}`
      throw new SettingsError(`${flag}=${this.#path}: authorizers: ${problem}`)
    }
    for (const one of authorizers) {
      if (one.mode !== 'Webhook' || this.#webhooks.has(one.text) || this.#opened.has(one.text)) continue
      this.#opened.set(one.text, await this.#open(one))
    }
    return authorizers
  }

  async #open(webhook: ConfiguredWebhook): Promise<OpenWebhook> {
    const file = {
      flag: `${flag}=${this.#path}: ${webhook.name}: kubeConfigFile`,
      path: webhook.configFile,
      to: `authorization/${webhook.name}`,
    }
    return await openWebhook(file, { ...webhook, counted: this.#counted.webhook(webhook.name) }, this.#surroundings)
  }

  #take(authorizers: readonly ConfiguredAuthorizer[]): readonly ChainLink[] {
    const before = this.#webhooks
    const known = new Map([...before, ...this.#opened])
    this.#webhooks = new Map()
    const chain = authorizers.map((one): ChainLink => {
      if (one.mode !== 'Webhook') return one.mode
      const open = known.get(one.text)
      if (open === undefined) throw new Error(`the webhook ${one.name} has not been opened`)
      this.#webhooks.set(one.text, open)
      return { id: one.text, name: one.name, authorizer: open.authorizer }
    })
    for (const [text, { sender }] of known) if (!this.#webhooks.has(text)) this.#closeLater(sender)
    this.#opened.clear()
    return chain
  }

  /** Requests in progress are answered before. */
  #closeLater(sender: WebhookSender): void {
    this.#surroundings.clock.after(timeoutMsMax, () => sender.close())
  }
}

function modesOf(authorizers: readonly ConfiguredAuthorizer[]): ReadonlySet<AuthorizationMode> {
  return new Set(authorizers.flatMap(({ mode }) => (mode === 'Webhook' ? [] : [mode])))
}

type WebhookOptions = Omit<Parameters<typeof createAccessWebhook>[0], 'send' | 'names' | 'clock' | 'random'> & {
  readonly timeoutMs: number
}

/** Opens a webhook of a client configuration file. Its sender must be closed. */
async function openWebhook(
  file: Parameters<typeof openWebhookSender>[0],
  options: WebhookOptions,
  surroundings: Surroundings,
): Promise<OpenWebhook> {
  const { catalogue, chance, clock } = surroundings
  const sender = await openWebhookSender(file, surroundings)
  const send = (body: string) => sender.send(body, options.timeoutMs)
  return { authorizer: createAccessWebhook({ ...options, send, names: catalogue.names, clock, random: chance.fraction }), sender }
}

/** A webhook in a chain of authorizers. */
interface NamedWebhook {
  readonly id: string
  /** The label of its metrics. */
  readonly name: string
  readonly authorizer: Authorizer
}

/** One step of a chain: a mode that every thread evaluates, or a webhook that only one thread calls. */
type ChainLink = Exclude<AuthorizationMode, 'Webhook'> | NamedWebhook

/** A step without its authorizer, which can be sent to other threads. */
export type PlainLink = Exclude<AuthorizationMode, 'Webhook'> | Pick<NamedWebhook, 'id' | 'name'>

/** A chain that can be sent to other threads. */
interface PlainChain {
  readonly links: readonly PlainLink[]
}

/** Provides the chain of authorizers. */
interface ChainSource {
  readonly chain: readonly ChainLink[]
  /** Calls back with each new chain; undefined if the chain never changes. */
  follow?(apply: (chain: readonly ChainLink[]) => void): { stop(): void }
  close(): void
}

/** The authorizers of a chain, in order. */
function linksOf(chain: readonly ChainLink[]): readonly AuthorizationLink[] {
  return chain.map((link) => (typeof link === 'string' ? link : { ...link.authorizer, name: link.name }))
}

/** A request to one webhook. */
interface WebhookQuestion {
  readonly webhook: string
  readonly user: User
  readonly access: Access
}

/** The chain of the thread that calls the webhooks, for the other threads of its process: decisions are cached once. */
class SharedChain {
  readonly #clock: Clock
  readonly #readers = new Set<PushStream<PlainChain>>()
  #chain: readonly ChainLink[]
  /** A removed webhook is still called until another thread has received the new chain. */
  readonly #webhooks = new Map<string, Authorizer>()

  constructor(chain: readonly ChainLink[], clock: Clock) {
    this.#clock = clock
    this.#chain = chain
    this.#keep(chain)
  }

  /** A new chain has replaced the current one. */
  replace(chain: readonly ChainLink[]): void {
    const before = webhooksOf(this.#chain)
    this.#chain = chain
    this.#keep(chain)
    this.#clock.after(timeoutMsMax, () => {
      for (const { id, authorizer } of before) if (!this.#isInUse(id, authorizer)) this.#webhooks.delete(id)
    })
    for (const reader of this.#readers) reader.push(plain(chain))
  }

  /** The current chain, then each new one. */
  follow(): Stream<PlainChain> {
    const reader = new PushStream<PlainChain>({ onClose: () => void this.#readers.delete(reader) })
    this.#readers.add(reader)
    reader.push(plain(this.#chain))
    return reader
  }

  async ask({ webhook, user, access }: WebhookQuestion): Promise<Decision> {
    const authorizer = this.#webhooks.get(webhook)
    if (authorizer === undefined) throw serviceUnavailable('the authorizers are being replaced', { retryAfterSeconds: 1 })
    return await authorizer.authorize(user, access)
  }

  #keep(chain: readonly ChainLink[]): void {
    for (const { id, authorizer } of webhooksOf(chain)) this.#webhooks.set(id, authorizer)
  }

  #isInUse(id: string, authorizer: Authorizer): boolean {
    if (this.#webhooks.get(id) !== authorizer) return true
    return webhooksOf(this.#chain).some((webhook) => webhook.id === id)
  }
}

function webhooksOf(chain: readonly ChainLink[]): readonly NamedWebhook[] {
  return chain.filter((link) => typeof link !== 'string')
}

function plain(chain: readonly ChainLink[]): PlainChain {
  return { links: chain.map((link) => (typeof link === 'string' ? link : { id: link.id, name: link.name })) }
}
