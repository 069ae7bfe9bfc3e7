import { constants, generateKeyPairSync, type KeyObject, type SignKeyObjectInput, sign } from 'node:crypto'
import { fc } from '@orch/testkit/chance'
import { expect, test } from 'vitest'
import { findCertificatesProblem, findRequestProblem } from './certificate-content.ts'

const length = (size: number): number[] => (size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 0xff])
const value = (tag: number, ...content: readonly (number | readonly number[])[]): number[] => {
  const bytes = content.flat()
  return [tag, ...length(bytes.length), ...bytes]
}
const identifier = (hex: string): number[] => value(0x06, [...Buffer.from(hex, 'hex')])
const pemOf = (bytes: readonly number[], type = 'CERTIFICATE REQUEST'): string =>
  `-----BEGIN ${type}-----\n${Buffer.from(bytes).toString('base64')}\n-----END ${type}-----\n`

interface Pair {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const otherCurve = generateKeyPairSync('ec', { namedCurve: 'secp256k1' })
const ed = generateKeyPairSync('ed25519')
const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 })
const ecdsaSha256 = identifier('2a8648ce3d040302')
const rsaSha256 = identifier('2a864886f70d01010b')
const eddsa = identifier('2b6570')
const pssSha256 = [...identifier('2a864886f70d01010a'), ...value(0x30, value(0xa0, value(0x30, identifier('608648016503040201'))))]

interface Options {
  readonly algorithm: readonly number[]
  readonly hash?: string
  readonly padding?: Omit<SignKeyObjectInput, 'key'>
  readonly subject?: readonly number[]
}

function aRequest({ publicKey, privateKey }: Pair, { algorithm, hash, padding, subject = value(0x30) }: Options): number[] {
  const key = [...publicKey.export({ type: 'spki', format: 'der' })]
  const information = value(0x30, value(0x02, 0), subject, key, value(0xa0))
  const signature = sign(hash, Buffer.from(information), { key: privateKey, ...padding })
  return value(0x30, information, value(0x30, algorithm), value(0x03, 0, [...signature]))
}

const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }

test.each<readonly [string, Pair, Options]>([
  ['ECDSA', ec, { algorithm: ecdsaSha256, hash: 'sha256' }],
  ['Ed25519', ed, { algorithm: eddsa }],
  ['RSA', rsa, { algorithm: rsaSha256, hash: 'sha256' }],
  ['RSASSA-PSS', rsa, { algorithm: pssSha256, hash: 'sha256', padding: pss }],
])('a request signed by %s is valid, and a request with another signature is not', (_, pair, options) => {
  const request = aRequest(pair, options)
  expect(findRequestProblem(pemOf(request))).toBeUndefined()
  expect(findRequestProblem(pemOf([...request.slice(0, -1), (request.at(-1) ?? 0) ^ 1]))).toMatch(/verification (?:failure|error)$/)
})

test.each<readonly [string, readonly number[], string]>([
  [
    'an algorithm of another key',
    aRequest(ec, { algorithm: rsaSha256, hash: 'sha256' }),
    'x509: signature algorithm specifies an RSA public key, but have public key of type *ecdsa.PublicKey',
  ],
  [
    'MD5',
    aRequest(rsa, { algorithm: identifier('2a864886f70d010104'), hash: 'md5' }),
    'x509: cannot verify signature: insecure algorithm MD5-RSA',
  ],
  ['an unknown algorithm', aRequest(ed, { algorithm: identifier('2b6571') }), 'x509: cannot verify signature: algorithm unimplemented'],
  ['a curve that Go has not', aRequest(otherCurve, { algorithm: ecdsaSha256, hash: 'sha256' }), 'x509: unsupported elliptic curve'],
  ['bytes behind it', [...aRequest(ed, { algorithm: eddsa }), 0x30, 0], 'asn1: structure error: trailing data'],
  [
    'an attribute without a value',
    aRequest(ed, { algorithm: eddsa, subject: value(0x30, value(0x31, value(0x30, identifier('55040a')))) }),
    'asn1: structure error: the subject has an attribute without a value',
  ],
  ['nothing in it', value(0x30), 'asn1: structure error: expected a value of tag 48, got none'],
])('a request with %s has the expected errors', (_, request, problem) => {
  expect(findRequestProblem(pemOf(request))).toBe(problem)
})

test.each(['', 'x', pemOf(aRequest(ed, { algorithm: eddsa }), 'CERTIFICATE')])('a request is in PEM of its type', (pem) => {
  expect(findRequestProblem(pem)).toBe('PEM block type must be CERTIFICATE REQUEST')
})

test.each([
  ['x', 'must contain at least one CERTIFICATE PEM block'],
  [pemOf([0x30, 0], 'PRIVATE KEY'), 'only CERTIFICATE PEM blocks are allowed, found "PRIVATE KEY"'],
  [pemOf([0x30, 0], 'CERTIFICATE').replace('\n', '\na: b\n\n'), 'no PEM block headers are permitted'],
  [pemOf([], 'CERTIFICATE'), 'found CERTIFICATE PEM block containing 0 certificates'],
  [pemOf([0x30, 0], 'CERTIFICATE'), 'x509: malformed certificate'],
])('%j is no certificate', (pem, problem) => {
  expect(findCertificatesProblem(pem)).toBe(problem)
})

test('blocks with another end, or without valid base64, are no blocks', () => {
  const pem = pemOf([0x30, 0], 'CERTIFICATE')
  for (const broken of [pem.replace('END CERTIFICATE', 'END KEY'), pem.replace('\n', '\n!\n'), pem.replace('-----BEGIN', 'x-----BEGIN')]) {
    expect(findCertificatesProblem(broken)).toBe('must contain at least one CERTIFICATE PEM block')
    expect(findCertificatesProblem(`${broken}${pem}`)).toBe('x509: malformed certificate')
  }
})

test('any bytes get a verdict, and a request with a changed signed byte is invalid', () => {
  const request = aRequest(ec, { algorithm: ecdsaSha256, hash: 'sha256' })
  // Bytes up to here are signed, or are part of a length.
  const signed = 100
  const places = fc.array(fc.tuple(fc.nat(request.length - 1), fc.nat(255)), { minLength: 1, maxLength: 3 })
  fc.assert(
    fc.property(places, (changes) => {
      const changed = [...request]
      for (const [at, byte] of changes) changed[at] = byte
      const problem = findRequestProblem(pemOf(changed))
      if (problem === undefined) expect(changed.slice(0, signed)).toEqual(request.slice(0, signed))
      expect(typeof findCertificatesProblem(pemOf(changed, 'CERTIFICATE'))).toBe('string')
    }),
    { numRuns: 200, seed: 7 },
  )
})
