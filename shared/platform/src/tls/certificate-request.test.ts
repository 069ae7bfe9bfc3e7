import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { fc } from '@orch/testkit/chance'
import { expect, test } from 'vitest'
import type { Clock } from '../clock.ts'
import { authorityConstraint, nameOf, signCertificate } from './certificate.ts'
import { readCertificateRequest } from './certificate-request.ts'
import { requestSigner } from './certificates.ts'
import { DerError } from './der.ts'
import { generateKeysNow, printKey } from './keys.ts'

const length = (size: number): number[] => (size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 0xff])
const value = (tag: number, ...content: readonly (number | readonly number[])[]): number[] => {
  const bytes = content.flat()
  return [tag, ...length(bytes.length), ...bytes]
}
const organization = [0x06, 3, 0x55, 0x04, 0x0a]
const commonName = [0x06, 3, 0x55, 0x04, 0x03]
const text = (tag: number, written: string): number[] => value(tag, [...Buffer.from(written)])
const wide = (written: string): number[] => value(0x1e, [...Buffer.from(written, 'utf16le').swap16()])

/** A request with a subject and a key, without a signature. */
function pemOf(...sets: readonly (readonly number[])[]): string {
  const { publicKey } = generateKeyPairSync('ed25519')
  const key = [...publicKey.export({ type: 'spki', format: 'der' })]
  const subject = value(
    0x30,
    sets.flatMap((attributes) => value(0x31, attributes)),
  )
  const information = value(0x30, value(0x02, 0), subject, key, value(0xa0))
  const body = Buffer.from(value(0x30, information)).toString('base64')
  return `-----BEGIN CERTIFICATE REQUEST-----\n${body}\n-----END CERTIFICATE REQUEST-----\n`
}

test('organizations are found at every position, in every string type', () => {
  const pem = pemOf(
    value(0x30, commonName, text(0x0c, 'ann')),
    [...value(0x30, organization, text(0x0c, 'utf8')), ...value(0x30, organization, text(0x13, 'printable'))],
    value(0x30, organization, wide('wide')),
    value(0x30, organization, text(0x0c, 'x'.repeat(300))),
  )
  expect(readCertificateRequest(pem).organizations).toEqual(['utf8', 'printable', 'wide', 'x'.repeat(300)])
})

test.each([
  ['UTF8String', 0x0c],
  ['NumericString', 0x12],
  ['PrintableString', 0x13],
  ['TeletexString', 0x14],
  ['IA5String', 0x16],
  ['VisibleString', 0x1a],
  ['OCTET STRING', 0x04],
])('an organization is found as %s', (_, tag) => {
  expect(readCertificateRequest(pemOf(value(0x30, organization, text(tag, 'system:masters')))).organizations).toEqual(['system:masters'])
})

test('an empty subject has no organizations', () => {
  expect(readCertificateRequest(pemOf()).organizations).toEqual([])
})

test.each([
  ['', 'PEM block type must be CERTIFICATE REQUEST'],
  ['-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n', 'PEM block type must be CERTIFICATE REQUEST'],
  ['-----BEGIN CERTIFICATE REQUEST-----\nMAA=\n-----END CERTIFICATE REQUEST-----\n', 'expected a value of tag 48, got none'],
  ['-----BEGIN CERTIFICATE REQUEST-----\nAgEA\n-----END CERTIFICATE REQUEST-----\n', 'expected a value of tag 48, got 2'],
  ['-----BEGIN CERTIFICATE REQUEST-----\nMIAA\n-----END CERTIFICATE REQUEST-----\n', 'a length is not one of DER'],
])('%j is no certificate request', (pem, why) => {
  expect(() => readCertificateRequest(pem)).toThrow(why)
})

test('any bytes give an answer or a typed error', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      const body = Buffer.from([0x30, bytes.length, ...bytes]).toString('base64')
      try {
        expect(
          readCertificateRequest(`-----BEGIN CERTIFICATE REQUEST-----\n${body}\n-----END CERTIFICATE REQUEST-----\n`).organizations,
        ).toBeInstanceOf(Array)
      } catch (error) {
        expect(error).toBeInstanceOf(DerError)
      }
    }),
  )
})

const yearMs = 365 * 86_400_000
const startMs = Date.UTC(2030, 0, 1)

/** An authority that is valid for a year, with a key of this kind, and its signer at a time. */
function anAuthority(kind: 'P-256' | 'RSA', nowMs = startMs) {
  const { publicKey, privateKey } = generateKeysNow(kind)
  const subject = nameOf({ commonName: 'ca', organizations: [] })
  const validity = { notBefore: startMs, notAfter: startMs + yearMs }
  const statement = { issuer: subject, subject, publicKey, validity, extensions: [authorityConstraint(true)] }
  const certificate = signCertificate(statement, privateKey)
  const clock: Clock = { now: () => nowMs, monotonic: () => 0, after: () => ({ cancel() {} }), every: () => ({ cancel() {} }) }
  return { authority: new X509Certificate(certificate), sign: requestSigner({ certificate, key: printKey(privateKey) }, clock) }
}

const aRequest = () => readCertificateRequest(pemOf(value(0x30, commonName, text(0x0c, 'ann'))))

test.each(['P-256', 'RSA'] as const)('an authority with a key of %s signs the key of a request', async (kind) => {
  const { authority, sign } = anAuthority(kind)
  const request = aRequest()
  const made = new X509Certificate(await sign(request, { usages: ['client auth'], lifeMs: 3_600_000 }))
  expect([made.verify(authority.publicKey), made.checkIssued(authority), made.subject]).toEqual([true, true, 'CN=ann'])
  expect(made.publicKey.export({ type: 'spki', format: 'der' })).toEqual(request.publicKey)
})

test('WL-CSR-02: each usage becomes a key usage or an extended key usage', async () => {
  const { sign } = anAuthority('P-256')
  const usages = ['s/mime', 'email protection', 'any', 'netscape sgc', 'cert sign', 'decipher only']
  const made = new X509Certificate(await sign(aRequest(), { usages, lifeMs: 3_600_000 }))
  expect(made.keyUsage).toEqual(['2.5.29.37.0', '1.3.6.1.5.5.7.3.4', '2.16.840.1.113730.4.1'])
  // The identifier of key usage, followed by the bits of keyCertSign and decipherOnly.
  expect(made.raw.toString('hex')).toContain('0603551d0f0101ff04050303070480')
})

test('WL-CSR-02: a certificate expires with its authority at the latest, and an expired authority signs nothing', async () => {
  const terms = { usages: ['client auth'], lifeMs: yearMs }
  const late = anAuthority('P-256', startMs + yearMs / 2)
  const made = new X509Certificate(await late.sign(aRequest(), terms))
  expect(Date.parse(made.validTo)).toBe(startMs + yearMs)
  await expect(anAuthority('P-256', startMs + yearMs).sign(aRequest(), terms)).rejects.toThrow('the certificate authority has expired')
})
