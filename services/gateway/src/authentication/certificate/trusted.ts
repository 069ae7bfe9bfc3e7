import { X509Certificate } from 'node:crypto'
import { type Authorities, splitPem } from './authorities.ts'

/**
 * What OpenSSL takes beside the certificate of an authority (its `X509_CERT_AUX`): to trust it for certificates of clients
 * (1.3.6.1.5.5.7.3.2), whoever has signed it, or not to.
 */
const ofClients = Buffer.from('300c300a06082b06010505070302', 'hex')
const notOfClients = Buffer.from('300ca00a06082b06010505070302', 'hex')

/**
 * The authorities as TLS is told of them, PEM. TLS has one word for a chain, and does not show which authorities were sent along; so
 * that its yes means an authority of users, those that are of proxies alone are named as such: their chains are as good, but for
 * another purpose. Clients are told of both, as some show only a certificate of an authority that they were told of.
 */
export function toTrusted({ clients, proxies }: Authorities): string[] {
  const users = readAll(clients)
  const known = new Set(users.map(({ fingerprint256 }) => fingerprint256))
  const others = readAll(proxies).filter(({ fingerprint256 }) => !known.has(fingerprint256))
  return [...users.map((authority) => print(authority, ofClients)), ...others.map((authority) => print(authority, notOfClients))]
}

/** Only what may sign can be an authority. */
function readAll(pem: string): X509Certificate[] {
  return splitPem(pem)
    .map((text) => new X509Certificate(text))
    .filter(({ ca }) => ca)
}

function print({ raw }: X509Certificate, purpose: Buffer): string {
  const lines =
    Buffer.concat([raw, purpose])
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return ['-----BEGIN TRUSTED CERTIFICATE-----', ...lines, '-----END TRUSTED CERTIFICATE-----', ''].join('\n')
}
