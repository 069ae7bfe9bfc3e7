import { createHash, createHmac, randomBytes } from 'node:crypto'
import { wire } from '@orch/core/contracts'
import { internal } from '@orch/core/meta'
import { type Clock, messageOf, systemChance } from '@orch/platform'
import { codecOf } from '@orch/platform/rpc'
import { openGcm, sealGcm } from '../encryption/local-keys.ts'
import type { Transformer } from '../encryption/transformer.ts'

/** The calls of a KMS plugin, by Kubernetes' KMS v2 contract. */
export interface KmsPlugin {
  status(): Promise<{ readonly version: string; readonly healthz: string; readonly keyId: string }>
  encrypt(request: { readonly uid: string; readonly plaintext: Uint8Array }): Promise<WrappedSecret>
  decrypt(request: { readonly uid: string } & WrappedSecret): Promise<{ readonly plaintext: Uint8Array }>
  close(): void
}

/** A secret that the plugin has encrypted, and the data needed to decrypt it. */
export interface WrappedSecret {
  readonly ciphertext: Uint8Array
  readonly keyId: string
  readonly annotations: ReadonlyMap<string, Uint8Array>
}

/** The dependencies of a KMS provider. */
export interface KmsOptions {
  readonly name: string
  readonly plugin: KmsPlugin
  readonly clock: Clock
  /** Receives the reason each time a request finds the plugin unhealthy. */
  readonly onError: (error: unknown) => void
}

/** Intervals between requests for the plugin's Status, as in kube-apiserver. */
const statusIntervalMs = 60_000
const failedStatusIntervalMs = 10_000
/** After this time without a confirmation of its key, a secret encrypts no further values. */
const confirmedForMs = 3 * statusIntervalMs

const seedBytes = 32
const infoBytes = 32
const keyIdBytesMax = 1_024
const ciphertextBytesMax = 1_024
/** The number of decrypted secrets: one for each start and each rotation of each storage whose values still exist. */
const seedsMax = 10_000

/** The stored form, with the field numbers of `EncryptedObject` of `k8s.io/kms`. */
const stored = wire.message({
  encryptedData: wire.bytes(1),
  keyId: wire.string(2),
  encryptedSeed: wire.bytes(3),
  annotations: wire.many(wire.nested(4, wire.message({ name: wire.string(1), value: wire.bytes(2) }))),
  seedType: wire.int64(5),
})
const codec = codecOf(stored)
type Stored = wire.Static<typeof stored>

/** HKDF_SHA256_XNONCE_AES_GCM_SEED: each value has a separate key, derived from the seed. */
const derivedKeys = 1

interface Seed {
  readonly secret: Uint8Array
  readonly wrapped: WrappedSecret
  /** By the monotonic clock. */
  confirmedMs: number
}

/**
 * Encrypts with keys derived from a secret that a KMS plugin has encrypted. Makes a new secret at the start and when the plugin has another key.
 * Decrypts each secret once.
 */
export class KmsProvider implements Transformer {
  readonly prefix: string
  readonly name: string
  readonly #options: KmsOptions
  /** By a digest of the stored form. */
  readonly #seeds = new Map<string, Uint8Array>()
  #seed: Seed | undefined
  #problem = 'the plugin has not been asked yet'
  #timer: { cancel(): void } | undefined
  #isClosed = false

  constructor(options: KmsOptions) {
    this.name = options.name
    this.prefix = `k8s:enc:kms:v2:${options.name}:`
    this.#options = options
  }

