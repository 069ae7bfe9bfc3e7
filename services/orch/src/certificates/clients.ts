import { join } from 'node:path'
import { type ClientConfiguration, printConfiguration } from '@orch/client'
import type { Names } from '@orch/core/names'
import { controllersUser } from '@orch/core/rbac'
import {
  addressAt,
  type CertificateFiles,
  type Certificates,
  type Cidr,
  type Clock,
  type KeyKind,
  keepUserCertificate,
  type Log,
  readCertificates,
  servingNames,
  writePrivateFile,
} from '@orch/platform'
import { toServingTrust } from '../serving/serving-trust.ts'
import type { ServingOptions } from '../serving/settings.ts'

export interface ServerCertificatesParts {
  readonly serving: Pick<ServingOptions, 'bindAddress'>
  readonly objects: { readonly serviceClusterIpRange: Cidr }
  readonly files: CertificateFiles
  readonly names: Names
  readonly hostName: string
  /** Type of the administrator's key, if it is created. */
  readonly adminKey?: KeyKind | undefined
  readonly clock: Clock
}

/** The certificates that a server of this host presents and trusts, stored in files; they are created if absent. */
export function readServerCertificates({ files, names, serving, objects, hostName, adminKey, clock }: ServerCertificatesParts) {
  const serviceAddress = addressAt(objects.serviceClusterIpRange, 1)
  return readCertificates({
    files,
    product: names.serverServiceName,
    names: servingNames({ names, hostName, bindAddress: serving.bindAddress, serviceAddress }),
    ...(adminKey === undefined ? {} : { adminKey }),
    clock,
  })
}

export interface AdministratorParts {
  /** The URL of the server. */
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
