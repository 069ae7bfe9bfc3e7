import type { Store, StoreChange, StoreRecord } from '@orch/core/contracts'
import { createFakeClock, storeSuite } from '@orch/testkit'
import { describe, expect, test } from 'vitest'
import { createMemoryStore } from '../store/memory-store.ts'
import { encryptStore } from './encrypted-store.ts'
import { ConfiguredEncryption, type Encryption, UnreadableValueError } from './encryption.ts'
import { localTransformer } from './local-keys.ts'
import { identity, type Transformer } from './transformer.ts'

const secret = (seed: number, length = 32) => new Uint8Array(length).fill(seed)
const gcm = (name: string, seed = 1) => localTransformer('aesgcm', { name, secret: secret(seed) })
const everything = (...transformers: readonly Transformer[]) => new ConfiguredEncryption([{ resources: ['*.*'], transformers }])
const options = (encryption: Encryption) => ({ encryption, clock: createFakeClock(), onError: () => {} })
const bytes = (text: string) => new TextEncoder().encode(text)
const text = (value: Uint8Array | undefined) => Buffer.from(value ?? []).toString('latin1')

storeSuite('encrypted, over memory', async () => encryptStore(createMemoryStore(), options(everything(gcm('a')))))

async function put(store: Store, key: string, value: string): Promise<number> {
  const outcome = await store.commit({ key, expected: 0, conditions: [], writeId: key, value: bytes(value) })
  if (outcome.kind !== 'written') throw new Error(`${key} is ${outcome.kind}`)
  return outcome.revision
}

async function kept(store: Store, key: string): Promise<string> {
  return text((await store.getAt(key, store.status().revision))?.value)
}

describe('ENC-01: values are encrypted by the first provider of the first element that covers the resource', () => {
  test.each([
    ['secrets', 'core/secrets/default/a', true],
    ['secrets', 'core/configmaps/default/a', false],
    ['secrets', 'x.io/secrets/default/a', false],
    ['deployments.apps', 'apps/deployments/default/a', true],
    ['*.apps', 'apps/deployments/default/a', true],
    ['*.apps', 'core/pods/default/a', false],
    ['*.', 'core/pods/default/a', true],
    ['*.', 'apps/deployments/default/a', false],
    ['*.*', 'x.io/things/a', true],
    ['pandas.awesome.bears.example', 'awesome.bears.example/pandas/a', true],
  ])('for an element with %s and the key %s', async (resource, key, isEncrypted) => {
    const inner = createMemoryStore()
    const encryption = new ConfiguredEncryption([{ resources: [resource], transformers: [gcm('a')] }])
    const store = encryptStore(inner, options(encryption))
    await put(store, key, 'the plain text')
    expect((await kept(inner, key)).includes('plain')).toBe(!isEncrypted)
    expect(await kept(store, key)).toBe('the plain text')
    expect(encryption.isEncrypted(key)).toBe(isEncrypted)
  })

  test('the first matching element wins, also with identity', async () => {
    const inner = createMemoryStore()
    const elements = [
      { resources: ['events'], transformers: [identity] },
      { resources: ['*.*'], transformers: [gcm('a')] },
    ]
    const store = encryptStore(inner, options(new ConfiguredEncryption(elements)))
    await put(store, 'core/events/default/a', 'plain')
    await put(store, 'core/pods/default/a', 'plain')
    expect(await kept(inner, 'core/events/default/a')).toBe('plain')
    expect(await kept(inner, 'core/pods/default/a')).toMatch(/^\x01\x01k8s:enc:aesgcm:v1:a:/)
  })
})

describe('altered values', () => {
  /** The answers of a store in which the values of these keys are altered. */
  async function shownOf(altered: readonly string[], reader = gcm('a')) {
    const inner = createMemoryStore()
    const store = encryptStore(inner, options(everything(gcm('a'))))
    for (const key of ['core/secrets/a/a', 'core/secrets/a/b', 'core/secrets/a/c']) await put(store, key, key)
    for (const key of altered) {
      const record = await inner.getAt(key, inner.status().revision)
      const value = Uint8Array.from(record!.value)
      value[value.length - 1]! ^= 1
      await inner.commit({ key, expected: record!.revision, conditions: [], writeId: 'w', value })
    }
    const shown: string[] = []
    const show = ({ key, value, problem }: StoreRecord) => shown.push(problem === undefined ? `${key} ${text(value)}` : problem)
    await encryptStore(inner, options(everything(reader))).visit(show)
    return shown
  }
  const problemOf = (key: string) =>
    `${key} cannot be decrypted with k8s:enc:aesgcm:v1:a:: the value or the key is not the one that it was written with`

  test('READ-22: are shown as records with a problem, after the other records', async () => {
    expect(await shownOf(['core/secrets/a/b', 'core/secrets/a/a'])).toEqual([
      'core/secrets/a/c core/secrets/a/c',
      problemOf('core/secrets/a/a'),
      problemOf('core/secrets/a/b'),
    ])
  })

  test('are refused as encrypted with another key if nothing can be decrypted with the key', async () => {
    await expect(shownOf([], gcm('a', 2))).rejects.toThrow(problemOf('core/secrets/a/a'))
    await expect(shownOf(['core/secrets/a/a', 'core/secrets/a/b', 'core/secrets/a/c'])).rejects.toThrow(UnreadableValueError)
  })

  test('are refused if the key is absent', async () => {
    await expect(shownOf(['core/secrets/a/a'], gcm('other'))).rejects.toThrow('no provider of its resource has that key')
  })
})

