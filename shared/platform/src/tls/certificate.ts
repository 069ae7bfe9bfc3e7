import { createHash, createPrivateKey, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIP } from 'node:net'
import { boundedMemo, memo } from '@orch/core/memo'
import { AsnConvert, OctetString } from '@peculiar/asn1-schema'
import {
  AttributeTypeAndValue,
  AttributeValue,
  BasicConstraints,
  ExtendedKeyUsage,
  Extension,
  GeneralName,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  KeyUsage,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
} from '@peculiar/asn1-x509'
import { type DerValue, derTags, derValues, expectDer, printDer } from './der.ts'
import { knownCertificate } from './known-certificate.ts'

/** Signature algorithms by the kind of key: ecdsa-with-SHA256, 1.2.840.10045.4.3.2, and sha256WithRSAEncryption, 1.2.840.113549.1.1.11. */
const signatureAlgorithms: ReadonlyMap<string | undefined, Buffer> = new Map([
  ['ec', Buffer.from('300a06082a8648ce3d040302', 'hex')],
  ['rsa', Buffer.from('300d06092a864886f70d01010b0500', 'hex')],
])
const version3 = Buffer.from('a003020102', 'hex')
const attributes = { commonName: '2.5.4.3', organization: '2.5.4.10' }
/** The ids 2.5.29.14 and 2.5.29.35. */
const identifierTypes = { subject: Buffer.from('0603551d0e', 'hex'), authority: Buffer.from('0603551d23', 'hex') }
/** The id 2.5.29.17. */
const alternativeNamesType = Buffer.from('0603551d11', 'hex')
const important = Buffer.from('0101ff', 'hex')
const serialBytes = 16

/** The parts of an authority's certificate that are repeated in the certificates it signs. */
interface Issuer {
  /** DER. */
  readonly subject: Uint8Array
  readonly notAfterMs: number
  readonly identifier: Uint8Array
}

/** Reads an authority's certificate in PEM. */
export const readIssuer = boundedMemo(16, (pem: string): Issuer => {
  const certificate = knownCertificate(pem)
  const bytes = certificate.raw
  const inside = (value: DerValue | undefined, tag: number = derTags.sequence) => derValues(bytes, expectDer(value, tag))
  const print = (value: DerValue | undefined) => bytes.subarray(value?.from, value?.end)
  const [whole] = derValues(bytes, { start: 0, end: bytes.length })
  // Version, serial number, algorithm, issuer and validity precede the subject.
  const [, , , , , subject, key, ...others] = inside(inside(whole)[0])
  const extensions = others.find(({ tag }) => tag === derTags.extensions)
  const own = extensions && inside(inside(extensions, derTags.extensions)[0]).find((one) => hasType(bytes, one, identifierTypes.subject))
  const identifier = own === undefined ? identifierOf(print(key)) : bytes.subarray(own.end - identifierBytes, own.end)
  return { subject: print(subject), notAfterMs: Date.parse(certificate.validTo), identifier }
})

function hasType(bytes: Buffer, { start, end }: DerValue, type: Buffer): boolean {
  return bytes.subarray(start, end).subarray(0, type.length).equals(type)
}

/** Reads a signing key in PEM; throws if its kind is not supported. */
export function readSigningKey(pem: string): KeyObject {
  const key = createPrivateKey(pem)
  algorithmOf(key)
  return key
}

function algorithmOf({ asymmetricKeyType }: KeyObject): Buffer {
  const algorithm = signatureAlgorithms.get(asymmetricKeyType)
  if (algorithm === undefined) throw new Error('the key of the certificate authority is neither an RSA nor an ECDSA key')
  return algorithm
}

/** The contents of a certificate. Names and extensions are DER. */
interface Statement {
  readonly issuer: Uint8Array
  readonly subject: Uint8Array
  readonly publicKey: KeyObject
  /** Wall-clock milliseconds. */
  readonly validity: { readonly notBefore: number; readonly notAfter: number }
  readonly extensions: readonly Uint8Array[]
}

/** Signs a certificate with the stated contents; PEM. */
export function signCertificate({ issuer, subject, publicKey, validity, extensions }: Statement, key: KeyObject): string {
  const signatureAlgorithm = algorithmOf(key)
  const statement = printDer(
    derTags.sequence,
    version3,
    printDer(derTags.integer, serialNumber()),
    signatureAlgorithm,
    issuer,
    printDer(derTags.sequence, printInstant(validity.notBefore), printInstant(validity.notAfter)),
    subject,
    keyInfoOf(publicKey),
    printDer(derTags.extensions, printDer(derTags.sequence, ...extensions)),
  )
  const signature = printDer(derTags.bits, Uint8Array.of(0), sign('sha256', statement, key))
  const certificate = printDer(derTags.sequence, statement, signatureAlgorithm, signature)
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}

/** A random positive serial number. */
function serialNumber(): Buffer {
  const bytes = randomBytes(serialBytes)
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40
  return bytes
}

