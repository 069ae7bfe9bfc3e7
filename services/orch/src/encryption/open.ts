import type { Store } from '@orch/core/contracts'
import { durationToMs, parseDuration } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import { type Metrics, messageOf, type OutgoingCalls, SettingsError } from '@orch/platform'
import type { EncryptedResources, LocalCipher, LocalKey, Transformer } from '@orch/storage/encryption'
import type { KmsProvider } from '@orch/storage/kms'
import { FieldReader, type Reading } from '../configuration/field-reader.ts'
import { ReloadedFile } from '../configuration/files.ts'
import { StartError } from '../process/terminal.ts'
import type { Surroundings } from '../surroundings.ts'

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

/** A provider of encryption. */
type Provider =
  | { readonly kind: 'identity' }
  | { readonly kind: 'local'; readonly cipher: LocalCipher; readonly keys: readonly LocalKey[] }
  | { readonly kind: 'kms'; readonly name: string; readonly endpoint: string; readonly timeoutMs: number }

/** Resources and their encryption providers: the first provider encrypts, and all decrypt. */
interface EncryptionElement {
  readonly resources: readonly string[]
  readonly providers: readonly Provider[]
}

const aesKeyBytes = [16, 24, 32]
const secretboxKeyBytes = [32]
const kmsTimeoutMsDefault = 3_000

/** Checks an EncryptionConfiguration of `apiserver.config.k8s.io/v1`. The rules and their texts are those of kube-apiserver's validation. */
export function parseEncryptionConfiguration(value: unknown, names: Names): Reading<{ readonly elements: readonly EncryptionElement[] }> {
  const reader = new Reader()
  const elements = reader.configuration(value, `${domainGroup(names, 'apiserver.config')}/v1`, domainGroup(names, 'events'))
  return reader.reading({ elements })
}

/** Reads a configuration. The problems contain no secrets. */
class Reader extends FieldReader {
  /** The names of KMS providers read so far. */
  readonly #kmsNames = new Set<string>()

