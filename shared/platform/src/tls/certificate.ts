import { createHash, createPrivateKey, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { AsnConvert, OctetString } from '@peculiar/asn1-schema'
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  KeyUsage,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509'

/** ecdsa-with-SHA256. */
const signatureAlgorithm = '1.2.840.10045.4.3.2'
const attributes = { commonName: '2.5.4.3', organization: '2.5.4.10' }
const serialBytes = 16

/** Parses a certificate in PEM. */
export function readCertificate(pem: string): TBSCertificate {
  return AsnConvert.parse(new X509Certificate(pem).raw, Certificate).tbsCertificate
}

/** A key in PEM by which certificates are signed; throws for one of another curve. */
export function readSigningKey(pem: string): KeyObject {
  const key = createPrivateKey(pem)
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') {
    throw new Error('the key of the certificate authority is not one of the curve P-256')
  }
  return key
}

/** The contents of a certificate. */
export interface Statement {
  readonly issuer: Name
  readonly subject: Name
  readonly publicKey: KeyObject
  /** Wall clock. */
  readonly validity: { readonly notBefore: number; readonly notAfter: number }
  readonly extensions: readonly Extension[]
}

/** The certificate of a statement, signed by a key of the curve P-256; PEM. */
export function signCertificate({ issuer, subject, publicKey, validity, extensions }: Statement, key: KeyObject): string {
  const algorithm = new AlgorithmIdentifier({ algorithm: signatureAlgorithm })
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    serialNumber: toArrayBuffer(serialNumber()),
    signature: algorithm,
    issuer,
    subject,
    validity: new Validity({ notBefore: new Date(validity.notBefore), notAfter: new Date(validity.notAfter) }),
    subjectPublicKeyInfo: keyInfoOf(publicKey),
    extensions: new Extensions([...extensions]),
  })
  const signatureValue = sign('sha256', Buffer.from(AsnConvert.serialize(tbsCertificate)), key)
  const certificate = new Certificate({ tbsCertificate, signatureAlgorithm: algorithm, signatureValue: toArrayBuffer(signatureValue) })
  const lines =
    Buffer.from(AsnConvert.serialize(certificate))
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}

/** A positive number. */
function serialNumber(): Buffer {
  const bytes = randomBytes(serialBytes)
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40
  return bytes
}

/** Whom a certificate names. */
export interface SubjectFields {
  /** Absent: none. */
  readonly commonName?: string | undefined
  readonly organizations: readonly string[]
}

/** The name of a subject. */
export function nameOf({ commonName, organizations }: SubjectFields): Name {
  const attribute = (type: string, text: string) => new AttributeTypeAndValue({ type, value: new AttributeValue({ utf8String: text }) })
  const groups = organizations.map((text) => attribute(attributes.organization, text))
  const names = commonName === undefined ? [] : [attribute(attributes.commonName, commonName)]
  return new Name([groups, names].filter(({ length }) => length > 0).map((part) => new RelativeDistinguishedName(part)))
}

export function alternativeName(value: string): GeneralName {
  return new GeneralName(isIP(value) === 0 ? { dNSName: value } : { iPAddress: value })
}

export function alternativeNames(names: GeneralName[]): Extension {
  return extension(id_ce_subjectAltName, new SubjectAlternativeName(names))
}

export function purposes(...ids: string[]): Extension {
  return extension(id_ce_extKeyUsage, new ExtendedKeyUsage(ids))
}

export function keyUsage(flags: number): Extension {
  return extension(id_ce_keyUsage, new KeyUsage(flags), 'critical')
}

export function extension(id: string, value: unknown, importance?: 'critical'): Extension {
  return new Extension({ extnID: id, critical: importance === 'critical', extnValue: new OctetString(AsnConvert.serialize(value)) })
}

export function keyInfoOf(key: KeyObject): SubjectPublicKeyInfo {
  return AsnConvert.parse(key.export({ type: 'spki', format: 'der' }), SubjectPublicKeyInfo)
}

/** RFC 5280, 4.2.1.2, method 1. */
export function identifierOf({ subjectPublicKey }: SubjectPublicKeyInfo): ArrayBuffer {
  return toArrayBuffer(createHash('sha1').update(Buffer.from(subjectPublicKey)).digest())
}

export function identifierOfIssuer({ extensions, subjectPublicKeyInfo }: TBSCertificate): ArrayBuffer {
  const own = extensions?.find(({ extnID }) => extnID === id_ce_subjectKeyIdentifier)
  return own === undefined ? identifierOf(subjectPublicKeyInfo) : AsnConvert.parse(own.extnValue.buffer, SubjectKeyIdentifier).buffer
}

function toArrayBuffer(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer
}
