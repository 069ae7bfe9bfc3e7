import type { ClientConfiguration } from '@orch/client'
import type { Certificates, Log } from '@orch/platform'
import type { ServingOptions } from '../serving/options.ts'
import { toServingTrust } from '../serving/serving-trust.ts'

export interface AdministratorParts {
  /** Where the server listens. */
  readonly url: string
  readonly serving: Pick<ServingOptions, 'servingPair' | 'servingFiles'>
  readonly certificates: Certificates
  readonly log: Log
}

/** How the administrator reaches a server whose certificates are kept in a folder of its own. */
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
