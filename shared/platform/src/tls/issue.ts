import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { addressBytes } from './address-bytes.ts'
import type { KeyPair } from './certificates.ts'
import {
  parseTagged,
  printBitString,
  printExplicit,
  printIdentifier,
  printImplicit,
  printInteger,
  printOctetString,
  printSequence,
  printSet,
  printText,
  printTime,
  printTrue,
} from './der.ts'

const dayMs = 86_400_000
/** Clocks of a client may be behind ours by this much. */
const backdatedMs = 5 * 60_000
const authorityLifeMs = 3_650 * dayMs
const certificateLifeMs = 365 * dayMs
const serialNumberBytes = 16

const identifiers = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAlternativeName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  server: '1.3.6.1.5.5.7.3.1',
  client: '1.3.6.1.5.5.7.3.2',
} as const

/** Bits of the key usage, and how many of the byte do not count. */
const keyUsage = {
  /** Digital signature, signing of certificates and of revocation lists. */
  authority: printBitString(Buffer.from([0b1000_0110]), 1),
  /** Digital signature. */
  holder: printBitString(Buffer.from([0b1000_0000]), 7),
}

const signatureAlgorithm = printSequence(printIdentifier(identifiers.ecdsaWithSha256))
const thirdVersion = printExplicit(0, printInteger(Buffer.from([2])))

/** A new certificate authority that signs for itself. */
export function issueAuthority({ commonName, nowMs }: { commonName: string; nowMs: number }): KeyPair {
  const { publicKey, privateKey } = generateKeys()
  const name = printName([], commonName)
  const certificate = signCertificate({
    issuer: name,
    subject: name,
    publicKey,
    signingKey: privateKey,
    notBeforeMs: nowMs - backdatedMs,
    notAfterMs: nowMs + authorityLifeMs,
    extensions: [
      printCritical(identifiers.basicConstraints, printSequence(printTrue())),
      printCritical(identifiers.keyUsage, keyUsage.authority),
      printExtension(identifiers.subjectKeyIdentifier, printOctetString(keyIdentifierOf(publicKey))),
    ],
  })
  return { certificate, key: printKey(privateKey) }
}

/** A certificate for the server under these host names and addresses. */
export function issueServing(options: { authority: KeyPair; commonName: string; names: readonly string[]; nowMs: number }): KeyPair {
  return issue({
    ...options,
    organizations: [],
    extensions: [
      printExtension(identifiers.extendedKeyUsage, printSequence(printIdentifier(identifiers.server))),
      printExtension(identifiers.subjectAlternativeName, printSequence(...options.names.map(printAlternativeName))),
    ],
  })
}

/** A certificate by which the server knows a user: the common name is the user's name, the organizations are the groups. */
export function issueClient(options: { authority: KeyPair; commonName: string; organizations: readonly string[]; nowMs: number }): KeyPair {
  return issue({
    ...options,
    extensions: [printExtension(identifiers.extendedKeyUsage, printSequence(printIdentifier(identifiers.client)))],
  })
}

interface IssueOptions {
  readonly authority: KeyPair
  readonly commonName: string
  readonly organizations: readonly string[]
  readonly extensions: readonly Buffer[]
  readonly nowMs: number
}

function issue({ authority, commonName, organizations, extensions, nowMs }: IssueOptions): KeyPair {
  const issuer = readIssuer(authority)
  const { publicKey, privateKey } = generateKeys()
  const certificate = signCertificate({
    issuer: issuer.name,
    subject: printName(organizations, commonName),
    publicKey,
    signingKey: issuer.key,
    notBeforeMs: nowMs - backdatedMs,
    notAfterMs: Math.min(nowMs + certificateLifeMs, issuer.notAfterMs),
    extensions: [
      printCritical(identifiers.basicConstraints, printSequence()),
      printCritical(identifiers.keyUsage, keyUsage.holder),
      ...(issuer.keyIdentifier === undefined
        ? []
        : [printExtension(identifiers.authorityKeyIdentifier, printSequence(printImplicit(0, issuer.keyIdentifier)))]),
      printExtension(identifiers.subjectKeyIdentifier, printOctetString(keyIdentifierOf(publicKey))),
      ...extensions,
    ],
  })
  return { certificate, key: printKey(privateKey) }
}

