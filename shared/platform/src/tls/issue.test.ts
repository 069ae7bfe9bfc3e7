import { X509Certificate } from 'node:crypto'
import 'reflect-metadata'
import * as x509 from '@peculiar/x509'
import { expect, test } from 'vitest'
import { addressBytes } from './address-bytes.ts'
import { parseTagged, printIdentifier, printInteger, printOctetString, printTime } from './der.ts'
import { issueAuthority, issueClient, issueServing } from './issue.ts'

const nowMs = Date.UTC(2026, 0, 1)
const yearMs = 365 * 86_400_000

test.each([
  ['2.5.29.17', '0603551d11'],
  ['1.2.840.10045.4.3.2', '06082a8648ce3d040302'],
])('an object identifier: %s', (text, expected) => {
  expect(printIdentifier(text).toString('hex')).toBe(expected)
})

test('a length is one byte below 128, and says how many bytes it takes above', () => {
  expect(printOctetString(Buffer.alloc(127)).subarray(0, 2).toString('hex')).toBe('047f')
  expect(printOctetString(Buffer.alloc(128)).subarray(0, 3).toString('hex')).toBe('048180')
  expect(printOctetString(Buffer.alloc(256)).subarray(0, 4).toString('hex')).toBe('04820100')
})

test('a time has two digits for its year until 2049, then four', () => {
  expect(
    printTime(Date.UTC(2049, 11, 31, 23, 59, 58))
      .subarray(2)
      .toString(),
  ).toBe('491231235958Z')
  expect(
    printTime(Date.UTC(2050, 0, 1))
      .subarray(2)
      .toString(),
  ).toBe('20500101000000Z')
})

test('values are read as they were written; one that is cut off is refused', () => {
  const written = Buffer.concat([printInteger(Buffer.from([5])), printOctetString(Buffer.alloc(300, 1))])
  expect(parseTagged(written).map(({ tag, content }) => [tag, content.length])).toEqual([
    [2, 1],
    [4, 300],
  ])
  expect(() => parseTagged(written.subarray(0, -1))).toThrow(RangeError)
})

test.each([
  ['10.0.0.1', '0a000001'],
  ['::1', '00000000000000000000000000000001'],
  ['2001:db8::2:0:0:1', '20010db8000000000002000000000001'],
  ['::ffff:10.0.0.1', '00000000000000000000ffff0a000001'],
  ['fe80::1%eth0', 'fe800000000000000000000000000001'],
])('the bytes of the address %s', (address, expected) => {
  expect(addressBytes(address).toString('hex')).toBe(expected)
})

test('another reader finds in the certificates what was asked for', async () => {
  const authority = issueAuthority({ commonName: 'orch-ca', nowMs })
  const serving = issueServing({ authority, commonName: 'orch-apiserver', names: ['localhost', '::1', '10.0.0.1'], nowMs })
  const root = new x509.X509Certificate(authority.certificate)
  const server = new x509.X509Certificate(serving.certificate)
  expect([
    await root.verify({ publicKey: root, signatureOnly: true }),
    await server.verify({ publicKey: root, signatureOnly: true }),
  ]).toEqual([true, true])
  expect([root.subject, server.issuer, server.subject]).toEqual(['CN=orch-ca', 'CN=orch-ca', 'CN=orch-apiserver'])
  expect([server.notBefore.getTime(), server.notAfter.getTime()]).toEqual([nowMs - 300_000, nowMs + yearMs])
  expect(root.getExtension(x509.BasicConstraintsExtension)?.ca).toBe(true)
  expect(root.getExtension(x509.KeyUsagesExtension)?.usages).toBe(
    x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign | x509.KeyUsageFlags.digitalSignature,
  )
  expect(server.getExtension(x509.KeyUsagesExtension)?.usages).toBe(x509.KeyUsageFlags.digitalSignature)
  expect(server.getExtension(x509.AuthorityKeyIdentifierExtension)?.keyId).toBe(
    root.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId,
  )
  const identifier = await x509.SubjectKeyIdentifierExtension.create(await server.publicKey.export())
  expect(server.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId).toBe(identifier.keyId)
  expect(new X509Certificate(serving.certificate).serialNumber).not.toBe(new X509Certificate(authority.certificate).serialNumber)
})

test('an authority that another program made signs under its own name and key identifier', async () => {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const keys = (await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as CryptoKeyPair
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ O: [{ printableString: 'Example' }] }, { CN: [{ printableString: 'theirs' }] }],
    keys,
    signingAlgorithm: algorithm,
    notBefore: new Date(nowMs),
    notAfter: new Date(nowMs + yearMs / 2),
    extensions: [new x509.BasicConstraintsExtension(true, undefined, true), new x509.SubjectKeyIdentifierExtension('0102030405', false)],
  })
  const key = x509.PemConverter.encode(await crypto.subtle.exportKey('pkcs8', keys.privateKey), x509.PemConverter.PrivateKeyTag)
  const authority = { certificate: root.toString('pem'), key }
  const client = new x509.X509Certificate(issueClient({ authority, commonName: 'a', organizations: ['one', 'two'], nowMs }).certificate)
  expect(await client.verify({ publicKey: root, signatureOnly: true })).toBe(true)
  expect([client.issuer, client.subject]).toEqual(['O=Example, CN=theirs', 'O=one, O=two, CN=a'])
  expect(Buffer.from(client.issuerName.toArrayBuffer())).toEqual(Buffer.from(root.subjectName.toArrayBuffer()))
  expect(client.getExtension(x509.AuthorityKeyIdentifierExtension)?.keyId).toBe('0102030405')
  expect(client.notAfter.getTime()).toBe(nowMs + yearMs / 2)
})

test('a key that cannot sign is refused', () => {
  const { certificate } = issueAuthority({ commonName: 'orch-ca', nowMs })
  const authority = { certificate, key: 'nonsense' }
  expect(() => issueClient({ authority, commonName: 'a', organizations: [], nowMs })).toThrow()
})
