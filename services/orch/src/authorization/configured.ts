import type { Names } from '@orch/core/names'
import { type AuthorizationMetrics, type AuthorizationMode, type Authorizer, createAccessWebhook } from '@orch/gateway'
import { SettingsError } from '@orch/platform'
import { ReloadedFile } from '../configuration/reloaded-file.ts'
import type { Surroundings } from '../surroundings.ts'
import { openWebhookSender, type WebhookSender } from '../webhooks/sender.ts'
import { type ConfiguredAuthorizer, type ConfiguredWebhook, parseAuthorizationConfiguration, timeoutMsMax } from './configuration.ts'
import type { ChainLink } from './shared-chain.ts'

const flag = '--authorization-config'

interface OpenWebhook {
  readonly authorizer: Authorizer
  readonly sender: WebhookSender
}

/** The file of the authorizer chain, and its webhooks. */
export class ConfiguredAuthorization {
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
export async function openWebhook(
  file: Parameters<typeof openWebhookSender>[0],
  options: WebhookOptions,
  surroundings: Surroundings,
): Promise<OpenWebhook> {
  const { catalogue, chance, clock } = surroundings
  const sender = await openWebhookSender(file, surroundings)
  const send = (body: string) => sender.send(body, options.timeoutMs)
  return { authorizer: createAccessWebhook({ ...options, send, names: catalogue.names, clock, random: chance.fraction }), sender }
}