interface CertificateContent {
  readonly issuer: Buffer
  readonly subject: Buffer
  readonly publicKey: KeyObject
  readonly signingKey: KeyObject
  readonly notBeforeMs: number
  readonly notAfterMs: number
  readonly extensions: readonly Buffer[]
}

/** A certificate of RFC 5280, as PEM. */
function signCertificate(content: CertificateContent): string {
  const toBeSigned = printSequence(
    thirdVersion,
    printInteger(createSerialNumber()),
    signatureAlgorithm,
    content.issuer,
    printSequence(printTime(content.notBeforeMs), printTime(content.notAfterMs)),
    content.subject,
    content.publicKey.export({ type: 'spki', format: 'der' }),
    printExplicit(3, printSequence(...content.extensions)),
  )
  const signature = sign('sha256', toBeSigned, content.signingKey)
  return printPem(printSequence(toBeSigned, signatureAlgorithm, printBitString(signature)))
}

interface Issuer {
  /** As the authority's certificate has it: clients compare the bytes. */
  readonly name: Buffer
  readonly keyIdentifier: Buffer | undefined
  readonly key: KeyObject
  readonly notAfterMs: number
}

function readIssuer(authority: KeyPair): Issuer {
  const certificate = new X509Certificate(authority.certificate)
  const key = createPrivateKey(authority.key)
  if (key.asymmetricKeyType !== 'ec') throw new Error('the key of the certificate authority is not of an elliptic curve')
  // Version, serial number, algorithm, issuer, validity, subject.
  const fields = parseTagged(parseTagged(parseTagged(certificate.raw)[0]!.content)[0]!.content)
  return { name: fields[5]!.whole, keyIdentifier: keyIdentifierIn(fields), key, notAfterMs: Date.parse(certificate.validTo) }
}

/** What the certificate itself says identifies its key. */
function keyIdentifierIn(fields: ReturnType<typeof parseTagged>): Buffer | undefined {
  const extensions = fields.find(({ tag }) => tag === 0xa3)
  if (extensions === undefined) return undefined
  const wanted = printIdentifier(identifiers.subjectKeyIdentifier)
  for (const { content } of parseTagged(parseTagged(extensions.content)[0]!.content)) {
    const parts = parseTagged(content)
    if (parts[0]?.whole.equals(wanted) === true) return parseTagged(parts.at(-1)!.content)[0]?.content
  }
  return undefined
}

function printName(organizations: readonly string[], commonName: string): Buffer {
  const printPart = (identifier: string, text: string) => printSet(printSequence(printIdentifier(identifier), printText(text)))
  return printSequence(
    ...organizations.map((organization) => printPart(identifiers.organization, organization)),
    printPart(identifiers.commonName, commonName),
  )
}

/** A host name or an address. */
function printAlternativeName(name: string): Buffer {
  return isIP(name) === 0 ? printImplicit(2, Buffer.from(name)) : printImplicit(7, addressBytes(name))
}

function printExtension(identifier: string, value: Buffer): Buffer {
  return printSequence(printIdentifier(identifier), printOctetString(value))
}

/** An extension that whoever does not know it must refuse. */
function printCritical(identifier: string, value: Buffer): Buffer {
  return printSequence(printIdentifier(identifier), printTrue(), printOctetString(value))
}

/** The hash of the key's own bits, as RFC 5280 proposes. */
function keyIdentifierOf(publicKey: KeyObject): Buffer {
  const [info] = parseTagged(publicKey.export({ type: 'spki', format: 'der' }))
  const bits = parseTagged(info!.content)[1]!.content.subarray(1)
  return createHash('sha1').update(bits).digest()
}

/** Positive, and as long as it says. */
function createSerialNumber(): Buffer {
  const bytes = randomBytes(serialNumberBytes)
  bytes.writeUInt8((bytes.readUInt8(0) & 0x7f) | 0x40, 0)
  return bytes
}

function generateKeys(): { publicKey: KeyObject; privateKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
}

function printKey(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }) as string
}

function printPem(certificate: Buffer): string {
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}
