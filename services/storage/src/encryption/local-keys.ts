import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js'
import type { Transformer } from './transformer.ts'

/** A key of the configuration: 16, 24 or 32 bytes, 32 for secretbox. */
export interface LocalKey {
  readonly name: string
  readonly secret: Uint8Array
}

/** The providers with keys in the configuration. */
export type LocalCipher = 'aescbc' | 'aesgcm' | 'secretbox'

const ivBytes = 16
const gcmNonceBytes = 12
const gcmTagBytes = 16
const secretboxNonceBytes = 24

/** Encrypts with one key of the configuration. The layouts are those of kube-apiserver: nonce, then ciphertext, then tag. */
export function localTransformer(cipher: LocalCipher, { name, secret }: LocalKey): Transformer {
  const prefix = `k8s:enc:${cipher}:v1:${name}:`
  switch (cipher) {
    case 'aescbc':
      return { prefix, ...aesCbc(secret) }
    case 'aesgcm':
      return { prefix, seal: (key, plain) => sealGcm(secret, plain, key), open: (key, sealed) => openGcm(secret, sealed, key) }
    case 'secretbox':
      return { prefix, ...secretbox(secret) }
  }
}

function aesCbc(secret: Uint8Array): Pick<Transformer, 'seal' | 'open'> {
  const algorithm = `aes-${secret.length * 8}-cbc`
  return {
    seal(_key, plain) {
      const iv = randomBytes(ivBytes)
      const cipher = createCipheriv(algorithm, secret, iv)
      return Buffer.concat([iv, cipher.update(plain), cipher.final()])
    },
    open(_key, sealed) {
      const decipher = createDecipheriv(algorithm, secret, sealed.subarray(0, ivBytes))
      return Buffer.concat([decipher.update(sealed.subarray(ivBytes)), decipher.final()])
    },
  }
}

/** AES in Galois counter mode. The storage key is authenticated, so that a value cannot be moved to another one. */
export function sealGcm(secret: Uint8Array, plain: Uint8Array, key: string): Uint8Array {
  const nonce = randomBytes(gcmNonceBytes)
  const cipher = createCipheriv(gcmOf(secret), secret, nonce)
  cipher.setAAD(Buffer.from(key))
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** Throws if the bytes, the encryption key or the storage key differ from those of `sealGcm`. */
export function openGcm(secret: Uint8Array, sealed: Uint8Array, key: string): Uint8Array {
  const tagAt = sealed.length - gcmTagBytes
  if (tagAt < gcmNonceBytes) throw new Error('the value is shorter than its nonce and its tag')
  const decipher = createDecipheriv(gcmOf(secret), secret, sealed.subarray(0, gcmNonceBytes))
  decipher.setAAD(Buffer.from(key))
  decipher.setAuthTag(sealed.subarray(tagAt))
  return Buffer.concat([decipher.update(sealed.subarray(gcmNonceBytes, tagAt)), decipher.final()])
}

function gcmOf(secret: Uint8Array): 'aes-128-gcm' | 'aes-192-gcm' | 'aes-256-gcm' {
  if (secret.length === 16) return 'aes-128-gcm'
  return secret.length === 24 ? 'aes-192-gcm' : 'aes-256-gcm'
}

function secretbox(secret: Uint8Array): Pick<Transformer, 'seal' | 'open'> {
  return {
    seal(_key, plain) {
      const nonce = randomBytes(secretboxNonceBytes)
      return Buffer.concat([nonce, xsalsa20poly1305(secret, nonce).encrypt(plain)])
    },
    open: (_key, sealed) => xsalsa20poly1305(secret, sealed.subarray(0, secretboxNonceBytes)).decrypt(sealed.subarray(secretboxNonceBytes)),
  }
}
