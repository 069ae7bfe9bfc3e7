import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** 256 random bits as text for a URL or a cookie. They do not come from `Chance`, whose seed could be guessed. */
export function drawSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Key under which a secret is stored: the server's memory contains no usable secret. */
export function keyOfSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url')
}

/** True if a secret has this key; takes constant time for every other secret. */
export function hasKey(secret: string, key: string): boolean {
  return timingSafeEqual(Buffer.from(keyOfSecret(secret)), Buffer.from(key))
}
