import { X509Certificate } from 'node:crypto'
import { splitPem } from './authorities.ts'

/** The certificates of a text in PEM form. */
export function parseBundle(pem: string): X509Certificate[] {
  return splitPem(pem).map((text) => new X509Certificate(text))
}

/**
 * The authority of a bundle that signed a certificate. Both must be within their validity period. The signature is verified, since
 * two authorities may have the same name.
 */
export function signerIn(bundle: readonly X509Certificate[], certificate: X509Certificate, nowMs: number): X509Certificate | undefined {
  if (!isInForce(certificate, nowMs)) return undefined
  return bundle.find((authority) => hasSigned(authority, certificate) && isInForce(authority, nowMs))
}

/** When a certificate expires. */
export function endOf(certificate: X509Certificate): number {
  return Date.parse(certificate.validTo)
}

function hasSigned(authority: X509Certificate, certificate: X509Certificate): boolean {
  return authority.ca && certificate.checkIssued(authority) && certificate.verify(authority.publicKey)
}

function isInForce(certificate: X509Certificate, nowMs: number): boolean {
  return Date.parse(certificate.validFrom) <= nowMs && nowMs < endOf(certificate)
}