  configuration(value: unknown, apiVersion: string, eventsGroup: string): EncryptionElement[] {
    const fields = this.root(value, { kind: 'EncryptionConfiguration', apiVersions: [apiVersion], known: ['resources'] })
    const elements = this.list(fields['resources'], 'resources')
    if (elements.length === 0) this.required('resources', 'at least one resources is required')
    return elements.map((element, index) => this.#element(element, `resources[${index}]`, eventsGroup))
  }

  #element(value: unknown, path: string, eventsGroup: string): EncryptionElement {
    const fields = this.fields(value, path, ['resources', 'providers'])
    const resourcesPath = `${path}.resources`
    const resources = this.list(fields['resources'], resourcesPath).map((one, index) => this.text(one, `${resourcesPath}[${index}]`))
    if (resources.length === 0) this.required(resourcesPath, `at least one ${resourcesPath} is required`)
    this.#checkOverlap(resources, resourcesPath)
    for (const [index, one] of resources.entries()) {
      const problem = problemOfResource(one, eventsGroup)
      if (problem !== undefined) this.invalid(`${resourcesPath}[${index}]`, one, problem)
    }
    const providers = this.list(fields['providers'], `${path}.providers`)
    if (providers.length === 0) this.required(`${path}.providers`, `at least one ${path}.providers is required`)
    return { resources, providers: providers.map((one, index) => this.#provider(one, `${path}.providers[${index}]`)) }
  }

  #checkOverlap(resources: readonly string[], path: string): void {
    if (new Set(resources).size < resources.length) this.invalid(path, resources, 'the same resource cannot be specified multiple times')
    const distinct = [...new Set(resources)].map(partsOf)
    const overlaps = distinct.some(
      (one) =>
        distinct.length > 1 &&
        (one.group === '*' || (one.name === '*' && distinct.some((other) => other !== one && other.group === one.group))),
    )
    if (!overlaps) return
    const text = "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked"
    this.invalid(path, resources, text)
  }

  #provider(value: unknown, path: string): Provider {
    const kinds = ['aesgcm', 'aescbc', 'secretbox', 'identity', 'kms'] as const
    const fields = this.fields(value, path, kinds)
    const given = kinds.filter((kind) => fields[kind] !== undefined)
    const [kind] = given
    if (given.length > 1) {
      this.invalid(path, given, 'more than one provider specified in a single element, should split into different list elements')
    }
    switch (kind) {
      case undefined:
        this.invalid(path, value, 'provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity')
        return { kind: 'identity' }
      case 'identity':
        this.fields(fields[kind] ?? {}, `${path}.identity`, [])
        return { kind: 'identity' }
      case 'kms':
        return this.#kms(fields[kind], `${path}.kms`)
      default:
        return { kind: 'local', cipher: kind, keys: this.#keys(fields[kind], `${path}.${kind}`, kind) }
    }
  }

  #keys(value: unknown, path: string, cipher: LocalCipher): LocalKey[] {
    const keysPath = `${path}.keys`
    const keys = this.list(this.fields(value, path, ['keys'])['keys'], keysPath)
    if (keys.length === 0) this.required(keysPath, 'at least one keys is required')
    const known = new Set<string>()
    return keys.map((key, index) => this.#key(key, `${keysPath}[${index}]`, cipher, known))
  }

  #key(value: unknown, path: string, cipher: LocalCipher, known: Set<string>): LocalKey {
    const fields = this.fields(value, path, ['name', 'secret'])
    const name = this.text(fields['name'] ?? '', `${path}.name`)
    if (name === '') this.required(`${path}.name`, 'name is a mandatory field for a key')
    // The stored prefix contains the name between colons and is used to find the key.
    if (name.includes(':')) this.invalid(`${path}.name`, name, "must not contain ':'")
    if (known.has(name)) this.invalid(`${path}.name`, name, 'names of keys must be unique in a provider')
    known.add(name)
    const text = this.text(fields['secret'] ?? '', `${path}.secret`)
    if (text === '') {
      this.required(`${path}.secret`, 'secret is a mandatory field for a key')
      return { name, secret: new Uint8Array() }
    }
    const secret = Buffer.from(text, 'base64')
    const expected = cipher === 'secretbox' ? secretboxKeyBytes : aesKeyBytes
    if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text) || text.length % 4 !== 0) {
      this.invalid(`${path}.secret`, text, 'secrets must be base64 encoded')
    } else if (!expected.includes(secret.length)) {
      const message = `secret is not of the expected length, got ${secret.length}, expected one of [${expected.join(' ')}]`
      this.invalid(`${path}.secret`, text, message)
    }
    return { name, secret }
  }

  #kms(value: unknown, path: string): Provider {
    const fields = this.fields(value, path, ['apiVersion', 'name', 'cachesize', 'endpoint', 'timeout'])
    const name = this.text(fields['name'] ?? '', `${path}.name`)
    if (name === '') this.required(`${path}.name`, 'name is a mandatory field for a provider')
    if (name.includes(':')) this.invalid(`${path}.name`, name, `invalid KMS provider name ${name}, must not contain ':'`)
    if (this.#kmsNames.has(name)) this.invalid(`${path}.name`, name, `duplicate KMS provider name ${name}, names must be unique`)
    this.#kmsNames.add(name)
    const timeoutMs = this.#duration(fields['timeout'], `${path}.timeout`)
    const endpoint = this.text(fields['endpoint'] ?? '', `${path}.endpoint`)
    const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(endpoint)?.[1] ?? ''
    if (endpoint === '') this.invalid(`${path}.endpoint`, '', 'endpoint is a mandatory field for a kms')
    else if (scheme !== 'unix') {
      this.invalid(`${path}.endpoint`, endpoint, `unsupported scheme ${JSON.stringify(scheme)} for KMS provider, only unix is supported`)
    }
    if (fields['cachesize'] !== undefined) this.invalid(`${path}.cachesize`, fields['cachesize'], 'cachesize is not supported in v2')
    // An absent version is v1, as in kube-apiserver.
    const apiVersion = fields['apiVersion'] ?? 'v1'
    if (apiVersion !== 'v2') {
      const message = `unsupported apiVersion ${String(apiVersion)} for KMS provider, only v2 is supported`
      this.invalid(`${path}.apiVersion`, apiVersion, message)
    }
    return { kind: 'kms', name, endpoint, timeoutMs }
  }

  #duration(value: unknown, path: string): number {
    if (value === undefined) return kmsTimeoutMsDefault
    const duration = parseDuration(this.text(value, path))
    const timeoutMs = duration === undefined ? 0 : durationToMs(duration)
    if (duration === undefined) this.invalid(path, value, 'must be a duration such as 3s')
    else if (timeoutMs <= 0) this.invalid(path, value, 'timeout should be a positive value')
    return timeoutMs
  }

  protected override shown(path: string, value: unknown): unknown {
    return path.endsWith('.secret') ? 'REDACTED' : value
  }
}

function partsOf(resource: string): { readonly name: string; readonly group: string } {
  const dot = resource.indexOf('.')
  return dot < 0 ? { name: resource, group: '' } : { name: resource.slice(0, dot), group: resource.slice(dot + 1) }
}

const notServed = ['apiserveripinfo', 'serviceipallocations', 'servicenodeportallocations']

function problemOfResource(resource: string, eventsGroup: string): string | undefined {
  if (resource.toLowerCase() !== resource) return 'resource name should not contain capital letters'
  if (resource === '*') return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources"
  if (notServed.includes(resource)) return 'resources which do not have REST API/s cannot be encrypted'
  const { name, group } = partsOf(resource)
  if (group === eventsGroup) {
    return `'*.${eventsGroup}' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file`
  }
  if (group === 'extensions') return "'extensions' group has been removed and cannot be used for encryption"
  return group === '*' && name !== '*' ? 'encrypting the same resource across groups is not supported' : undefined
}
