import type { Store } from '@orch/core/contracts'
import { type Metrics, messageOf, type OutgoingCalls, SettingsError } from '@orch/platform'
import type { EncryptedResources, Transformer } from '@orch/storage/encryption'
import type { KmsProvider } from '@orch/storage/kms'
import { ReloadedFile } from '../configuration/reloaded-file.ts'
import { StartError } from '../start-error.ts'
import type { Surroundings } from '../surroundings.ts'
import { type Provider, parseEncryptionConfiguration } from './configuration.ts'

/** The file of the configuration. */
export interface EncryptionOptions {
  readonly file: string
  /** Reads the file again when it changes. */
  readonly reloads: boolean
}

/** The settings in storage's form; undefined without encryption. */
export function readEncryption(settings: {
  readonly encryptionProviderConfig: string
  readonly encryptionProviderConfigAutomaticReload: boolean
}): EncryptionOptions | undefined {
  const { encryptionProviderConfig: file, encryptionProviderConfigAutomaticReload: reloads } = settings
  if (file !== '') return { file, reloads }
  if (reloads) throw new SettingsError(`--encryption-provider-config-automatic-reload needs ${flag}`)
  return undefined
}

/** Encryption of a store. */
export type OpenEncryption = Awaited<ReturnType<typeof openEncryption>>

const flag = '--encryption-provider-config'

/** Reads the configuration and opens its providers; their code is loaded only here. */
export async function openEncryption({ file, reloads }: EncryptionOptions, surroundings: Surroundings) {
  const { ConfiguredEncryption: Configured, encryptStore, observeTransformations } = await import('@orch/storage/encryption')
  const { catalogue, clock, lifecycle, log, faults } = surroundings
  const plugins = lifecycle.opened('plugins of encryption', new Plugins({ clock, log, calls: faults?.calls }))
  const parse = (value: unknown) => readElements(value, { file, plugins, names: catalogue.names })
  const configuration = new ReloadedFile({ flag, file, what: 'encryption', parse, log })
  const encryption = new Configured(await configuration.read())
  if (reloads) {
    const following = configuration.follow(clock, (elements) => {
      encryption.replace(elements)
      plugins.keep(elements.flatMap(({ transformers }) => transformers))
    })
    lifecycle.onStop('reload of encryption', () => following.stop())
  }
  return {
    /** The store, whose values are encrypted. */
    encrypt: (store: Store) =>
      encryptStore(store, { encryption, clock, onError: (error, what) => log.error({ err: error, what }, 'storage failed') }),
    /** True if new values of the key are encrypted. */
    isEncrypted: (key: string) => encryption.isEncrypted(key),
    /** The health of the KMS plugins. */
    check: { name: 'kms-providers', check: () => plugins.problem() },
    addMetrics(metrics: Metrics) {
      configuration.addMetrics(metrics, clock)
      encryption.observer = observeTransformations(metrics, clock)
    },
  }
}

interface ReadOptions {
  readonly file: string
  readonly plugins: Plugins
  readonly names: Surroundings['catalogue']['names']
}

async function readElements(value: unknown, { file, plugins, names }: ReadOptions): Promise<readonly EncryptedResources[]> {
  const reading = parseEncryptionConfiguration(value, names)
  if (reading.kind === 'refused') throw new SettingsError(`${flag}=${file}: ${reading.problems.join('; ')}`)
  const elements: EncryptedResources[] = []
  for (const { resources, providers } of reading.elements) {
    const transformers = await Promise.all(providers.map((provider) => transformersOf(provider, plugins)))
    elements.push({ resources, transformers: transformers.flat() })
  }
  return elements
}

async function transformersOf(provider: Provider, plugins: Plugins): Promise<readonly Transformer[]> {
  const { identity, localTransformer } = await import('@orch/storage/encryption')
  switch (provider.kind) {
    case 'identity':
      return [identity]
    case 'local':
      return provider.keys.map((key) => localTransformer(provider.cipher, key))
    case 'kms':
      return [await plugins.open(provider)]
  }
}

/** Values that cannot be decrypted, or whose configuration is missing, end the start with a specific sentence. */
export function toStartError(cause: unknown): unknown {
  return cause instanceof Error && notReadable.has(cause.name) ? new StartError(`${flag}: ${cause.message}`, { cause }) : cause
}

const notReadable: ReadonlySet<string> = new Set(['UnreadableValueError', 'NotDecryptedError'])

type KmsConfiguration = Extract<Provider, { kind: 'kms' }>

interface PluginsParts extends Pick<Surroundings, 'clock' | 'log'> {
  readonly calls: OutgoingCalls | undefined
}

/** The KMS plugins in use, one for each name and address: a reloaded configuration keeps its plugins. */
class Plugins {
  readonly #parts: PluginsParts
  readonly #open = new Map<string, KmsProvider>()

  constructor(parts: PluginsParts) {
    this.#parts = parts
  }

  /** Returns the provider after its first request for the key, even if that failed. */
  async open({ name, endpoint, timeoutMs }: KmsConfiguration): Promise<KmsProvider> {
    const id = JSON.stringify([name, endpoint, timeoutMs])
    const { clock, log, calls } = this.#parts
    const known = this.#open.get(id)
    if (known !== undefined) return known
    const { dialKmsPlugin, KmsProvider: Kms } = await import('@orch/storage/kms')
    let complaint = ''
    const provider = new Kms({
      name,
      plugin: dialKmsPlugin({ name, endpoint, timeoutMs, calls }),
      clock,
      onError: (error) => {
        if (messageOf(error) !== complaint) log.error({ err: error, plugin: name }, 'a KMS plugin is not healthy')
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
