import { X509Certificate } from 'node:crypto'
import type { PeerCertificate, TLSSocket } from 'node:tls'
import { parseServiceIdentity } from '@orch/core'
import type { Peer, ProxyPeer } from '../../exchange/exchange.ts'
import type { Authorities, AuthoritySource } from './authorities.ts'
import { endOf, parseBundle, signerIn } from './signer.ts'

interface Known {
  readonly peer: Peer
  /** What the peer was judged by. */
  readonly authorities: Authorities
}

interface Bundles {
  readonly authorities: Authorities
  readonly clients: readonly X509Certificate[]
  readonly proxies: readonly X509Certificate[]
}

/** Certificates, as TLS has judged them, that are remembered for connections that resume an earlier one. */
const judgedMax = 1_000

const unknown: Peer = { kind: 'unknown' }

/** Says who stands behind a socket; asked once per connection, and again when the authorities have changed. */
export class PeerReader {
  readonly #known = new WeakMap<TLSSocket, Known>()
  /** By fingerprint: the authorities against which TLS has judged the whole chain. */
  readonly #judged = new Map<string, Authorities>()
  readonly #source: AuthoritySource
  #bundles: Bundles

  constructor(source: AuthoritySource) {
    this.#source = source
    this.#bundles = toBundles(source.current)
  }

  of(socket: TLSSocket): Peer {
    const authorities = this.#source.current
    const known = this.#known.get(socket)
    if (known !== undefined && known.authorities === authorities) return known.peer
    if (this.#bundles.authorities !== authorities) this.#bundles = toBundles(authorities)
    const peer = this.#read(socket, known === undefined)
    this.#known.set(socket, { peer, authorities })
    return peer
  }

  #read(socket: TLSSocket, isNew: boolean): Peer {
    const certificate = socket.getPeerCertificate()
    if (certificate === null || Object.keys(certificate).length === 0) return unknown
    // Chain, time and purpose have been judged by TLS, against all authorities together.
    if (!socket.authorized) return { kind: 'untrusted', reason: String(socket.authorizationError) }
    const leaf = new X509Certificate(certificate.raw)
    if (isOfService(leaf)) return { kind: 'untrusted', reason: 'it is the certificate of a service' }
    const isJudged = isNew && this.#isJudgedNow(socket, leaf)
    return this.#toPeer(certificate, leaf, isJudged)
  }

  #toPeer({ subject }: PeerCertificate, leaf: X509Certificate, isJudged: boolean): Peer {
    const { clients, proxies } = this.#bundles
    const commonName = listOf(subject.CN).at(-1) ?? ''
    const nowMs = Date.now()
    const proxySigner = signerIn(proxies, leaf, nowMs)
    const proxy: ProxyPeer | undefined = proxySigner === undefined ? undefined : { commonName, expiresMs: endOfBoth(leaf, proxySigner) }
    const signer = signerIn(clients, leaf, nowMs)
    // Authorities in between that the peer sends along are shown to TLS alone: with one bundle, what TLS says is enough.
    if (signer === undefined && !(isJudged && proxies.length === 0)) {
      return { kind: 'untrusted', reason: 'no authority of users has signed it', proxy }
    }
    if (commonName === '') return { kind: 'untrusted', reason: 'it has no common name', proxy }
    return { kind: 'certificate', commonName, organizations: listOf(subject.O), expiresMs: endOfBoth(leaf, signer ?? leaf), proxy }
  }

  /** A connection that resumes another one was not judged itself, but what it resumes was, if nothing has changed since. */
  #isJudgedNow(socket: TLSSocket, { fingerprint256 }: X509Certificate): boolean {
    const { authorities } = this.#bundles
    if (socket.isSessionReused()) return this.#judged.get(fingerprint256) === authorities
    this.#judged.delete(fingerprint256)
    this.#judged.set(fingerprint256, authorities)
    const [oldest] = this.#judged.keys()
    if (this.#judged.size > judgedMax && oldest !== undefined) this.#judged.delete(oldest)
    return true
  }
}

function toBundles(authorities: Authorities): Bundles {
  return { authorities, clients: parseBundle(authorities.clients), proxies: parseBundle(authorities.proxies) }
}

function endOfBoth(one: X509Certificate, other: X509Certificate): number {
  return Math.min(endOf(one), endOf(other))
}

/** Services know one another by these; at the port for clients they are nobody. */
function isOfService({ subjectAltName = '' }: X509Certificate): boolean {
  return [...subjectAltName.matchAll(/URI:([^,\s"]+)/g)].some(([, uri]) => parseServiceIdentity(uri as string) !== undefined)
}

function listOf(value: string | string[] | undefined): string[] {
  return value === undefined ? [] : typeof value === 'string' ? [value] : value
}
