import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { SettingsError } from '@orch/platform'
import type { ServingOptions } from './settings.ts'

export interface ServingTrustOptions {
  readonly serving: Pick<ServingOptions, 'servingPair' | 'servingFiles'>
  /** PEM of this folder's authority, which signs the served certificate if no files are given. */
  readonly ownAuthority: string
  /** `https://127.0.0.1:6443`. */
  readonly url: string
}

/**
 * The authority that clients trust for the served certificate: the end of its chain, as far as the file and the folder's authority contain it.
 * Without an authority it is the certificate itself.
 *
 *   leaf, intermediate, root → root        leaf signed by the own authority → that        leaf alone → leaf
 */
export function toServingTrust({ serving, ownAuthority, url }: ServingTrustOptions) {
  const { servingPair, servingFiles } = serving
  if (servingPair === undefined) return { authority: ownAuthority, isWholeChain: true, serverName: undefined }
  const [leaf, ...others] = parseCertificates(servingPair.certificate)
  if (leaf === undefined)
    throw new SettingsError(`--tls-cert-file=${servingFiles?.certificateFile}: the file holds no certificate in PEM form`)
  const anchor = endOfChain(leaf, [...others, ...parseCertificates(ownAuthority)])
  return {
    /** PEM of the certificate that the client must trust. */
    authority: anchor.toString(),
    /** True if `authority` is self-signed. Otherwise clients that require a chain to a self-signed certificate refuse the server. */
    isWholeChain: isIssuer(anchor, anchor),
    /** The name to verify the certificate against; undefined if the certificate contains the host of the URL. */
    serverName: serverNameFor(leaf, new URL(url).hostname.replace(/^\[|\]$/g, ''), servingFiles?.certificateFile ?? ''),
  }
}

function parseCertificates(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return blocks.map((block) => new X509Certificate(block))
}

function endOfChain(leaf: X509Certificate, others: readonly X509Certificate[]): X509Certificate {
  let end = leaf
  const left = new Set(others)
  while (!isIssuer(end, end)) {
    const issuer = [...left].find((other) => isIssuer(other, end))
    if (issuer === undefined) return end
    left.delete(issuer)
    end = issuer
  }
  return end
}

function isIssuer(issuer: X509Certificate, certificate: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)
}

/** The first name that a client may verify, if the certificate does not contain the host. */
function serverNameFor(certificate: X509Certificate, host: string, file: string): string | undefined {
  if (isIP(host) === 0 ? certificate.checkHost(host) !== undefined : certificate.checkIP(host) !== undefined) return undefined
  const entries = (certificate.subjectAltName ?? '').split(', ')
  const named = (kind: string) => entries.flatMap((entry) => (entry.startsWith(kind) ? [entry.slice(kind.length)] : []))
  const names = [...named('DNS:'), ...named('IP Address:')]
  const name = names.find((one) => !one.startsWith('*')) ?? names[0]?.replace('*', 'orch')
  if (name !== undefined) return name
  throw new SettingsError(
    `--tls-cert-file=${file}: the certificate has no subjectAltName, without which clients refuse it: add the names and addresses of the server`,
  )
}
