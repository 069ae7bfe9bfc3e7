import { generateKeyPair, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'

/** Kinds of keys: one of P-256 takes a millisecond to make, one of RSA up to a tenth of a second, but every client reads it. */
export type KeyKind = 'P-256' | 'RSA'

/** A private key and its public half. */
export interface Keys {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

/** Bits of an RSA key, as kubeadm has them. */
const rsaBits = 2048

const generatePair = promisify(generateKeyPair)

/** A new pair of keys. */
export function generateKeys(kind: KeyKind = 'P-256'): Promise<Keys> {
  return kind === 'RSA' ? generatePair('rsa', { modulusLength: rsaBits }) : generatePair('ec', { namedCurve: 'P-256' })
}

/** A new pair of keys, for which the caller waits. */
export function generateKeysNow(kind: KeyKind): Keys {
  return kind === 'RSA' ? generateKeyPairSync('rsa', { modulusLength: rsaBits }) : generateKeyPairSync('ec', { namedCurve: 'P-256' })
}

/**
 * A private key in PEM, in the form that names its kind: `BEGIN RSA PRIVATE KEY`, `BEGIN EC PRIVATE KEY`. Clients of the JVM take
 * `BEGIN PRIVATE KEY` for RSA, and kube-apiserver does not verify tokens with a key of P-256 in that form.
 */
export function printKey(key: KeyObject): string {
  return String(key.export({ type: key.asymmetricKeyType === 'rsa' ? 'pkcs1' : 'sec1', format: 'pem' }))
}
