import { generateKeyPairSync } from 'node:crypto'
import { fc } from '@orch/testkit/chance'
import { expect, test } from 'vitest'
import { readCertificateRequest } from './certificate-request.ts'
import { DerError } from './der.ts'

const length = (size: number): number[] => (size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 0xff])
const value = (tag: number, ...content: readonly (number | readonly number[])[]): number[] => {
  const bytes = content.flat()
  return [tag, ...length(bytes.length), ...bytes]
}
const organization = [0x06, 3, 0x55, 0x04, 0x0a]
const commonName = [0x06, 3, 0x55, 0x04, 0x03]
const text = (tag: number, written: string): number[] => value(tag, [...Buffer.from(written)])
const wide = (written: string): number[] => value(0x1e, [...Buffer.from(written, 'utf16le').swap16()])

/** A request with a subject, a key and no signature. */
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

test('organizations are found at every position, in every kind of text', () => {
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
])('%j is no request', (pem, why) => {
  expect(() => readCertificateRequest(pem)).toThrow(why)
})

test('bytes of any kind give an answer or an error of ours', () => {
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
