import type { Store } from '@orch/core/contracts'
import type { HealthCheck } from '@orch/gateway'
import {
  type Clock,
  declareMetrics,
  type Log,
  loadYamlFile,
  type Metrics,
  type MetricTable,
  messageOf,
  SettingsError,
} from '@orch/platform'
import type { ConfiguredEncryption, EncryptedResources, Transformer } from '@orch/storage/encryption'
import { StartError } from '../start-error.ts'
import type { Surroundings } from '../surroundings.ts'
import { type Provider, parseEncryptionConfiguration } from './configuration.ts'
import { Plugins } from './plugins.ts'

/** Where the configuration is. */
export interface EncryptionOptions {
  readonly file: string
  /** Reads it again when it changes. */
  readonly reloads: boolean
}

/** The settings as storage takes them; undefined: nothing is encrypted. */
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
export interface OpenEncryption {
  /** The store, whose values are encrypted. */
  encrypt(store: Store): Store
  /** Whether values of the key are encrypted when they are written. */
  isEncrypted(key: string): boolean
  /** Whether the KMS plugins are healthy. */
  readonly check: HealthCheck
  addMetrics(metrics: Metrics): void
}

const flag = '--encryption-provider-config'

/** How often the file is read; it is small. */
const pollMs = 10_000

const table = {
  apiserver_encryption_config_controller_automatic_reloads_total: {
    type: 'counter',
    help: '[ALPHA] Total number of reload successes and failures of encryption configuration.',
    labels: ['status'],
  },
  apiserver_encryption_config_controller_automatic_reload_last_timestamp_seconds: {
    type: 'gauge',
    help: '[ALPHA] Timestamp of the last successful or failed automatic reload of encryption configuration.',
    labels: ['status'],
  },
} as const satisfies MetricTable

/** Reads the configuration and opens what it names; the code for it is loaded only here. */
export async function openEncryption({ file, reloads }: EncryptionOptions, surroundings: Surroundings): Promise<OpenEncryption> {
  const { ConfiguredEncryption: Configured, encryptStore } = await import('@orch/storage/encryption')
  const { catalogue, clock, lifecycle, log } = surroundings
  const plugins = new Plugins({ clock, log })
  await lifecycle.run({ name: 'plugins of encryption', stop: () => plugins.close() })
  const read = async () => readElements(await loadYamlFile(flag, file), { file, plugins, names: catalogue.names })
  const first = await read()
  const encryption = new Configured(first.elements)
  const reload = new Reload({ file, read, encryption, plugins, clock, log, present: first.text })
  if (reloads) {
    const poll = clock.every(pollMs, () => void reload.run())
    await lifecycle.run({ name: 'reload of encryption', stop: () => poll.cancel() })
  }
  return {
    encrypt: (store) =>
      encryptStore(store, { encryption, clock, onError: (error, what) => log.error({ err: error, what }, 'storage failed') }),
    isEncrypted: (key) => encryption.isEncrypted(key),
    check: { name: 'kms-providers', check: () => plugins.problem() },
    addMetrics(metrics) {
      const counts = declareMetrics(metrics, table)
      reload.onEnd = (status) => {
        counts.apiserver_encryption_config_controller_automatic_reloads_total.inc({ status })
        counts.apiserver_encryption_config_controller_automatic_reload_last_timestamp_seconds.set({ status }, clock.now() / 1_000)
      }
    },
  }
}

/** What a file says, and the text that is compared with that of the next one. */
interface ReadElements {
  readonly elements: readonly EncryptedResources[]
  readonly text: string
}

interface ReadOptions {
  readonly file: string
  readonly plugins: Plugins
  readonly names: Surroundings['catalogue']['names']
}

async function readElements(value: unknown, { file, plugins, names }: ReadOptions): Promise<ReadElements> {
  const reading = parseEncryptionConfiguration(value, names)
  if (reading.kind === 'refused') throw new SettingsError(`${flag}=${file}: ${reading.problems.join('; ')}`)
  const elements: EncryptedResources[] = []
  for (const { resources, providers } of reading.elements) {
    const transformers = await Promise.all(providers.map((provider) => transformersOf(provider, plugins)))
    elements.push({ resources, transformers: transformers.flat() })
  }
  return { elements, text: JSON.stringify(value) }
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

interface ReloadOptions {
  readonly file: string
  readonly read: () => Promise<ReadElements>
  readonly encryption: ConfiguredEncryption
  readonly plugins: Plugins
  readonly clock: Clock
  readonly log: Log
  /** The text of the configuration in use. */
  readonly present: string
}

/** Puts the configuration into use that the file has now. One that is not valid leaves the present one in use, and is reported once. */
class Reload {
  readonly #options: ReloadOptions
  onEnd: (status: 'success' | 'failure') => void = () => {}
  #present: string
  #complaint = ''
  #isRunning = false

  constructor(options: ReloadOptions) {
    this.#options = options
    this.#present = options.present
  }

  async run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    const { file, read, encryption, plugins, log } = this.#options
    try {
      const { elements, text } = await read()
      this.#complaint = ''
      if (text === this.#present) return
      encryption.replace(elements)
      plugins.keep(elements.flatMap(({ transformers }) => transformers))
      this.#present = text
      log.info({ file }, 'a new encryption configuration is in use')
      this.onEnd('success')
    } catch (error) {
      if (messageOf(error) === this.#complaint) return
      this.#complaint = messageOf(error)
      log.error({ err: error, file }, 'the new encryption configuration cannot be used; the present one stays in use')
      this.onEnd('failure')
    } finally {
      this.#isRunning = false
    }
  }
}

/** Values that cannot be decrypted end the start with their own sentence. */
export function toStartError(cause: unknown): unknown {
  return cause instanceof Error && cause.name === 'UnreadableValueError' ? new StartError(`${flag}: ${cause.message}`, { cause }) : cause
}
