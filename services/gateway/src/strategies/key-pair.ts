import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto'
import { pemBlocks } from '@orch/platform'

/** The reason why Go's TLS refuses a certificate and its key, both in PEM; undefined if it accepts them. */
export function findPairProblem(certificatePem: string, keyPem: string): string | undefined {
  const certificate = pick(certificatePem, (type) => type === 'CERTIFICATE')
  if ('passed' in certificate) return noCertificate(certificate.passed)
  const key = pick(keyPem, (type) => type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY'))
  if ('passed' in key) return noKey(key.passed)
  const publicKey = readOr(() => new X509Certificate(certificate.bytes).publicKey)
  if (publicKey === undefined) return 'x509: malformed certificate'
  const privateKey = readOr(() => createPrivateKey(pemOf(key)))
  if (privateKey === undefined) return 'tls: failed to parse private key'
  return findMismatch(publicKey, privateKey)
}

interface Block {
  readonly type: string
  readonly bytes: Buffer
}

/** The first block of a type, or the types of other blocks. */
function pick(pem: string, isWanted: (type: string) => boolean): Block | { readonly passed: readonly string[] } {
  const blocks = pemBlocks(pem)
  return blocks.find(({ type }) => isWanted(type)) ?? { passed: blocks.map(({ type }) => type) }
}

function noCertificate(passed: readonly string[]): string {
  if (passed.length === 0) return 'tls: failed to find any PEM data in certificate input'
  if (passed.length === 1 && passed[0]?.endsWith('PRIVATE KEY')) {
    return 'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched'
  }
  return `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [${passed.join(' ')}]`
}

function noKey(passed: readonly string[]): string {
  if (passed.length === 0) return 'tls: failed to find any PEM data in key input'
  if (passed.length === 1 && passed[0] === 'CERTIFICATE') return 'tls: found a certificate rather than a key in the PEM for the private key'
  const types = `[${passed.join(' ')}]`
  return `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: ${types}`
}

function pemOf({ type, bytes }: Block): string {
  return `-----BEGIN ${type}-----\n${bytes.toString('base64')}\n-----END ${type}-----\n`
}

function findMismatch(publicKey: KeyObject, privateKey: KeyObject): string | undefined {
  if (publicKey.asymmetricKeyType !== privateKey.asymmetricKeyType) return 'tls: private key type does not match public key type'
  return createPublicKey(privateKey).equals(publicKey) ? undefined : 'tls: private key does not match public key'
}

function readOr<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
