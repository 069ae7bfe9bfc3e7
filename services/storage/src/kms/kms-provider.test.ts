import { join } from 'node:path'
import { Server, ServerCredentials } from '@grpc/grpc-js'
import type { OutgoingCalls } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { aFolder } from '@orch/testkit/folder'
import { expect, onTestFinished, test } from 'vitest'
import { dialKmsPlugin } from './kms-plugin.ts'
import { type KmsPlugin, KmsProvider, type WrappedSecret } from './kms-provider.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (value: Uint8Array | undefined) => (value === undefined ? undefined : Buffer.from(value).toString())
const key = 'core/secrets/default/a'

/** A plugin that records its encryptions and behaves as the test says. */
class TestPlugin implements KmsPlugin {
  keyId = 'key-1'
  version = 'v2'
  healthz = 'ok'
  failure: Error | undefined
  answerId: string | undefined
  readonly calls: string[] = []
  readonly #secrets = new Map<string, Uint8Array>()

  async status() {
    this.#begin('status')
    return { version: this.version, healthz: this.healthz, keyId: this.keyId }
  }

  async encrypt({ plaintext }: { readonly plaintext: Uint8Array }): Promise<WrappedSecret> {
    this.#begin('encrypt')
    const ciphertext = bytes(`${this.keyId}/${this.#secrets.size}`)
    this.#secrets.set(text(ciphertext) ?? '', plaintext)
    return { ciphertext, keyId: this.answerId ?? this.keyId, annotations: new Map([['local.example', bytes('note')]]) }
  }

  async decrypt({ ciphertext, annotations }: WrappedSecret) {
    this.#begin('decrypt')
    const plaintext = this.#secrets.get(text(ciphertext) ?? '')
    if (plaintext === undefined || text(annotations.get('local.example')) !== 'note') throw new Error('no such secret')
    return { plaintext }
  }

  close() {
    this.calls.push('close')
  }

  #begin(call: string): void {
    this.calls.push(call)
    if (this.failure !== undefined) throw this.failure
  }
}

function open(plugin = new TestPlugin()) {
  const clock = createFakeClock()
  const errors: string[] = []
  const make = () => new KmsProvider({ name: 'test', plugin, clock, onError: (error) => errors.push(String(error)) })
  return { plugin, clock, errors, make, provider: make() }
}

const turns = async () => {
  for (let count = 0; count < 20; count++) await Promise.resolve()
}

test('ENC-05: each value has its own key, derived from one secret that the plugin encrypts once', async () => {
  const { provider, plugin } = open()
  await provider.start()
  const [first, second] = [provider.seal(key, bytes('word')), provider.seal(key, bytes('word'))]
  expect(text(first)).not.toBe(text(second))
  expect(text(first)).not.toContain('word')
  expect([text(provider.open(key, first)), text(provider.open(key, second))]).toEqual(['word', 'word'])
  expect(plugin.calls).toEqual(['status', 'encrypt'])
  expect(() => provider.open('core/secrets/default/b', first)).toThrow()
})

test('ENC-05: another process decrypts the secret once, and then all its values', async () => {
  const { provider, plugin, make } = open()
  await provider.start()
  const sealed = [provider.seal(key, bytes('one')), provider.seal(key, bytes('two'))]
  const other = make()
  expect(other.open(key, sealed[0]!)).toBeUndefined()
  await other.prepare(sealed)
  expect(sealed.map((one) => text(other.open(key, one)))).toEqual(['one', 'two'])
  expect(plugin.calls).toEqual(['status', 'encrypt', 'decrypt'])
})

test('ENC-06: the plugin is asked each minute, and a new key id makes a new secret', async () => {
  const { provider, plugin, clock } = open()
  await provider.start()
  const old = provider.seal(key, bytes('word'))
  clock.advance(60_000)
  await turns()
  expect(plugin.calls).toEqual(['status', 'encrypt', 'status'])
  plugin.keyId = 'key-2'
  clock.advance(60_000)
  await turns()
  expect(plugin.calls).toEqual(['status', 'encrypt', 'status', 'status', 'encrypt'])
  expect([provider.keyId(old), provider.keyId(), provider.keyId(provider.seal(key, bytes('word')))]).toEqual(['key-1', 'key-2', 'key-2'])
  expect(text(provider.open(key, old))).toBe('word')
})

