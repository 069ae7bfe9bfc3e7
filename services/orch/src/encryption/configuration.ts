import { durationToMs, parseDuration } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import type { LocalCipher, LocalKey } from '@orch/storage/encryption'
import { FieldReader, type Reading } from '../configuration/field-reader.ts'

/** A provider of encryption. */
export type Provider =
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
