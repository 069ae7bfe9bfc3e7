import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { type ClientConfiguration, printConfiguration } from '@orch/client'
import type { Names } from '@orch/core/names'
import { controllersUser } from '@orch/core/rbac'
import {
  addressAt,
  type CertificateFiles,
  type Certificates,
  type CidrPair,
  type Clock,
  type KeyKind,
  keepUserCertificate,
  type Log,
  readCertificates,
  SettingsError,
  servingNames,
  writePrivateFile,
} from '@orch/platform'
import type { ServingOptions } from '../serving/settings.ts'

export interface ServerCertificatesParts {
  readonly serving: Pick<ServingOptions, 'bindAddress'>
  readonly objects: { readonly serviceClusterIpRange: CidrPair }
  readonly files: CertificateFiles
  readonly names: Names
  readonly hostName: string
  /** Type of the administrator's key, if it is created. */
  readonly adminKey?: KeyKind | undefined
  readonly clock: Clock
}

/** The certificates that a server of this host presents and trusts, stored in files; they are created if absent. */
export function readServerCertificates({ files, names, serving, objects, hostName, adminKey, clock }: ServerCertificatesParts) {
  const serviceAddress = addressAt(objects.serviceClusterIpRange[0], 1)
  return readCertificates({
    files,
    product: names.serverServiceName,
    names: servingNames({ names, hostName, bindAddress: serving.bindAddress, serviceAddress }),
    ...(adminKey === undefined ? {} : { adminKey }),
    clock,
  })
}

export interface AdministratorParts {
  readonly url: string
  readonly serving: Pick<ServingOptions, 'servingPair' | 'servingFiles'>
  readonly certificates: Certificates
  readonly log: Log
}

/** The administrator's configuration for a server with a separate certificate folder. */
export function administratorConfiguration({ url, serving, certificates, log }: AdministratorParts) {
  const { authority, isWholeChain, serverName } = toServingTrust({ serving, ownAuthority: certificates.authority, url })
  if (!isWholeChain) {
    log.warn(
      { file: serving.servingFiles?.certificateFile },
      "the file of --tls-cert-file has no self-signed authority: client configurations trust the last certificate of the chain, which kubectl, curl and clients in Go accept and others may refuse; append the authority's certificate",
    )
  }
  return {
    server: url,
    ...(serverName === undefined ? {} : { serverName }),
    certificateAuthority: authority,
    clientCertificate: certificates.admin.certificate,
    clientKey: certificates.admin.key,
  } satisfies ClientConfiguration
}

export interface ClientFilesOptions {
  readonly dataDir: string
  readonly names: Names
  /** The administrator's client configuration. */
  readonly configuration: ClientConfiguration
  /** True if the caller has given the serving certificate. */
  readonly hasGivenCertificate: boolean
}

/**
 * Writes the clients' files: `admin.conf`, and `serving-ca.crt` if the served certificate is not one of this folder's authority.
 * `ca.crt`, `admin.crt` and `admin.key` exist already.
 */
export function writeClientFiles({ dataDir, names, configuration, hasGivenCertificate }: ClientFilesOptions): void {
  const name = names.serverServiceName
  writePrivateFile(join(dataDir, 'admin.conf'), printConfiguration({ cluster: name, user: `${name}-admin`, configuration }))
  if (hasGivenCertificate) writePrivateFile(join(dataDir, authorityFile(true)), configuration.certificateAuthority ?? '')
}

/** The file of the data folder with the authority that clients trust. */
export function authorityFile(hasGivenCertificate: boolean): string {
  return hasGivenCertificate ? 'serving-ca.crt' : 'ca.crt'
}

interface ControllersParts {
  /** The administrator's configuration. */
  readonly configuration: ClientConfiguration
  /** The files of the server's certificates. */
  readonly files: CertificateFiles
  readonly clock: Clock
  readonly authorizationMode: readonly string[]
}

/** The client configuration of controllers in a separate process: a user with a role, if RBAC is on. */
export async function configurationOfControllers({
  configuration,
  files,
  clock,
  authorizationMode,
}: ControllersParts): Promise<ClientConfiguration> {
  if (!authorizationMode.includes('RBAC')) return configuration
  const { certificate, key } = await keepUserCertificate({ files, clock }, { name: 'controllers', user: controllersUser })
  return { ...configuration, clientCertificate: certificate, clientKey: key }
}

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
