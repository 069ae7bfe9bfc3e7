import { checkServerIdentity, type PeerCertificate } from 'node:tls'
import { type ChannelCredentials, credentials, experimental, ServerCredentials, type ServerUnaryCall } from '@grpc/grpc-js'
import { parseServiceIdentity, type ServiceRole } from '@orch/core/contracts'
import type { CertificateSource, TlsTexts } from '../tls/certificate-source.ts'
import { isLoopback } from './address.ts'

/** Credentials of a server. Either both sides present certificates or neither does. */
export function serverCredentials(source: CertificateSource | undefined): ServerCredentials {
  if (source === undefined) return ServerCredentials.createInsecure()
  const provider = new SourceProvider(source)
  return experimental.createCertificateProviderServerCredentials(provider, provider, true)
}

/** The expected identity of the other end: a host, and one of these roles if the contract names any. */
export interface Expected {
  readonly host: string
  readonly roles: readonly ServiceRole[]
}

/** Credentials of a caller. The server's certificate must match the dialled host and name an expected role. */
export function callerCredentials(source: CertificateSource | undefined, { host, roles }: Expected): ChannelCredentials {
  if (source === undefined) return credentials.createInsecure()
  const provider = new SourceProvider(source)
  return experimental.createCertificateProviderChannelCredentials(provider, provider, {
    checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate) ?? checkRole(certificate, roles),
  })
}

/** The role that a certificate names; undefined without one. */
function roleOf({ subjectaltname }: PeerCertificate): ServiceRole | undefined {
  const uris = (subjectaltname ?? '').split(', ').filter((name) => name.startsWith('URI:'))
  return uris.map((uri) => parseServiceIdentity(uri.slice('URI:'.length))).find((role) => role !== undefined)
}

/** The role of the caller; undefined if it presents no certificate or a certificate without a role. */
export function callerOf(call: Pick<ServerUnaryCall<unknown, unknown>, 'getAuthContext'>): ServiceRole | undefined {
  const certificate = call.getAuthContext()?.sslPeerCertificate
  return certificate === undefined ? undefined : roleOf(certificate)
}

/** Throws if an unencrypted connection would leave this machine and no setting allows that. */
export function requireLoopback(host: string, { insecureTransport }: { insecureTransport: boolean }): void {
  if (insecureTransport || isLoopback(host)) return
  throw new Error(
    `${host}: a connection between services that leaves this machine must be encrypted: give a certificate, its key and its authority, or allow insecure transport`,
  )
}

function checkRole(certificate: PeerCertificate, expected: readonly ServiceRole[]): Error | undefined {
  const role = roleOf(certificate)
  if (expected.length === 0 || (role !== undefined && expected.includes(role))) return undefined
  return new Error(
    `the certificate of the server names ${role === undefined ? 'no role' : `the role ${role}`}, expected ${expected.join(' or ')}`,
  )
}

type Updates<T> = Map<(update: T) => void, () => void>
type AuthorityListener = Parameters<experimental.CertificateProvider['addCaCertificateListener']>[0]
type IdentityListener = Parameters<experimental.CertificateProvider['addIdentityCertificateListener']>[0]

/** Certificates for gRPC. Each new connection uses the latest ones. A new listener is called with the first certificates. */
class SourceProvider implements experimental.CertificateProvider {
  readonly #source: CertificateSource
  readonly #authorities: Updates<Parameters<AuthorityListener>[0]> = new Map()
  readonly #identities: Updates<Parameters<IdentityListener>[0]> = new Map()

  constructor(source: CertificateSource) {
    this.#source = source
  }

  addCaCertificateListener(listener: AuthorityListener): void {
    const send = ({ authority }: TlsTexts) => listener({ caCertificate: Buffer.from(authority) })
    this.#authorities.set(listener, this.#source.listen(send))
    queueMicrotask(() => send(this.#source.current))
  }

  removeCaCertificateListener(listener: AuthorityListener): void {
    this.#authorities.get(listener)?.()
    this.#authorities.delete(listener)
  }

  addIdentityCertificateListener(listener: IdentityListener): void {
    const send = ({ certificate, key }: TlsTexts) => listener({ certificate: Buffer.from(certificate), privateKey: Buffer.from(key) })
    this.#identities.set(listener, this.#source.listen(send))
    queueMicrotask(() => send(this.#source.current))
  }

  removeIdentityCertificateListener(listener: IdentityListener): void {
    this.#identities.get(listener)?.()
    this.#identities.delete(listener)
  }
}
