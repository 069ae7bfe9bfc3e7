import { createPrivateKey, type X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { Clock } from '../clock.ts'
import type { CertificateRequest } from './certificate-request.ts'
import type { Issuance, RequestTerms } from './issue.ts'
import type { KeyPair } from './key-pair.ts'
import type { KeyKind, Keys } from './keys.ts'
import { knownCertificate } from './known-certificate.ts'

/** Stores certificates between starts. */
export interface CertificateFiles {
  read(name: string): string | undefined
  write(name: string, text: string): void
}

export interface CertificateOptions {
  readonly files: CertificateFiles
  /** The prefix of the common names: `<product>-ca`, `<product>-admin`. */
  readonly product: string
  /** Host names and addresses under which the server is reachable. */
  readonly names: readonly string[]
  /** The kind of the administrator's key. Default: `P-256`. A stored key of another kind is replaced. */
  readonly adminKey?: KeyKind
  readonly clock: Clock
}

/** The certificates of a server and its administrator. */
export interface Certificates {
  readonly authority: string
  readonly serving: KeyPair
  readonly admin: KeyPair
  /** The certificates that were made at this start. */
  readonly issued: readonly ('ca' | 'serving' | 'admin')[]
}

/** With a clock that a test moves, certificates are valid at all times, because TLS clients verify them by their own time. */
function issuanceAt(clock: Clock): Issuance {
  return { nowMs: clock.now(), isTimeless: clock.isVirtual }
}

/** The group whose members have all permissions. */
const administratorsGroup = 'system:masters'

/**
 * Reads or makes the certificates of a server. A stored certificate is replaced if it does not fit its key or authority,
 * lacks a name, or has less than a third of its life left.
 */
export async function readCertificates({ files, product, names, adminKey = 'P-256', clock }: CertificateOptions): Promise<Certificates> {
  const issuance = issuanceAt(clock)
  const { nowMs } = issuance
  const issued: ('ca' | 'serving' | 'admin')[] = []
  const keep = async (name: 'ca' | 'serving' | 'admin', isGood: (pair: KeyPair) => boolean, make: () => Promise<KeyPair>) => {
    const kept = readPair(files, name)
    if (kept !== undefined && isGood(kept)) return kept
    const made = await make()
    files.write(`${name}.key`, made.key)
    files.write(`${name}.crt`, made.certificate)
    issued.push(name)
    return made
  }
  const authority = await keep(
    'ca',
    (pair) => isFresh(pair, nowMs),
    async () => (await import('./issue.ts')).issueAuthority({ commonName: `${product}-ca`, ...issuance }),
  )
  const isSigned = (pair: KeyPair) => isFresh(pair, nowMs) && isSignedBy(pair, authority)
  const serving = await keep(
    'serving',
    (pair) => isSigned(pair) && coversNames(pair, names),
    async () => (await import('./issue.ts')).issueServing({ authority, commonName: `${product}-apiserver`, names, ...issuance }),
  )
  const isReadable = ({ key }: KeyPair) => adminKey !== 'RSA' || key.startsWith('-----BEGIN RSA PRIVATE KEY')
  const isGoodAdmin = (pair: KeyPair) => isSigned(pair) && isReadable(pair)
  const admin = await keep('admin', isGoodAdmin, async () =>
    (await import('./issue.ts')).issueClient({
      authority,
      ...administratorOf(product),
      ...issuance,
      keyKind: adminKey,
    }),
  )
  return { authority: authority.certificate, serving, admin, issued }
}

/** The user and the groups of a client certificate. */
export interface ClientSubject {
  readonly commonName: string
  readonly organizations: readonly string[]
}

/** The subject of the administrator's certificate. */
export function administratorOf(product: string): ClientSubject {
  return { commonName: `${product}-admin`, organizations: [administratorsGroup] }
}

/** Makes client certificates for keys that the caller provides. */
export type ClientIssuer = (subject: ClientSubject, keys: Keys) => KeyPair

/**
 * Makes client certificates for keys that the caller provides, so that an RSA key, which every client can read, is generated only on demand.
 * `readCertificates` must have run before.
 */
export async function clientIssuer({ files, clock }: Pick<CertificateOptions, 'files' | 'clock'>): Promise<ClientIssuer> {
  const authority = clientAuthority(files)
  const { certifyClient } = await import('./issue.ts')
  return (subject, keys) => certifyClient({ authority, ...subject, ...issuanceAt(clock) }, keys)
}

/** The authority of client certificates with its key, which `readCertificates` has stored. */
export function clientAuthority(files: CertificateFiles): KeyPair {
  const authority = readPair(files, 'ca')
  if (authority === undefined) throw new Error('the authority of client certificates has not been made')
  return authority
}

/** Signs certificate requests; PEM. */
export type RequestSigner = (request: CertificateRequest, terms: RequestTerms) => Promise<string>

/** Signs requests with this authority. Unlike the server's own certificates, the results expire by the given clock, even if a test moves it. */
export function requestSigner(authority: KeyPair, clock: Clock): RequestSigner {
  return async (request, terms) => (await import('./issue.ts')).certifyRequest(request, { ...terms, authority, nowMs: clock.now() })
}

/** A client certificate without groups, stored beside the certificates of `readCertificates`, which must have run before. */
export async function keepUserCertificate(
  { files, clock }: Pick<CertificateOptions, 'files' | 'clock'>,
  { name, user }: { readonly name: string; readonly user: string },
): Promise<KeyPair> {
  const authority = clientAuthority(files)
  const issuance = issuanceAt(clock)
  const { nowMs } = issuance
  const kept = readPair(files, name)
  if (kept !== undefined && isFresh(kept, nowMs) && isSignedBy(kept, authority)) return kept
  const made = await (await import('./issue.ts')).issueClient({ authority, commonName: user, organizations: [], ...issuance })
  files.write(`${name}.key`, made.key)
  files.write(`${name}.crt`, made.certificate)
  return made
}

/** The common name of the certificate that the server presents as a proxy. */
export const frontProxyName = 'front-proxy-client'
const frontProxyAuthority = 'front-proxy-ca'

type Kept = Pick<CertificateOptions, 'files' | 'clock'>

/** The authority by which aggregated servers trust this server, stored or new. It signs only `front-proxy-client`. */
export async function keepFrontProxyAuthority({ files, clock }: Kept): Promise<KeyPair> {
  const issuance = issuanceAt(clock)
  const { nowMs } = issuance
  const kept = readPair(files, frontProxyAuthority)
  if (kept !== undefined && isFresh(kept, nowMs)) return kept
  return write(
    files,
    frontProxyAuthority,
    await (await import('./issue.ts')).issueAuthority({ commonName: frontProxyAuthority, ...issuance }),
  )
}

/** The server's client certificate for aggregated servers, stored or new. */
export async function keepFrontProxyClient(authority: KeyPair, { files, clock }: Kept): Promise<KeyPair> {
  const issuance = issuanceAt(clock)
  const { nowMs } = issuance
  const kept = readPair(files, frontProxyName)
  if (kept !== undefined && isFresh(kept, nowMs) && isSignedBy(kept, authority)) return kept
  const { issueClient } = await import('./issue.ts')
  return write(files, frontProxyName, await issueClient({ authority, commonName: frontProxyName, organizations: [], ...issuance }))
}

function write(files: CertificateFiles, name: string, pair: KeyPair): KeyPair {
  files.write(`${name}.key`, pair.key)
  files.write(`${name}.crt`, pair.certificate)
  return pair
}

/** A stored pair; undefined if the certificate or the key is missing. */
export function readPair(files: CertificateFiles, name: string): KeyPair | undefined {
  const certificate = files.read(`${name}.crt`)
  const key = files.read(`${name}.key`)
  return certificate === undefined || key === undefined ? undefined : { certificate, key }
}

function parseCertificate(pem: string): X509Certificate | undefined {
  try {
    return knownCertificate(pem)
  } catch {
    return undefined
  }
}

/** True if more than a third of the certificate's life is left and the key fits the certificate. */
export function isFresh(pair: KeyPair, nowMs: number): boolean {
  const certificate = parseCertificate(pair.certificate)
  if (certificate === undefined || !hasKey(certificate, pair.key)) return false
  const from = Date.parse(certificate.validFrom)
  const to = Date.parse(certificate.validTo)
  return nowMs >= from && to - nowMs > (to - from) / 3
}

function hasKey(certificate: X509Certificate, pem: string): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(pem))
  } catch {
    return false
  }
}

/** True if the authority has signed the certificate. */
export function isSignedBy(pair: KeyPair, authority: KeyPair): boolean {
  const certificate = parseCertificate(pair.certificate)
  const issuer = parseCertificate(authority.certificate)
  return certificate !== undefined && issuer !== undefined && certificate.verify(issuer.publicKey)
}

/** True if the certificate contains all these host names and addresses. */
export function coversNames(pair: KeyPair, names: readonly string[]): boolean {
  const certificate = parseCertificate(pair.certificate)
  return certificate !== undefined && names.every((name) => covers(certificate, name))
}

function covers(certificate: X509Certificate, name: string): boolean {
  if (isIP(name) !== 0) return certificate.checkIP(name) !== undefined
  return (certificate.subjectAltName ?? '').split(', ').includes(`DNS:${name}`)
}
