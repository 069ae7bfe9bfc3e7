import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { PeerCertificate, TLSSocket } from 'node:tls'
import { parseServiceIdentity } from '@orch/core/contracts'
import { type Clock, Listeners, messageOf, systemClock } from '@orch/platform'
import type { Peer, ProxyPeer } from '../../exchange/exchange.ts'
import type { Surroundings } from '../../surroundings.ts'
import { type Authorities, type AuthoritySource, splitPem } from './authorities.ts'
import { parseBundle } from './trusted.ts'

type Bundles = ReturnType<typeof toBundles>

/** The result of a socket's handshake. */
interface Verdict {
  readonly certificate: PeerCertificate
  readonly leaf: X509Certificate
  /** TLS has verified the whole chain up to an authority of users, with the intermediates sent by the client, for the authorities at that time. */
  readonly isOfClient: 'now' | 'then' | 'never'
}

/** TLS's code for a valid chain of another purpose: proxy authorities are not client authorities. */
const otherPurpose = 'INVALID_PURPOSE'
/** The errors of TLS for a chain that only the machine's time makes invalid. */
const otherTimes: ReadonlySet<string> = new Set(['CERT_NOT_YET_VALID', 'CERT_HAS_EXPIRED'])
const clientUse = '1.3.6.1.5.5.7.3.2'
/** The attribute of a subject for the uid of a user of Kubernetes. */
const uidAttribute = '1.3.6.1.4.1.57683.2'

/** Reads the peer of a socket from the certificate of its handshake. */
export class PeerReader {
  readonly #source: AuthoritySource
  #bundles: Bundles

  readonly #clock: Clock

  constructor(source: AuthoritySource, clock: Clock = systemClock) {
    this.#source = source
    this.#clock = clock
    this.#bundles = toBundles(source.current)
  }

