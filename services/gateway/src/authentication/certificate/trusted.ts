import type { X509Certificate } from 'node:crypto'
import { memo } from '@orch/core/memo'
import { knownCertificate } from '@orch/platform'
import { type Authorities, splitPem } from './authorities.ts'

/**
 * OpenSSL's trust settings beside the certificate of an authority (`X509_CERT_AUX`): trusted for client certificates
 * (1.3.6.1.5.5.7.3.2), regardless of its issuer, or rejected for them.
 */
const ofClients = Buffer.from('300c300a06082b06010505070302', 'hex')
const notOfClients = Buffer.from('300ca00a06082b06010505070302', 'hex')

/**
 * The authorities for TLS, PEM. TLS returns one result for a chain and does not show which intermediates the client sent. A verified chain must
 * therefore lead to an authority of users: authorities that are only for proxies are rejected for client certificates, and a chain to them fails with
 * `INVALID_PURPOSE`. Clients receive the names of both, since some send only a certificate of an authority in that list.
 */
export const toTrusted = memo(({ clients, proxies }: Authorities): readonly string[] => {
  const users = parseBundle(clients)
  const known = new Set(users.map(({ fingerprint256 }) => fingerprint256))
  const others = parseBundle(proxies).filter(({ fingerprint256 }) => !known.has(fingerprint256))
  return [...users.map(printOfClients), ...others.map((authority) => print(authority, notOfClients))]
})

/** The certificates of a text in PEM form. */
export function parseBundle(pem: string): X509Certificate[] {
  return splitPem(pem).map(knownCertificate)
}

/** TLS decides if a certificate without the CA mark may sign: only old roots may. */
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
