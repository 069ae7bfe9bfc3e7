import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { printKey } from './tls/keys.ts'

/** The algorithms of signatures. */
type SigningAlgorithm = 'RS256' | 'ES256' | 'ES384' | 'ES512'

/** A key that verifies signatures. */
export interface VerificationKey {
  /** Hash of the public key, for the header of a token. */
  readonly id: string
  readonly algorithm: SigningAlgorithm
  readonly publicKey: KeyObject
}

export interface SigningKey extends VerificationKey {
  readonly privateKey: KeyObject
}

/** Minimum accepted length of an RSA key in bits; shorter keys can be broken. */
const rsaBitsMin = 2048

/** All keys of a PEM text, private or public, RSA or ECDSA. Its errors contain none of the text. */
export function parseVerificationKeys(pem: string): VerificationKey[] {
  const blocks = pem.match(/-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----/g) ?? []
  const keys = blocks.filter((block) => !block.startsWith('-----BEGIN EC PARAMETERS')).map(parseBlock)
  if (keys.length === 0) throw new Error('it holds no key in PEM form')
  return keys
}

/** The single private key of a PEM text. */
export function parseSigningKey(pem: string): SigningKey {
  let privateKey: KeyObject
  try {
    privateKey = createPrivateKey(pem)
  } catch {
    throw new Error('it holds no private key in PEM form')
  }
  return { ...toVerificationKey(createPublicKey(privateKey)), privateKey }
}

/** A key in a PEM form with which kube-apiserver can also verify. */
export function printSigningKey({ privateKey }: SigningKey): string {
  return printKey(privateKey)
}

/** Generates a key in PEM form. */
export function generateSigningKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return printKey(privateKey)
}

function parseBlock(block: string): VerificationKey {
  let key: KeyObject
  try {
    key = createPublicKey(block)
  } catch {
    throw new Error('it holds something other than RSA and ECDSA keys')
  }
  return toVerificationKey(key)
}

function toVerificationKey(publicKey: KeyObject): VerificationKey {
  const algorithm = algorithmOf(publicKey)
  const id = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url')
  return { id, algorithm, publicKey }
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): SigningAlgorithm {
  if (asymmetricKeyType === 'rsa') {
    if ((asymmetricKeyDetails?.modulusLength ?? 0) < rsaBitsMin) throw new Error(`it holds an RSA key of less than ${rsaBitsMin} bits`)
    return 'RS256'
  }
  switch (asymmetricKeyType === 'ec' ? asymmetricKeyDetails?.namedCurve : undefined) {
    case 'prime256v1':
      return 'ES256'
    case 'secp384r1':
      return 'ES384'
    case 'secp521r1':
      return 'ES512'
    default:
      throw new Error('it holds a key that is neither RSA nor ECDSA on P-256, P-384 or P-521')
  }
}
