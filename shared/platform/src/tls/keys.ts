import { generateKeyPair, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'

/** Kinds of keys. A P-256 key takes some microseconds to make and an RSA key up to a tenth of a second, but every client can read RSA. */
export type KeyKind = 'P-256' | 'RSA'

/** A private key and its public half. */
export interface Keys {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

/** The length of an RSA key in bits, as in kubeadm. */
const rsaBits = 2048

const generatePair = promisify(generateKeyPair)

/** Generates a pair of keys, in another thread if that takes long. */
export async function generateKeys(kind: KeyKind = 'P-256'): Promise<Keys> {
  return kind === 'RSA' ? generatePair('rsa', { modulusLength: rsaBits }) : generateKeysNow(kind)
}

/** Generates a pair of keys synchronously. */
export function generateKeysNow(kind: KeyKind): Keys {
  return kind === 'RSA' ? generateKeyPairSync('rsa', { modulusLength: rsaBits }) : generateKeyPairSync('ec', { namedCurve: 'P-256' })
}

/**
 * A private key in PEM, in the form that names its kind: `BEGIN RSA PRIVATE KEY`, `BEGIN EC PRIVATE KEY`. Clients on the JVM take
 * `BEGIN PRIVATE KEY` for RSA, and kube-apiserver does not verify tokens with a P-256 key in that form.
 */
export function printKey(key: KeyObject): string {
  return String(key.export({ type: key.asymmetricKeyType === 'rsa' ? 'pkcs1' : 'sec1', format: 'pem' }))
}
