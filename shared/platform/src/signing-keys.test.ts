import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { generateSigningKey, parseSigningKey, parseVerificationKeys } from './signing-keys.ts'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const publicPem = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString()
const privatePem = (key: KeyObject, type: 'pkcs8' | 'pkcs1' | 'sec1' = 'pkcs8') => key.export({ type, format: 'pem' } as never).toString()

describe('verification keys', () => {
  test('AUTHN-SA-05, AUTHN-SA-06, AUTHN-SA-07: are read from every format, and a private key equals its public key', () => {
    const curves = (['P-256', 'P-384', 'P-521'] as const).map((namedCurve) => generateKeyPairSync('ec', { namedCurve }))
    const pairs = [rsa, ...curves]
    const fromPublic = parseVerificationKeys(pairs.map(({ publicKey }) => publicPem(publicKey)).join('words between them\n'))
    const fromPrivate = parseVerificationKeys(pairs.map(({ privateKey }) => privatePem(privateKey)).join(''))
    expect(fromPublic.map(({ algorithm }) => algorithm)).toEqual(['RS256', 'ES256', 'ES384', 'ES512'])
    expect(fromPrivate.map(({ id }) => id)).toEqual(fromPublic.map(({ id }) => id))
    expect(fromPrivate.every(({ publicKey }) => publicKey.type === 'public')).toBe(true)
  })

  test('AUTHN-SA-05: are read from the older formats, with the parameters before them', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const parameters = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n'
    const keys = parseVerificationKeys(`${parameters}${privatePem(privateKey, 'sec1')}${privatePem(rsa.privateKey, 'pkcs1')}`)
    expect(keys.map(({ id }) => id)).toEqual(parseVerificationKeys(publicPem(publicKey) + publicPem(rsa.publicKey)).map(({ id }) => id))
  })

  test.each([
    ['', 'it holds no key in PEM form'],
    ['no key', 'it holds no key in PEM form'],
    ['-----BEGIN PUBLIC KEY-----\nbm8ga2V5\n-----END PUBLIC KEY-----\n', 'it holds something other than RSA and ECDSA keys'],
    [publicPem(generateKeyPairSync('ed25519').publicKey), 'it holds a key that is neither RSA nor ECDSA'],
    [publicPem(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey), 'it holds a key that is neither RSA nor ECDSA'],
    [publicPem(generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey), 'it holds an RSA key of less than 2048 bits'],
  ])('AUTHN-SA-05: in %j are refused without printing the key', (text, message) => {
    expect(() => parseVerificationKeys(text)).toThrow(message)
  })
})

describe('the signing key', () => {
  test('AUTHN-SA-09: is read again after it was created', () => {
    const pem = generateSigningKey()
    expect(parseSigningKey(pem)).toMatchObject({ algorithm: 'ES256', id: parseVerificationKeys(pem)[0]?.id })
  })

  test('AUTHN-SA-06: cannot be a public key', () => {
    expect(() => parseSigningKey(publicPem(rsa.publicKey))).toThrow('it holds no private key in PEM form')
  })
})
