import { constants, createPublicKey, type KeyObject, verify, X509Certificate } from 'node:crypto'
import { DerError, type DerValue, derTags, derValues, expectDer, type PemBlock, pemBlocks } from '@orch/platform'

/** A signature scheme: the type of key, and the digest. */
interface Signing {
  readonly keyType: string
  /** The algorithm's name in Go. */
  readonly shown: string
  readonly hash: string | undefined
  readonly isPss?: true
}

const rsa = '2a864886f70d0101'
const ecdsa = '2a8648ce3d04'
const pss = `${rsa}0a`
const md5 = `${rsa}04`
/** By the encoded object identifier of the algorithm. */
const signings: Readonly<Record<string, Signing>> = {
  [`${rsa}05`]: { keyType: 'rsa', shown: 'RSA', hash: 'sha1' },
  [`${rsa}0b`]: { keyType: 'rsa', shown: 'RSA', hash: 'sha256' },
  [`${rsa}0c`]: { keyType: 'rsa', shown: 'RSA', hash: 'sha384' },
  [`${rsa}0d`]: { keyType: 'rsa', shown: 'RSA', hash: 'sha512' },
  [`${ecdsa}01`]: { keyType: 'ec', shown: 'ECDSA', hash: 'sha1' },
  [`${ecdsa}0302`]: { keyType: 'ec', shown: 'ECDSA', hash: 'sha256' },
  [`${ecdsa}0303`]: { keyType: 'ec', shown: 'ECDSA', hash: 'sha384' },
  [`${ecdsa}0304`]: { keyType: 'ec', shown: 'ECDSA', hash: 'sha512' },
  '2b6570': { keyType: 'ed25519', shown: 'Ed25519', hash: undefined },
}
/** The last byte of the identifiers of the three supported hashes of RSASSA-PSS. */
const pssHashes: Readonly<Record<string, string>> = {
  '608648016503040201': 'sha256',
  '608648016503040202': 'sha384',
  '608648016503040203': 'sha512',
}
const goKeyTypes: Readonly<Record<string, string>> = { rsa: '*rsa.PublicKey', ec: '*ecdsa.PublicKey', ed25519: 'ed25519.PublicKey' }
const curves: ReadonlySet<string | undefined> = new Set(['secp224r1', 'prime256v1', 'secp384r1', 'secp521r1'])
const failures: Readonly<Record<string, string>> = {
  rsa: 'crypto/rsa: verification error',
  ec: 'x509: ECDSA verification failure',
  ed25519: 'x509: Ed25519 verification failure',
}

/** The error of a PKCS #10 request in PEM, including its signature. */
export function findRequestProblem(pem: string): string | undefined {
  const [block] = pemBlocks(pem)
  if (block?.type !== 'CERTIFICATE REQUEST') return 'PEM block type must be CERTIFICATE REQUEST'
  try {
    const request = parseRequest(block.bytes)
    return typeof request === 'string' ? request : findRequestSignatureProblem(request)
  } catch (error) {
    if (error instanceof DerError) return `asn1: structure error: ${error.message}`
    throw error
  }
}

