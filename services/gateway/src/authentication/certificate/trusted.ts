import { X509Certificate } from 'node:crypto'
import { type Authorities, splitPem } from './authorities.ts'

/**
 * What OpenSSL takes beside the certificate of an authority (its `X509_CERT_AUX`): to trust it for certificates of clients
 * (1.3.6.1.5.5.7.3.2), regardless of the issuer, or not to.
 */
const ofClients = Buffer.from('300c300a06082b06010505070302', 'hex')
const notOfClients = Buffer.from('300ca00a06082b06010505070302', 'hex')

/**
 * The authorities that TLS receives, PEM. TLS gives one verdict for a chain, and does not show which authorities were sent along; so
 * that its yes means an authority of users, those that are of proxies alone are named as such: their chains are as good, but for
 * another purpose. Clients are sent the names of both, as some show only a certificate of an authority in that list.
 */
export function toTrusted({ clients, proxies }: Authorities): string[] {
  const users = readAll(clients)
  const known = new Set(users.map(({ fingerprint256 }) => fingerprint256))
  const others = readAll(proxies).filter(({ fingerprint256 }) => !known.has(fingerprint256))
  return [...users.map(printOfClients), ...others.map((authority) => print(authority, notOfClients))]
}

function readAll(pem: string): X509Certificate[] {
  return splitPem(pem).map((text) => new X509Certificate(text))
}

/** Whether a certificate that is not marked as an authority may sign is decided by TLS: only old roots may. */
function printOfClients(authority: X509Certificate): string {
  return authority.ca ? print(authority, ofClients) : authority.toString()
}

function print({ raw }: X509Certificate, purpose: Buffer): string {
  const lines =
    Buffer.concat([raw, purpose])
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return ['-----BEGIN TRUSTED CERTIFICATE-----', ...lines, '-----END TRUSTED CERTIFICATE-----', ''].join('\n')
}
