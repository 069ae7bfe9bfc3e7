import { type Clock, type Log, messageOf, type OutgoingCalls } from '@orch/platform'
import type { Transformer } from '@orch/storage/encryption'
import type { KmsProvider } from '@orch/storage/kms'
import type { Provider } from './configuration.ts'

type KmsConfiguration = Extract<Provider, { kind: 'kms' }>

/** The KMS plugins in use, one for each name and address: a reloaded configuration keeps its plugins. */
export class Plugins {
  readonly #clock: Clock
  readonly #log: Log
  readonly #calls: OutgoingCalls | undefined
  readonly #open = new Map<string, KmsProvider>()

  constructor({ clock, log, calls }: { readonly clock: Clock; readonly log: Log; readonly calls: OutgoingCalls | undefined }) {
    this.#clock = clock
    this.#log = log
    this.#calls = calls
  }

  /** Returns the provider after its first request for the key, even if that failed. */
  async open({ name, endpoint, timeoutMs }: KmsConfiguration): Promise<KmsProvider> {
    const id = JSON.stringify([name, endpoint, timeoutMs])
    const known = this.#open.get(id)
    if (known !== undefined) return known
    const { dialKmsPlugin, KmsProvider: Kms } = await import('@orch/storage/kms')
    let complaint = ''
    const provider = new Kms({
      name,
      plugin: dialKmsPlugin({ name, endpoint, timeoutMs, calls: this.#calls }),
      clock: this.#clock,
      onError: (error) => {
        if (messageOf(error) !== complaint) this.#log.error({ err: error, plugin: name }, 'a KMS plugin is not healthy')
        complaint = messageOf(error)
      },
    })
    this.#open.set(id, provider)
    await provider.start()
    return provider
  }

  /** Closes plugins that are not among the transformers in use. */
  keep(inUse: readonly Transformer[]): void {
    for (const [id, provider] of this.#open) {
      if (inUse.includes(provider)) continue
      this.#open.delete(id)
      provider.close()
    }
  }

  /** The unhealthy plugins with their reasons; undefined if all are healthy. */
  problem(): string | undefined {
    const problems = [...this.#open.values()].flatMap((provider) => {
      const problem = provider.problem()
      return problem === undefined ? [] : [`${provider.name}: ${problem}`]
    })
    return problems.length === 0 ? undefined : problems.join('; ')
  }

  close(): void {
    this.keep([])
  }
}