/** RFC 5280, 4.1.2.5: two digits of the year until 2049. */
function printInstant(ms: number): Uint8Array {
  const time = new Date(ms)
  const text = `${time.toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`
  const isShort = time.getUTCFullYear() >= 1950 && time.getUTCFullYear() < 2050
  return isShort ? printDer(derTags.utcTime, Buffer.from(text.slice(2))) : printDer(derTags.generalizedTime, Buffer.from(text))
}

/** The subject of a certificate. */
export interface SubjectFields {
  /** The common name, if any. */
  readonly commonName?: string | undefined
  readonly organizations: readonly string[]
}

/** A subject's name in DER. */
export function nameOf(fields: SubjectFields): Uint8Array {
  return namesInDer(JSON.stringify(fields))
}

/** Names in DER by subject: each server of a test process uses the same few subjects. */
const namesInDer = boundedMemo(64, (json: string) => {
  const { commonName, organizations }: SubjectFields = JSON.parse(json)
  const attribute = (type: string, text: string) => new AttributeTypeAndValue({ type, value: new AttributeValue({ utf8String: text }) })
  const groups = organizations.map((text) => attribute(attributes.organization, text))
  const names = commonName === undefined ? [] : [attribute(attributes.commonName, commonName)]
  const parts = [groups, names].filter(({ length }) => length > 0)
  return toDer(new Name(parts.map((part) => new RelativeDistinguishedName(part))))
})

/** Host names and addresses, and a URI. */
export function alternativeNames(names: readonly string[], uri?: string): Uint8Array {
  return alternativeNamesInDer(JSON.stringify([names, uri]))
}

/** The extension for alternative names, cached by the names. */
const alternativeNamesInDer = boundedMemo(64, (json: string) => {
  const [names, uri]: [readonly string[], string | null | undefined] = JSON.parse(json)
  const general = names.map((name) => new GeneralName(isIP(name) === 0 ? { dNSName: name } : { iPAddress: name }))
  const identities = uri == null ? [] : [new GeneralName({ uniformResourceIdentifier: uri })]
  return extension(id_ce_subjectAltName, new SubjectAlternativeName([...general, ...identities]))
})

/** The extension for requested names, in DER. It is critical if the certificate has no subject. */
export function requestedNames(names: readonly Uint8Array[], hasSubject: boolean): Uint8Array {
  const value = printDer(derTags.octets, printDer(derTags.sequence, ...names))
  return printDer(derTags.sequence, alternativeNamesType, ...(hasSubject ? [] : [important]), value)
}

export function purposes(...ids: string[]): Uint8Array {
  return purposesInDer(ids.join(' '))
}

/** The extension for extended key usages, cached by their ids. */
const purposesInDer = boundedMemo(8, (ids: string) => extension(id_ce_extKeyUsage, new ExtendedKeyUsage(ids.split(' '))))

/** The extension for key usages. */
export const keyUsage = boundedMemo(8, (flags: number) => extension(id_ce_keyUsage, new KeyUsage(flags), 'critical'))

/** The basic constraints of an authority, or of another certificate. */
export const authorityConstraint = boundedMemo(2, (isAuthority: boolean) =>
  extension(id_ce_basicConstraints, new BasicConstraints({ cA: isAuthority }), 'critical'),
)

/** The extension with the identifier of the certificate's own key. */
export function subjectIdentifier(key: KeyObject): Uint8Array {
  const value = printDer(derTags.octets, identifierOf(keyInfoOf(key)))
  return printDer(derTags.sequence, identifierTypes.subject, printDer(derTags.octets, value))
}

/** The extension with the identifier of the signing key. */
export function authorityIdentifier(identifier: Uint8Array): Uint8Array {
  const value = printDer(derTags.sequence, printDer(derTags.keyIdentifier, identifier))
  return printDer(derTags.sequence, identifierTypes.authority, printDer(derTags.octets, value))
}

function extension(id: string, value: unknown, importance?: 'critical'): Uint8Array {
  const content = new OctetString(AsnConvert.serialize(value))
  return toDer(new Extension({ extnID: id, critical: importance === 'critical', extnValue: content }))
}

/** The public key in DER, for the statement and for the identifier. */
const keyInfoOf = memo((key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' }))

const identifierBytes = 20

/** RFC 5280, 4.2.1.2, method 1: the hash of the key's bits, without the leading byte that counts unused bits. */
function identifierOf(keyInfo: Uint8Array): Uint8Array {
  const bytes = Buffer.from(keyInfo)
  const [, key] = derValues(bytes, expectDer(derValues(bytes, { start: 0, end: bytes.length })[0], derTags.sequence))
  const { start, end } = expectDer(key, derTags.bits)
  return createHash('sha1')
    .update(bytes.subarray(start + 1, end))
    .digest()
}

function toDer(value: unknown): Uint8Array {
  return Buffer.from(AsnConvert.serialize(value))
}