/** The error of issued certificates in PEM. */
export function findCertificatesProblem(pem: string): string | undefined {
  const blocks = pemBlocks(pem)
  for (const { type, hasHeaders, bytes } of blocks) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`
    if (hasHeaders) return 'no PEM block headers are permitted'
    const problem = findContentProblem(bytes)
    if (problem !== undefined) return problem
  }
  return blocks.length === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined
}

/** Maximum reported problems of a bundle; the rest is not parsed. */
const authorityProblemsMax = 100

/** The first hundred errors of the authorities of a bundle in PEM. Text around blocks is allowed. */
export function findAuthoritiesProblems(pem: string): string[] {
  const places = new Map<string, number[]>()
  const problems: string[] = []
  for (const [index, block] of pemBlocks(pem).entries()) {
    const content = block.bytes.toString('latin1')
    const known = places.get(content)
    // A parsed certificate is not parsed again.
    const problem = findBlockProblem(block) ?? (known === undefined ? findAuthorityProblem(block.bytes) : undefined)
    if (problem !== undefined) problems.push(`entry ${index} ${problem}`)
    else if (known === undefined) places.set(content, [index])
    else known.push(index)
    if (problems.length === authorityProblemsMax) break
  }
  if (problems.length > 0) return problems
  if (places.size === 0) return ['at least one trust anchor must be provided']
  return [...places.values()].filter(({ length }) => length > 1).map((given) => `duplicate trust anchor (indices [${given.join(' ')}])`)
}

function findBlockProblem({ type, hasHeaders }: PemBlock): string | undefined {
  if (type !== 'CERTIFICATE') return `has bad block type: ${type}`
  return hasHeaders ? 'has PEM block headers' : undefined
}

function findAuthorityProblem(bytes: Buffer): string | undefined {
  try {
    const [certificate, ...more] = derValues(bytes, { start: 0, end: bytes.length })
    expectDer(certificate, derTags.sequence)
    if (more.length === 0) return new X509Certificate(bytes).ca ? undefined : 'does not have the CA bit set'
  } catch {
    // Reported like bytes after a certificate.
  }
  return 'does not parse as X.509'
}

/** The error of a value, and the value in the message; undefined if it is omitted. */
interface Problem {
  readonly shown?: string
  readonly detail: string
}

/** The error of the DER of a request whose key is needed. */
export function findStubProblem(der: Buffer): Problem | undefined {
  let request: CertificateRequest | string
  try {
    request = parseRequest(der)
  } catch (error) {
    if (!(error instanceof DerError)) throw error
    request = error.message
  }
  if (typeof request === 'string') return { detail: 'must be a valid PKCS#10 CSR' }
  return (
    findKeyProblem(request.publicKey) ?? (findRequestSignatureProblem(request) === undefined ? undefined : { detail: 'invalid signature' })
  )
}

/** The key in PKIX DER; undefined for invalid bytes. */
export function readPublicKey(der: Buffer): KeyObject | undefined {
  const key = readKey(der)
  return typeof key === 'string' ? undefined : key
}

/** The problem of a proof, not of the key. */
export const badProof = 'could not verify proof-of-possession signature'

/** The error of the key of a Pod, or of its signature of a text. */
export function findProofProblem(key: KeyObject, proof: Buffer, text: string): Problem | undefined {
  const problem = findKeyProblem(key, 'elliptic public keys must use curve P256 or P384')
  if (problem !== undefined) return problem
  const type = key.asymmetricKeyType
  const padding = type === 'rsa' ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO } : {}
  const hash = type === 'ed25519' ? undefined : 'sha256'
  return isSignedBy(hash, Buffer.from(text), { key, ...padding }, proof) ? undefined : { detail: badProof }
}

const podCurves: ReadonlySet<string | undefined> = new Set(['prime256v1', 'secp384r1', 'secp521r1'])

function findKeyProblem(
  { asymmetricKeyType: type, asymmetricKeyDetails: { namedCurve, modulusLength } = {} }: KeyObject,
  otherCurve = 'elliptic public keys must use curve P256, P384, or P521',
): Problem | undefined {
  switch (type) {
    case 'ed25519':
      return undefined
    case 'ec':
      if (podCurves.has(namedCurve)) return undefined
      return { shown: 'curve P-224', detail: otherCurve }
    case 'rsa':
      if (modulusLength === 3072 || modulusLength === 4096) return undefined
      return { shown: `${modulusLength}-bit modulus`, detail: 'RSA keys must have modulus size 3072 or 4096' }
    default:
      return { detail: 'unknown public key type; supported types are Ed25519, ECDSA, and RSA' }
  }
}

/** The key of a stored request. */
export function keyOfRequest(der: Buffer): KeyObject | undefined {
  const request = parseRequest(der)
  return typeof request === 'string' ? undefined : request.publicKey
}

function findContentProblem(bytes: Buffer): string | undefined {
  try {
    const certificates = derValues(bytes, { start: 0, end: bytes.length })
    for (const certificate of certificates) {
      expectDer(certificate, derTags.sequence)
      void new X509Certificate(bytes.subarray(certificate.from, certificate.end))
    }
    return certificates.length === 0 ? 'found CERTIFICATE PEM block containing 0 certificates' : undefined
  } catch {
    return 'x509: malformed certificate'
  }
}

interface CertificateRequest {
  readonly publicKey: KeyObject
  /** The algorithm of the signature, or the reason why it is unsupported. */
  readonly signing: Signing | string
  readonly signed: Buffer
  readonly signature: Buffer
}

/** The parts of a request in DER, or the error of its key. Throws a DerError for invalid DER. */
function parseRequest(bytes: Buffer): CertificateRequest | string {
  const [request, ...more] = derValues(bytes, { start: 0, end: bytes.length })
  if (more.length > 0) throw new DerError('trailing data')
  const [information, algorithm, bits] = derValues(bytes, expectDer(request, derTags.sequence))
  const [version, subject, key] = derValues(bytes, expectDer(information, derTags.sequence))
  expectDer(version, derTags.integer)
  readSubject(bytes, expectDer(subject, derTags.sequence))
  const { from, end } = expectDer(key, derTags.sequence)
  const publicKey = readKey(bytes.subarray(from, end))
  if (typeof publicKey === 'string') return publicKey
  const signing = readSigning(bytes, expectDer(algorithm, derTags.sequence))
  const signature = expectDer(bits, derTags.bits)
  // A bit string begins with the number of its unused bits.
  if (bytes[signature.start] !== 0) throw new DerError('a signature is whole bytes')
  const signed = expectDer(information, derTags.sequence)
  return {
    signing,
    publicKey,
    signed: bytes.subarray(signed.from, signed.end),
    signature: bytes.subarray(signature.start + 1, signature.end),
  }
}

function findRequestSignatureProblem({ signing, ...signed }: CertificateRequest): string | undefined {
  return typeof signing === 'string' ? signing : verifySignature({ signing, ...signed })
}

function readSubject(bytes: Buffer, subject: DerValue): void {
  for (const names of derValues(bytes, subject)) {
    for (const attribute of derValues(bytes, expectDer(names, derTags.set))) {
      const [type, value] = derValues(bytes, expectDer(attribute, derTags.sequence))
      expectDer(type, derTags.objectIdentifier)
      if (value === undefined) throw new DerError('the subject has an attribute without a value')
    }
  }
}

/** The key, or its error. */
function readKey(der: Buffer): KeyObject | string {
  let key: KeyObject
  try {
    key = createPublicKey({ key: der, format: 'der', type: 'spki' })
  } catch {
    return 'x509: malformed public key'
  }
  const isOtherCurve = key.asymmetricKeyType === 'ec' && !curves.has(key.asymmetricKeyDetails?.namedCurve)
  return isOtherCurve ? 'x509: unsupported elliptic curve' : key
}

/** The algorithm, or the reason why it is unsupported. */
function readSigning(bytes: Buffer, algorithm: DerValue): Signing | string {
  const [identifier, parameters] = derValues(bytes, algorithm)
  const { start, end } = expectDer(identifier, derTags.objectIdentifier)
  const id = bytes.toString('hex', start, end)
  if (id === md5) return 'x509: cannot verify signature: insecure algorithm MD5-RSA'
  const hash = id === pss ? readPssHash(bytes, expectDer(parameters, derTags.sequence)) : undefined
  const signing: Signing | undefined = hash === undefined ? signings[id] : { keyType: 'rsa', shown: 'RSA', hash, isPss: true }
  return signing ?? 'x509: cannot verify signature: algorithm unimplemented'
}

function readPssHash(bytes: Buffer, parameters: DerValue): string | undefined {
  const [first] = derValues(bytes, parameters)
  if (first?.tag !== 0xa0) return undefined
  const [algorithm] = derValues(bytes, first)
  const [identifier] = derValues(bytes, expectDer(algorithm, derTags.sequence))
  const { start, end } = expectDer(identifier, derTags.objectIdentifier)
  return pssHashes[bytes.toString('hex', start, end)]
}

interface Signed {
  readonly signing: Signing
  readonly publicKey: KeyObject
  readonly signed: Buffer
  readonly signature: Buffer
}

function verifySignature({ signing: { keyType, shown, hash, isPss }, publicKey, signed, signature }: Signed): string | undefined {
  const given = publicKey.asymmetricKeyType ?? ''
  if (given !== keyType) {
    const type = goKeyTypes[given] ?? given
    return `x509: signature algorithm specifies an ${shown} public key, but have public key of type ${type}`
  }
  const padding = isPss ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST } : {}
  return isSignedBy(hash, signed, { key: publicKey, ...padding }, signature) ? undefined : failures[keyType]
}

/** OpenSSL refuses some keys and signatures with an error. */
function isSignedBy(hash: string | undefined, signed: Buffer, key: Parameters<typeof verify>[2], signature: Buffer): boolean {
  try {
    return verify(hash, signed, key, signature)
  } catch {
    return false
  }
}