  /** At the first read, TLS has verified the certificate by the current authorities. */
  read(socket: TLSSocket, isFirst: boolean): Peer {
    const authorities = this.#source.current
    if (this.#bundles.authorities !== authorities) this.#bundles = toBundles(authorities)
    const certificate = socket.getPeerCertificate()
    if (certificate === null || Object.keys(certificate).length === 0) return { kind: 'unknown' }
    const reason = String(socket.authorizationError)
    // TLS has verified chain, time and purpose. A resumed connection was verified by the same authorities, since changed ones end all sessions.
    const isOfOtherTime = this.#clock.isVirtual === true && otherTimes.has(reason)
    if (!socket.authorized && reason !== otherPurpose && !isOfOtherTime) return { kind: 'untrusted', reason }
    const leaf = new X509Certificate(certificate.raw)
    if (isOfService(leaf)) return { kind: 'untrusted', reason: 'it is the certificate of a service' }
    const isOfClient = this.#isOfClient(socket, { leaf, isFirst, isOfOtherTime })
    return toPeer({ certificate, leaf, isOfClient }, this.#bundles, this.#clock.now())
  }

  /** TLS uses the machine's time. With another clock the signer is searched here, and dates are compared with that clock. */
  #isOfClient(
    { authorized }: TLSSocket,
    { leaf, isFirst, isOfOtherTime }: { readonly leaf: X509Certificate; readonly isFirst: boolean; readonly isOfOtherTime: boolean },
  ): Verdict['isOfClient'] {
    if (isOfOtherTime) return isForClients(leaf) ? 'then' : 'never'
    if (!authorized) return 'never'
    return isFirst && this.#clock.isVirtual !== true ? 'now' : 'then'
  }
}

/** Each bundle has its purpose: proxy authorities verify no users, and user authorities verify no proxies. */
function toPeer({ certificate: { subject }, leaf, isOfClient }: Verdict, { clients, proxies }: Bundles, nowMs: number): Peer {
  const commonName = listOf(subject.CN).at(-1) ?? ''
  const proxySigner = isForClients(leaf) ? signerIn(proxies, leaf, nowMs) : undefined
  const proxy: ProxyPeer | undefined = proxySigner === undefined ? undefined : { commonName, expiresMs: endOfBoth(leaf, proxySigner) }
  const signer = isOfClient === 'never' ? undefined : signerIn(clients, leaf, nowMs)
  if (signer === undefined && isOfClient !== 'now') return { kind: 'untrusted', reason: 'no authority of users has signed it', proxy }
  if (commonName === '') return { kind: 'untrusted', reason: 'it has no common name', proxy }
  const sha256 = leaf.fingerprint256.replaceAll(':', '').toLowerCase()
  const uids = listOf(subject[uidAttribute])
  return {
    kind: 'certificate',
    commonName,
    organizations: listOf(subject.O),
    ...(uids.length === 0 ? {} : { uids }),
    sha256,
    expiresMs: endOfBoth(leaf, signer ?? leaf),
    proxy,
  }
}

function toBundles(authorities: Authorities) {
  return { authorities, clients: parseBundle(authorities.clients), proxies: parseBundle(authorities.proxies) }
}

function endOfBoth(one: X509Certificate, other: X509Certificate): number {
  return Math.min(endOf(one), endOf(other))
}

/** A certificate without extended key usage is valid for every usage. */
function isForClients({ keyUsage }: X509Certificate): boolean {
  return keyUsage === undefined || keyUsage.includes(clientUse)
}

/** Certificates of services; at the port for clients they authenticate no user. */
function isOfService({ subjectAltName = '' }: X509Certificate): boolean {
  return [...subjectAltName.matchAll(/URI:([^,\s"]+)/g)].some(([, uri = '']) => parseServiceIdentity(uri) !== undefined)
}

function listOf(value: string | string[] | undefined): string[] {
  return value === undefined ? [] : typeof value === 'string' ? [value] : value
}

/** The files of authorities; '' for none. */
export interface AuthorityFiles extends Pick<Surroundings, 'clock' | 'log'> {
  readonly clientFile: string
  readonly proxyFile: string
  /** PEM of an additional authority of clients that never changes: the server's own. */
  readonly ownClients: string
}

/** Watches its files until it is closed. */
export interface OpenAuthorities extends AuthoritySource {
  close(): void
}

/** Interval of reading the files, which takes microseconds; authorities rarely change. */
const pollMs = 5_000

/** Reads the files, and reads them again when they change. An invalid file throws at the start, and later never replaces a valid one. */
export function openAuthorityFiles(files: AuthorityFiles): OpenAuthorities {
  const { clock, log } = files
  let complained = ''
  const listeners = new Listeners<Authorities>()
  const open = {
    current: readAuthorities(files),
    listen: (listener: (authorities: Authorities) => void) => listeners.add(listener),
    close: () => poll?.cancel(),
  }
  const readAgain = () => {
    try {
      const read = readAuthorities(files)
      complained = ''
      if (read.clients === open.current.clients && read.proxies === open.current.proxies) return
      open.current = read
      log.info({}, 'new authorities of client certificates are in use')
      listeners.call(read)
    } catch (error) {
      const message = messageOf(error)
      if (message !== complained) log.error({ err: error }, 'the new authorities cannot be used; the old ones stay in use')
      complained = message
    }
  }
  const poll = files.clientFile === '' && files.proxyFile === '' ? undefined : clock.every(pollMs, readAgain)
  return open
}

function readAuthorities({ clientFile, proxyFile, ownClients }: AuthorityFiles): Authorities {
  return { clients: inLines(splitPem(ownClients)) + readBundle(clientFile), proxies: readBundle(proxyFile) }
}

function readBundle(path: string): string {
  if (path === '') return ''
  const pem = readFileSync(path, 'utf8')
  const certificates = splitPem(pem)
  if (certificates.length === 0) throw new Error(`${path}: expected certificates in PEM form`)
  for (const text of certificates) {
    try {
      new X509Certificate(text)
    } catch (error) {
      throw new Error(`${path}: one of its certificates cannot be read`, { cause: error })
    }
  }
  return inLines(certificates)
}

/** Each ends with a newline, as readers of PEM files concatenate them. */
function inLines(certificates: readonly string[]): string {
  return certificates.map((text) => `${text}\n`).join('')
}

/**
 * The authority of a bundle that signed a certificate. Both must be valid at the time. The signature is verified, since two authorities may have the
 * same name.
 */
function signerIn(bundle: readonly X509Certificate[], certificate: X509Certificate, nowMs: number): X509Certificate | undefined {
  if (!isInForce(certificate, nowMs)) return undefined
  return bundle.find((authority) => hasSigned(authority, certificate) && isInForce(authority, nowMs))
}

/** Time of expiration of a certificate. */
function endOf(certificate: X509Certificate): number {
  return Date.parse(certificate.validTo)
}

function hasSigned(authority: X509Certificate, certificate: X509Certificate): boolean {
  return authority.ca && certificate.checkIssued(authority) && certificate.verify(authority.publicKey)
}

function isInForce(certificate: X509Certificate, nowMs: number): boolean {
  return Date.parse(certificate.validFrom) <= nowMs && nowMs < endOf(certificate)
}
