import { silentLog } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { Provider } from './provider.ts'

const issuer = 'https://provider.example.com'
const second = 1_000

/** A provider whose keys a test sets, and whose answers it releases. */
function aProvider(...first: readonly string[]) {
  const clock = createFakeClock()
  const state = { keys: [...first], asked: 0, isDown: false, held: undefined as Promise<void> | undefined }
  const fetchJson = async (url: string) => {
    if (url.endsWith('/openid-configuration')) return { issuer, jwks_uri: `${issuer}/keys` }
    state.asked += 1
    const keys = state.keys.map((kid) => ({ kid, kty: 'RSA' }))
    await state.held
    if (state.isDown) throw new Error('down')
    return { keys }
  }
  const provider = new Provider({ issuer, fetchJson, clock, log: silentLog })
  const finds = async (keyId: string) => (await provider.keysFor(keyId, 5 * second)).length === 1
  return { clock, state, provider, finds }
}

test('AUTHN-OIDC-02: a key that the provider has just begun to use is found at once', async () => {
  const { state, finds } = aProvider('a')
  expect(await finds('a')).toBe(true)
  state.keys = ['b']
  expect(await finds('b')).toBe(true)
  expect(await finds('a')).toBe(false)
  state.keys = ['c']
  expect(await finds('c')).toBe(true)
})

test('a request with little time waits no longer for the provider, and the question goes on for later requests', async () => {
  const { clock, state, provider, finds } = aProvider('a')
  const { promise, resolve } = Promise.withResolvers<void>()
  state.held = promise
  const hurried = provider.keysFor('a', 0.5)
  const patient = finds('a')
  clock.advance(1)
  await expect(hurried).rejects.toThrow('the provider has not answered in time')
  resolve()
  expect([await patient, state.asked]).toEqual([true, 1])
})

test('AUC-04: the discovery document is fetched from its own address, and must name the issuer', async () => {
  const discoveryUrl = 'https://elsewhere.example.com/document'
  const asked: string[] = []
  const keysOf = async (named: string) => {
    const fetchJson = async (url: string) => {
      asked.push(url)
      return url === discoveryUrl ? { issuer: named, jwks_uri: `${issuer}/keys` } : { keys: [{ kid: 'a', kty: 'RSA' }] }
    }
    return new Provider({ issuer, discoveryUrl, fetchJson, clock: createFakeClock(), log: silentLog }).keysFor('a', second)
  }
  expect(await keysOf(issuer)).toHaveLength(1)
  expect(asked).toEqual([discoveryUrl, `${issuer}/keys`])
  await expect(keysOf('https://other.example.com')).rejects.toThrow(`${discoveryUrl}: issuer: must be ${issuer}`)
})

test('AUTHN-OIDC-04: tokens with invented keys cause ten requests in a row, and then one a second', async () => {
  const { clock, state, finds } = aProvider('a')
  expect(await finds('a')).toBe(true)
  for (let index = 0; index < 100; index++) expect(await finds(`invented-${index}`)).toBe(false)
  expect(state.asked).toBe(10)
  state.keys = ['b']
  expect(await finds('b')).toBe(false)
  clock.advance(second)
  expect(await finds('b')).toBe(true)
  for (let index = 0; index < 100; index++) await finds(`invented-${index}`)
  expect(state.asked).toBe(11)
  clock.advance(60 * second)
  for (let index = 0; index < 100; index++) await finds(`invented-${index}`)
  expect(state.asked).toBe(21)
})

test('AUTHN-OIDC-04: parallel tokens share one request', async () => {
  const { state, finds } = aProvider('a')
  expect(await Promise.all(Array.from({ length: 50 }, () => finds('a')))).toEqual(Array(50).fill(true))
  expect(state.asked).toBe(1)
  state.keys = ['b']
  expect(await Promise.all(Array.from({ length: 50 }, () => finds('b')))).toEqual(Array(50).fill(true))
  expect(state.asked).toBe(2)
})

test('AUTHN-OIDC-02: a key that appears during a request to the provider is found by another request', async () => {
  const { state, finds } = aProvider('a')
  const { promise, resolve } = Promise.withResolvers<void>()
  state.held = promise
  const early = finds('a')
  await Promise.resolve()
  await expect.poll(() => state.asked).toBe(1)
  state.keys = ['b']
  const late = [finds('b'), finds('b')]
  state.held = undefined
  resolve()
  expect(await Promise.all([early, ...late])).toEqual([true, true, true])
  expect(state.asked).toBe(2)
})

test('AUTHN-OIDC-04: a provider that fails is not asked for ten seconds, and its known keys stay', async () => {
  const { clock, state, finds } = aProvider('a')
  expect(await finds('a')).toBe(true)
  state.isDown = true
  for (let index = 0; index < 5; index++) expect(await finds('b')).toBe(false)
  expect(state.asked).toBe(2)
  expect(await finds('a')).toBe(true)
  clock.advance(9 * second)
  expect(await finds('b')).toBe(false)
  expect(state.asked).toBe(2)
  state.isDown = false
  state.keys = ['b']
  clock.advance(second)
  expect(await finds('b')).toBe(true)
})
