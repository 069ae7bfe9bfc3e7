import { X509Certificate } from 'node:crypto'
import { splitPem } from './authorities.ts'

/** A way from a certificate to one that is trusted. */
export interface Chain {
  /** When the first of its certificates expires. */
  readonly expiresMs: number
}

/** Certificates between the shown one and a trusted one; nobody needs as many. */
const depthMax = 8

/** The certificates of a text in PEM form. */
export function parseBundle(pem: string): X509Certificate[] {
  return splitPem(pem).map((text) => new X509Certificate(text))
}

/**
 * A way from a certificate to one of the anchors, over certificates that the peer has sent along. TLS has judged the certificate
 * against all authorities together; this tells whose it is, so every signature on the way is checked anew.
 */
export function findChain(options: {
  readonly leaf: X509Certificate
  readonly sent: readonly X509Certificate[]
  readonly anchors: readonly X509Certificate[]
  readonly nowMs: number
}): Chain | undefined {
  const { sent, anchors, nowMs } = options
  let below = options.leaf
  let expiresMs = endOf(below)
  for (let depth = 0; depth < depthMax; depth += 1) {
    if (!isInForce(below, nowMs)) return undefined
    const isSigner = (certificate: X509Certificate) => hasSigned(certificate, below) && isInForce(certificate, nowMs)
    const anchor = anchors.find(isSigner)
    if (anchor !== undefined) return { expiresMs: Math.min(expiresMs, endOf(anchor)) }
    const above = sent.find((certificate) => certificate.fingerprint256 !== below.fingerprint256 && isSigner(certificate))
    if (above === undefined) return undefined
    expiresMs = Math.min(expiresMs, endOf(above))
    below = above
  }
  return undefined
}

function hasSigned(authority: X509Certificate, certificate: X509Certificate): boolean {
  return authority.ca && certificate.checkIssued(authority) && certificate.verify(authority.publicKey)
}

function isInForce(certificate: X509Certificate, nowMs: number): boolean {
  return Date.parse(certificate.validFrom) <= nowMs && nowMs < endOf(certificate)
}

function endOf(certificate: X509Certificate): number {
  return Date.parse(certificate.validTo)
}