  /** Requests the plugin's key, and repeats the request at intervals. Resolves after the first request, whatever its result. */
  async start(): Promise<void> {
    const isHealthy = await this.#ask()
    if (this.#isClosed) return
    this.#timer = this.#options.clock.after(isHealthy ? statusIntervalMs : failedStatusIntervalMs, () => void this.start(), {
      background: true,
    })
  }

  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
    this.#options.plugin.close()
  }

  /** The reason why the plugin is unhealthy; undefined if it is healthy. */
  problem(): string | undefined {
    return this.#problem === '' ? undefined : this.#problem
  }

  seal(key: string, plain: Uint8Array): Uint8Array {
    const seed = this.#seed
    if (seed === undefined || this.#options.clock.monotonic() - seed.confirmedMs > confirmedForMs) {
      throw internal(`nothing can be encrypted with the KMS plugin ${this.name}: ${this.#problem || 'its key was not confirmed in time'}`)
    }
    const info = randomBytes(infoBytes)
    const encryptedData = Buffer.concat([info, sealGcm(deriveKey(seed.secret, info), plain, key)])
    const { keyId, ciphertext, annotations } = seed.wrapped
    return codec.encode({
      encryptedData,
      keyId,
      encryptedSeed: ciphertext,
      annotations: [...annotations].map(([name, value]) => ({ name, value })),
      seedType: derivedKeys,
    })
  }

  open(key: string, sealed: Uint8Array): Uint8Array | undefined {
    const value = read(sealed)
    const secret = this.#seeds.get(digestOf(value))
    if (secret === undefined) return undefined
    const { encryptedData } = value
    return openGcm(deriveKey(secret, encryptedData.subarray(0, infoBytes)), encryptedData.subarray(infoBytes), key)
  }

  async prepare(sealed: readonly Uint8Array[]): Promise<void> {
    const wanted = new Map<string, Stored>()
    for (const one of sealed) {
      const value = read(one)
      const digest = digestOf(value)
      if (!this.#seeds.has(digest)) wanted.set(digest, value)
    }
    for (const [digest, { encryptedSeed: ciphertext, keyId, annotations }] of wanted) {
      const wrapped = { ciphertext, keyId, annotations: new Map(annotations.map(({ name, value }) => [name, value])) }
      const { plaintext } = await this.#options.plugin.decrypt({ uid: systemChance.uuid(), ...wrapped }).catch((cause: unknown) => {
        throw new Error(`the KMS plugin ${this.name} has not decrypted a key: ${messageOf(cause)}`, { cause })
      })
      this.#keepSeed(digest, plaintext)
    }
  }

  keyId(sealed?: Uint8Array): string {
    return sealed === undefined ? (this.#seed?.wrapped.keyId ?? '') : read(sealed).keyId
  }

  async #ask(): Promise<boolean> {
    try {
      const status = await this.#options.plugin.status()
      const problem = problemOf(status)
      if (problem !== undefined) throw new Error(problem)
      if (this.#seed?.wrapped.keyId !== status.keyId) await this.#rotate()
      else this.#seed.confirmedMs = this.#options.clock.monotonic()
      this.#problem = ''
      return true
    } catch (error) {
      this.#problem = messageOf(error)
      this.#options.onError(error)
      return false
    }
  }

  async #rotate(): Promise<void> {
    const secret = randomBytes(seedBytes)
    const wrapped = await this.#options.plugin.encrypt({ uid: systemChance.uuid(), plaintext: secret })
    if (wrapped.keyId === '' || Buffer.byteLength(wrapped.keyId) > keyIdBytesMax) {
      throw new Error(
        `the plugin has answered Encrypt with a key id of ${Buffer.byteLength(wrapped.keyId)} bytes, expected 1 to ${keyIdBytesMax}`,
      )
    }
    if (wrapped.ciphertext.length === 0 || wrapped.ciphertext.length > ciphertextBytesMax) {
      throw new Error(`the plugin has answered Encrypt with ${wrapped.ciphertext.length} bytes, expected 1 to ${ciphertextBytesMax}`)
    }
    this.#seed = { secret, wrapped, confirmedMs: this.#options.clock.monotonic() }
    this.#keepSeed(digestOf({ encryptedSeed: wrapped.ciphertext, keyId: wrapped.keyId }), secret)
  }

  #keepSeed(digest: string, secret: Uint8Array): void {
    this.#seeds.set(digest, secret)
    if (this.#seeds.size <= seedsMax) return
    for (const oldest of this.#seeds.keys()) {
      this.#seeds.delete(oldest)
      break
    }
  }
}

function problemOf({ version, healthz, keyId }: Awaited<ReturnType<KmsPlugin['status']>>): string | undefined {
  if (version !== 'v2' && version !== 'v2beta1') return `the plugin is of version ${JSON.stringify(version)}, expected v2`
  if (healthz !== 'ok') return `the plugin's health is ${JSON.stringify(healthz)}, expected ok`
  const bytes = Buffer.byteLength(keyId)
  return bytes === 0 || bytes > keyIdBytesMax ? `the plugin's key id has ${bytes} bytes, expected 1 to ${keyIdBytesMax}` : undefined
}

function read(sealed: Uint8Array): Stored {
  const value = codec.decode(Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length))
  if (value.seedType !== derivedKeys)
    throw new Error(`the value is encrypted by a scheme of number ${value.seedType}, which is not known here`)
  return value
}

function digestOf({ encryptedSeed, keyId }: Pick<Stored, 'encryptedSeed' | 'keyId'>): string {
  return createHash('sha256').update(encryptedSeed).update(keyId).digest('base64')
}

/** HKDF's expansion with SHA-256; the first block is the key. */
function deriveKey(secret: Uint8Array, info: Uint8Array): Uint8Array {
  return createHmac('sha256', secret).update(info).update(Uint8Array.of(1)).digest()
}