describe('ENC-02: each cipher', () => {
  const ciphers = [
    ['aescbc', 16],
    ['aescbc', 24],
    ['aescbc', 32],
    ['aesgcm', 16],
    ['aesgcm', 24],
    ['aesgcm', 32],
    ['secretbox', 32],
  ] as const

  test.each(ciphers)(
    '%s with a key of %d bytes decrypts its own output, and encrypts the same text differently each time',
    (cipher, length) => {
      const one = localTransformer(cipher, { name: 'k', secret: secret(7, length) })
      expect(one.prefix).toBe(`k8s:enc:${cipher}:v1:k:`)
      const [first, second] = [one.seal('core/secrets/a/b', bytes('word')), one.seal('core/secrets/a/b', bytes('word'))]
      expect(text(first)).not.toBe(text(second))
      expect(text(one.open('core/secrets/a/b', first))).toBe('word')
    },
  )

  test.each(['aesgcm', 'secretbox'] as const)('%s refuses an altered value', (cipher) => {
    const encryption = everything(localTransformer(cipher, { name: 'k', secret: secret(7) }))
    const value = Uint8Array.from(encryption.seal('core/secrets/a/b', bytes('word')))
    value[value.length - 1]! ^= 1
    expect(() => encryption.open('core/secrets/a/b', value)).toThrow(UnreadableValueError)
  })

  test('aesgcm refuses a value that was moved to another key', () => {
    const encryption = everything(gcm('a'))
    const value = encryption.seal('core/secrets/a/b', bytes('word'))
    expect(() => encryption.open('core/secrets/a/c', value)).toThrow('core/secrets/a/c cannot be decrypted with k8s:enc:aesgcm:v1:a:')
  })

  test('a key of the same name with other bytes is refused', () => {
    const value = everything(gcm('a', 1)).seal('core/secrets/a/b', bytes('word'))
    expect(() => everything(gcm('a', 2)).open('core/secrets/a/b', value)).toThrow(UnreadableValueError)
  })
})

describe('ENC-03: rotation', () => {
  test('values are read with every key of their resource, and written with the first key', async () => {
    const inner = createMemoryStore()
    const encryption = everything(gcm('old'))
    const store = encryptStore(inner, options(encryption))
    await put(store, 'core/secrets/a/before', 'word')
    encryption.replace([{ resources: ['*.*'], transformers: [gcm('new', 2), gcm('old')] }])
    await put(store, 'core/secrets/a/after', 'word')
    expect(await kept(store, 'core/secrets/a/before')).toBe('word')
    expect(await kept(inner, 'core/secrets/a/after')).toContain('k8s:enc:aesgcm:v1:new:')
  })

  test('a value is stale if another write would encrypt it differently', async () => {
    const encryption = everything(identity, gcm('one'))
    const store = encryptStore(createMemoryStore(), options(encryption))
    await put(store, 'core/secrets/a/b', 'word')
    expect(store.isStale?.('core/secrets/a/b')).toBe(false)
    encryption.replace([{ resources: ['*.*'], transformers: [gcm('one'), identity] }])
    expect(store.isStale?.('core/secrets/a/b')).toBe(true)
    const { revision } = store.status()
    await store.commit({ key: 'core/secrets/a/b', expected: revision, conditions: [], writeId: 'w', value: bytes('word') })
    expect(store.isStale?.('core/secrets/a/b')).toBe(false)
    encryption.replace([{ resources: ['*.*'], transformers: [gcm('two', 2), gcm('one')] }])
    expect(store.isStale?.('core/secrets/a/b')).toBe(true)
  })

  test('WATCH-15: a past whose key is no longer configured counts as forgotten, and later changes are read', async () => {
    const inner = createMemoryStore()
    const encryption = everything(gcm('old'))
    const store = encryptStore(inner, options(encryption))
    const replaces = await put(store, 'core/secrets/a/b', 'word')
    encryption.replace([{ resources: ['*.*'], transformers: [gcm('new', 2), gcm('old')] }])
    await store.commit({ key: 'core/secrets/a/b', expected: replaces, conditions: [], writeId: 'w', value: bytes('word') })
    encryption.replace([{ resources: ['*.*'], transformers: [gcm('new', 2)] }])
    const expired = { status: { code: 410, message: expect.stringContaining('no provider of its resource has that key') } }
    await expect(store.history(replaces - 1, 10)).rejects.toMatchObject(expired)
    await expect(store.recordAt('core/secrets/a/b', replaces)).rejects.toMatchObject(expired)
    expect(await store.history(replaces, 10)).toMatchObject({ kind: 'changes', changes: [{ value: Buffer.from('word') }] })
  })

  test('a value without its key is refused with a sentence that names both', async () => {
    const inner = createMemoryStore()
    await put(encryptStore(inner, options(everything(gcm('gone')))), 'core/secrets/a/b', 'word')
    const store = encryptStore(inner, options(everything(gcm('other'))))
    await expect(store.visit(() => {})).rejects.toThrow(
      'core/secrets/a/b is encrypted with k8s:enc:aesgcm:v1:gone:, and no provider of its resource has that key',
    )
  })

  test('an unencrypted value is refused without identity', async () => {
    const inner = createMemoryStore()
    await put(inner, 'core/secrets/a/b', 'word')
    const store = encryptStore(inner, options(everything(gcm('a'))))
    await expect(store.visit(() => {})).rejects.toThrow(
      'core/secrets/a/b is not encrypted, and the providers of its resource do not contain identity',
    )
  })
})

