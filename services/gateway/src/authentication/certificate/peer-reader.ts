import { X509Certificate } from 'node:crypto'
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls'
import { parseServiceIdentity } from '@orch/core'
import type { Peer, ProxyPeer } from '../../exchange/exchange.ts'
import type { Authorities, AuthoritySource } from './authorities.ts'
import { findChain, parseBundle } from './chain.ts'

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

/** Connections that resume an earlier one do not send certificates in between again; so many of these are remembered. */
const rememberedMax = 1_000

const unknown: Peer = { kind: 'unknown' }

/** Says who stands behind a socket; asked once per connection, and again when the authorities have changed. */
export class PeerReader {
  readonly #known = new WeakMap<TLSSocket, Known>()
  readonly #sent = new Map<string, readonly X509Certificate[]>()
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
    const peer = this.#read(socket)
    this.#known.set(socket, { peer, authorities })
    return peer
  }

  #read(socket: TLSSocket): Peer {
    const certificate = socket.getPeerCertificate(true)
    if (certificate === null || Object.keys(certificate).length === 0) return unknown
    // Chain, time and purpose have been judged by TLS, against all authorities together.
    if (!socket.authorized) return { kind: 'untrusted', reason: String(socket.authorizationError) }
    const leaf = new X509Certificate(certificate.raw)
    if (isOfService(leaf)) return { kind: 'untrusted', reason: 'it is the certificate of a service' }
    return this.#toPeer(certificate, leaf, this.#remember(leaf, sentWith(certificate)))
  }

  #toPeer({ subject }: DetailedPeerCertificate, leaf: X509Certificate, sent: readonly X509Certificate[]): Peer {
    const { clients, proxies } = this.#bundles
    const commonName = listOf(subject.CN).at(-1) ?? ''
    const nowMs = Date.now()
    const proxyChain = findChain({ leaf, sent, anchors: proxies, nowMs })
    const proxy: ProxyPeer | undefined = proxyChain === undefined ? undefined : { commonName, expiresMs: proxyChain.expiresMs }
    const chain = findChain({ leaf, sent, anchors: clients, nowMs })
    if (chain === undefined) return { kind: 'untrusted', reason: 'no authority of users has signed it', proxy }
    if (commonName === '') return { kind: 'untrusted', reason: 'it has no common name', proxy }
    return { kind: 'certificate', commonName, organizations: listOf(subject.O), expiresMs: chain.expiresMs, proxy }
  }

  #remember(leaf: X509Certificate, sent: readonly X509Certificate[]): readonly X509Certificate[] {
    const key = leaf.fingerprint256
    if (sent.length === 0) return this.#sent.get(key) ?? []
    this.#sent.delete(key)
    this.#sent.set(key, sent)
    const [oldest] = this.#sent.keys()
    if (this.#sent.size > rememberedMax && oldest !== undefined) this.#sent.delete(oldest)
    return sent
  }
}

function toBundles(authorities: Authorities): Bundles {
  return { authorities, clients: parseBundle(authorities.clients), proxies: parseBundle(authorities.proxies) }
}

/** The certificates above, as far as the connection knows them; the last is its own issuer. */
function sentWith(certificate: DetailedPeerCertificate): X509Certificate[] {
  const sent: X509Certificate[] = []
  for (let above = certificate.issuerCertificate; above?.raw !== undefined; above = above.issuerCertificate) {
    sent.push(new X509Certificate(above.raw))
    if (above.issuerCertificate === above || sent.length > 8) break
  }
  return sent
}

/** Services know one another by these; at the port for clients they are nobody. */
function isOfService({ subjectAltName = '' }: X509Certificate): boolean {
  return [...subjectAltName.matchAll(/URI:([^,\s"]+)/g)].some(([, uri]) => parseServiceIdentity(uri as string) !== undefined)
}

function listOf(value: string | string[] | undefined): string[] {
  return value === undefined ? [] : typeof value === 'string' ? [value] : value
}
