import { type AuthoritySource, openAuthorityFiles } from '@orch/gateway'
import {
  type CertificateFiles,
  type Clock,
  fixedPair,
  frontProxyName,
  type KeyPair,
  keepFrontProxyAuthority,
  keepFrontProxyClient,
  openPairSource,
  type PairFiles,
  type PairSource,
} from '@orch/platform'
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

/** This server's client certificate for aggregated servers, if the settings have none. */
export type FrontProxy = Awaited<ReturnType<typeof openFrontProxy>>

/** The files of the client certificate for aggregated servers; undefined for none. */
interface ProxyFiles {
  readonly proxyFiles: PairFiles | undefined
}

/** True if the server creates one, as the settings have no proxy. */
export function hasOwnFrontProxy({
  aggregation,
  authentication,
}: {
  readonly aggregation: ProxyFiles
  readonly authentication: { readonly proxy: object | undefined }
}): boolean {
  return aggregation.proxyFiles === undefined && authentication.proxy === undefined
}

/** Reads the stored authority from the files, or creates one. Most servers have no aggregated servers, and need no more. */
export async function openFrontProxy(parts: { readonly files: CertificateFiles; readonly clock: Clock }) {
  const authority = await keepFrontProxyAuthority(parts)
  let client: Promise<KeyPair> | undefined
  return {
    /** PEM; published for aggregated servers. */
    authority: authority.certificate,
    /** Created at the first call. */
    client() {
      client ??= keepFrontProxyClient(authority, parts).catch((error: unknown) => {
        client = undefined
        throw error
      })
      return client
    },
  }
}

/** The headers with the user of a proxied request, and the check of the proxy certificate, as published for aggregated servers. */
export function publishedFrontProxy(authority: string, tellsUids: boolean) {
  return {
    authorities: authority,
    usernameHeaders: ['X-Remote-User'],
    uidHeaders: tellsUids ? ['X-Remote-Uid'] : [],
    groupHeaders: ['X-Remote-Group'],
    extraHeaderPrefixes: ['X-Remote-Extra-'],
    allowedNames: [frontProxyName],
  }
}

/** Watches the certificate files. */
export function openProxyFiles({ proxyFiles }: ProxyFiles, surroundings: Surroundings): PairSource | undefined {
  return proxyFiles && followPair(proxyFiles, surroundings)
}

/** The client certificate for the servers of APIServices: from files, or the server's own. */
export function toProxyPair(followed: PairSource | undefined, own: FrontProxy | undefined): () => KeyPair | undefined | Promise<KeyPair> {
  return () => followed?.current ?? own?.client()
}
