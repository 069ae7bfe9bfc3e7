import { type AuthoritySource, openAuthorityFiles } from '@orch/gateway'
import { fixedPair, type KeyPair, openPairSource, type PairFiles, type PairSource } from '@orch/platform'
import type { ServingOptions } from '../serving/settings.ts'
import type { Surroundings } from '../surroundings.ts'

/** The certificate of the port, and the authorities of client certificates, reloaded from files. */
export interface PortCertificates {
  readonly serving: PairSource
  /** Presented to clients that request one of the names. */
  readonly named: readonly { readonly pair: PairSource; readonly names: readonly string[] }[]
  readonly authorities: AuthoritySource
}

export interface PortCertificatesNeeds {
  readonly serving: Pick<ServingOptions, 'servingFiles' | 'namedPairs'>
  /** Files of further authorities: of clients, '' for none, and of a proxy. */
  readonly authentication: { readonly clientCaFile: string; readonly proxy: { readonly caFile: string } | undefined }
  /** The certificate without files. */
  readonly ownPair: KeyPair
  /** The server's own authority of client certificates, PEM; '' for none. */
  readonly ownClients: string
}

/** Reads the files, and watches them until the server ends. */
export function openPortCertificates(
  { serving, authentication, ownPair, ownClients }: PortCertificatesNeeds,
  surroundings: Surroundings,
): PortCertificates {
  const { clock, lifecycle, log } = surroundings
  const { servingFiles, namedPairs } = serving
  const { clientCaFile, proxy } = authentication
  const named = namedPairs.map(({ files, names }) => ({ pair: followPair(files, surroundings), names }))
  const files = { clientFile: clientCaFile, proxyFile: proxy?.caFile ?? '', ownClients, clock, log }
  const authorities = lifecycle.opened('certificate authorities', openAuthorityFiles(files))
  return { serving: servingFiles === undefined ? fixedPair(ownPair) : followPair(servingFiles, surroundings), named, authorities }
}

/** The certificate and key of these files, watched until the server ends. */
export function followPair(files: PairFiles, { clock, lifecycle, log }: Surroundings): PairSource {
  return lifecycle.opened('certificate', openPairSource({ files, clock, log }))
}