test.each([
  ['is of another version', { version: 'v1' }, 'the plugin is of version "v1", expected v2'],
  ['is not healthy', { healthz: 'locked' }, 'the plugin\'s health is "locked", expected ok'],
  ['has no key id', { keyId: '' }, "the plugin's key id has 0 bytes, expected 1 to 1024"],
  ['has a key id that is too long', { keyId: 'x'.repeat(1_025) }, "the plugin's key id has 1025 bytes, expected 1 to 1024"],
  ['fails', { failure: new Error('it is away') }, 'it is away'],
  ['encrypts without a key id', { answerId: '' }, 'the plugin has answered Encrypt with a key id of 0 bytes, expected 1 to 1024'],
])(
  'ENC-07: a plugin that %s is reported, and nothing is encrypted; the plugin is asked again after 10 s',
  async (_what, fault, problem) => {
    const { provider, plugin, clock, errors } = open()
    const well = { ...plugin }
    Object.assign(plugin, fault)
    await provider.start()
    expect(provider.problem()).toBe(problem)
    expect(errors).toEqual([`Error: ${problem}`])
    expect(() => provider.seal(key, bytes('word'))).toThrow(`nothing can be encrypted with the KMS plugin test: ${problem}`)
    Object.assign(plugin, well)
    clock.advance(10_000)
    await turns()
    expect(provider.problem()).toBeUndefined()
    expect(text(provider.open(key, provider.seal(key, bytes('word'))))).toBe('word')
  },
)

test('ENC-07: a secret whose key was not confirmed for three minutes encrypts nothing more, and still decrypts', async () => {
  const { provider, plugin, clock } = open()
  await provider.start()
  const sealed = provider.seal(key, bytes('word'))
  plugin.failure = new Error('it is away')
  for (let count = 0; count < 20; count++) {
    clock.advance(10_000)
    await turns()
  }
  expect(() => provider.seal(key, bytes('word'))).toThrow('nothing can be encrypted with the KMS plugin test: it is away')
  expect(text(provider.open(key, sealed))).toBe('word')
})

test('ENC-08: a plugin gets the requests of the KMS v2 contract over its socket, and a plugin that hangs is abandoned', async () => {
  const folder = aFolder()
  const requests: string[] = []
  const server = new Server()
  const raw = {
    requestStream: false,
    responseStream: false,
    requestSerialize: (one: Buffer) => one,
    responseSerialize: (one: Buffer) => one,
  }
  const read = { ...raw, requestDeserialize: (one: Buffer) => one, responseDeserialize: (one: Buffer) => one }
  const service = Object.fromEntries(
    ['Status', 'Encrypt', 'Decrypt'].map((name) => [name, { ...read, path: `/v2.KeyManagementService/${name}` }]),
  )
  // Field numbers from api.proto of k8s.io/kms: Status answers version, healthz, key_id; Decrypt answers plaintext.
  const answers: Record<string, Buffer> = {
    Status: Buffer.from('\x0a\x02v2\x12\x02ok\x1a\x01k', 'latin1'),
    Encrypt: Buffer.from('\x0a\x03abc\x12\x01k\x1a\x06\x0a\x01n\x12\x01v', 'latin1'),
    Decrypt: Buffer.from('\x0a\x05plain', 'latin1'),
  }
  let isSilent = false
  server.addService(
    service,
    Object.fromEntries(
      Object.keys(service).map((name) => [
        name,
        (call: { readonly request: Buffer }, answer: (error: null, value: Buffer) => void) => {
          requests.push(`${name} ${call.request.toString('latin1')}`)
          if (!isSilent) answer(null, answers[name]!)
        },
      ]),
    ),
  )
  const socket = join(folder, 'kms.sock')
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) => (error === null ? resolve() : reject(error))),
  )
  onTestFinished(() => server.forceShutdown())
  const plugin = dialKmsPlugin({ name: 'test', endpoint: `unix://${socket}`, timeoutMs: 60_000 })
  onTestFinished(() => plugin.close())
  expect(await plugin.status()).toEqual({ version: 'v2', healthz: 'ok', keyId: 'k' })
  const wrapped = await plugin.encrypt({ uid: 'u1', plaintext: bytes('plain') })
  expect([text(wrapped.ciphertext), wrapped.keyId, text(wrapped.annotations.get('n'))]).toEqual(['abc', 'k', 'v'])
  expect(text((await plugin.decrypt({ uid: 'u2', ...wrapped })).plaintext)).toBe('plain')
  expect(requests).toEqual(['Status ', 'Encrypt \x0a\x05plain\x12\x02u1', 'Decrypt \x0a\x03abc\x12\x02u2\x1a\x01k"\x06\x0a\x01n\x12\x01v'])
  isSilent = true
  const impatient = dialKmsPlugin({ name: 'test', endpoint: `unix://${socket}`, timeoutMs: 100.5 })
  onTestFinished(() => impatient.close())
  await expect(impatient.status()).rejects.toThrow('Deadline exceeded')
  const asked = requests.length
  const named: string[] = []
  const calls: OutgoingCalls = {
    async pass({ to, refuse }) {
      named.push(to)
      return refuse({ code: 503, retryAfter: undefined, message: 'away', body: '' })
    },
  }
  const faulty = dialKmsPlugin({ name: 'one', endpoint: `unix://${socket}`, timeoutMs: 100, calls })
  onTestFinished(() => faulty.close())
  await expect(faulty.status()).rejects.toThrow('the plugin has answered 503: away')
  await expect(faulty.encrypt({ uid: 'u1', plaintext: bytes('plain') })).rejects.toThrow('the plugin has answered 503: away')
  expect([named, requests.length]).toEqual([['kms/one/status', 'kms/one/encrypt'], asked])
})
