import { type Part, textOf } from '../validation/part.ts'

/** The error of a CA bundle (base64 of PEM) without a certificate; undefined for a valid or absent bundle. */
export function findCaBundleProblem(config: Part | undefined): string | undefined {
  const bundle = textOf(config, 'caBundle')
  if (bundle === '') return undefined
  const blocks = [...atob(bundle).matchAll(/-----BEGIN CERTIFICATE-----([^-]*)-----END CERTIFICATE-----/g)]
  if (blocks.length === 0) return 'data does not contain any valid RSA or ECDSA certificates'
  return blocks.every(([, text = '']) => isSequence(text)) ? undefined : 'x509: malformed certificate'
}

/** True if base64 contains one DER sequence of the stated length. Its contents are checked when the webhook is called. */
function isSequence(base64: string): boolean {
  const bytes = decode(base64.replace(/\s/g, ''))
  if (bytes.charCodeAt(0) !== 0x30) return false
  const first = bytes.charCodeAt(1)
  if (first < 0x80) return bytes.length === 2 + first
  const count = first & 0x7f
  let length = 0
  for (let at = 0; at < count; at += 1) length = length * 256 + bytes.charCodeAt(2 + at)
  return bytes.length === 2 + count + length
}

function decode(base64: string): string {
  return /^[A-Za-z0-9+/]*={0,2}$/.test(base64) && base64.length % 4 === 0 ? atob(base64) : ''
}