/** A transformer whose key must be fetched; the fetch succeeds when the test allows it. */
class FetchedKey implements Transformer {
  readonly prefix = 'k8s:enc:kms:v2:test:'
  isThere = false
  fetches = 0
  fetch: () => Promise<void> = async () => {
    this.isThere = true
  }
  seal = (_key: string, plain: Uint8Array) => plain.map((byte) => byte ^ 0xff)
  open = (_key: string, sealed: Uint8Array) => (this.isThere ? sealed.map((byte) => byte ^ 0xff) : undefined)
  prepare = async () => {
    this.fetches += 1
    await this.fetch()
  }
}

describe('ENC-04: keys that have to be fetched', () => {
  const encryptedAndPlain = async () => {
    const inner = createMemoryStore()
    const key = new FetchedKey()
    const elements = [
      { resources: ['secrets'], transformers: [key] },
      { resources: ['*.*'], transformers: [identity] },
    ]
    const clock = createFakeClock()
    const errors: string[] = []
    const encryption = new ConfiguredEncryption(elements)
    const store = encryptStore(inner, { encryption, clock, onError: (error) => errors.push(String(error)) })
    return { inner, key, store, clock, errors, sealed: (name: string) => encryption.seal(name, bytes(name)) }
  }
  const turns = async () => {
    for (let count = 0; count < 20; count++) await Promise.resolve()
  }

  test('are fetched once, and values are visited in order', async () => {
    const { store, key } = await encryptedAndPlain()
    key.isThere = true
    for (const name of ['core/configmaps/a', 'core/secrets/a', 'core/secrets/b', 'core/services/a']) await put(store, name, name)
    key.isThere = false
    const seen: string[] = []
    await store.visit(({ key: name, value }) => seen.push(`${name}=${text(value)}`))
    expect(seen).toEqual(['core/configmaps/a', 'core/secrets/a', 'core/secrets/b', 'core/services/a'].map((name) => `${name}=${name}`))
    expect(key.fetches).toBe(1)
  })

  test('delay later changes, and keep the revision of the store below the value that waits', async () => {
    const { inner, key, store, sealed } = await encryptedAndPlain()
    const fetched = Promise.withResolvers<void>()
    key.fetch = async () => {
      await fetched.promise
      key.isThere = true
    }
    const seen: string[] = []
    store.listen((changes: readonly StoreChange[]) => seen.push(...changes.map(({ key: name, value }) => `${name}=${text(value)}`)))
    await put(store, 'core/pods/first', 'plain')
    const before = store.status().revision
    const value = sealed('core/secrets/a')
    // Another process has written the value.
    await inner.commit({ key: 'core/secrets/a', expected: 0, conditions: [], writeId: 'x', value })
    const own = put(store, 'core/pods/second', 'plain')
    let isAnswered = false
    void own.then(() => {
      isAnswered = true
    })
    await turns()
    expect({ seen, isAnswered, revision: store.status().revision }).toEqual({
      seen: ['core/pods/first=plain'],
      isAnswered: false,
      revision: before,
    })
    fetched.resolve()
    const revision = await own
    expect(seen).toEqual(['core/pods/first=plain', 'core/secrets/a=core/secrets/a', 'core/pods/second=plain'])
    expect(store.status().revision).toBe(revision)
  })

  test('are fetched again after a failure, which is reported, and a pause', async () => {
    const { inner, key, store, clock, errors, sealed } = await encryptedAndPlain()
    const { fetch } = key
    key.fetch = async () => {
      throw new Error('the plugin is away')
    }
    const seen: string[] = []
    store.listen((changes) => seen.push(...changes.map(({ key: name }) => name)))
    await inner.commit({ key: 'core/secrets/a', expected: 0, conditions: [], writeId: 'x', value: sealed('core/secrets/a') })
    await turns()
    expect(errors).toEqual(['UnreadableValueError: the plugin is away'])
    expect(seen).toEqual([])
    key.fetch = fetch
    clock.advance(1_000)
    await turns()
    expect(seen).toEqual(['core/secrets/a'])
  })
})
