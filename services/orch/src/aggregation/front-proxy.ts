import {
  type CertificateFiles,
  type Clock,
  frontProxyName,
  type KeyPair,
  keepFrontProxyAuthority,
  keepFrontProxyClient,
  type PairSource,
} from '@orch/platform'
import { followPair } from '../certificates/port-certificates.ts'
import type { Surroundings } from '../surroundings.ts'
import type { AggregationOptions } from './settings.ts'

/** The certificate that this server shows to servers behind it where the settings name none. */
export interface FrontProxy {
  /** PEM; published for servers behind. */
  readonly authority: string
  /** Made at the first call. */
  client(): Promise<KeyPair>
}

/** Whether the server has one: where the settings say nothing about proxies. */
export function hasOwnFrontProxy({
  aggregation,
  authentication,
}: {
  readonly aggregation: Pick<AggregationOptions, 'proxyFiles'>
  readonly authentication: { readonly proxy: object | undefined }
}): boolean {
  return aggregation.proxyFiles === undefined && authentication.proxy === undefined
}

/** Reads the authority that is kept in the files, or makes one. Most servers have none behind them, and need no more than that. */
export async function openFrontProxy(parts: { readonly files: CertificateFiles; readonly clock: Clock }): Promise<FrontProxy> {
  const authority = await keepFrontProxyAuthority(parts)
  let client: Promise<KeyPair> | undefined
  return {
    authority: authority.certificate,
    client() {
      client ??= keepFrontProxyClient(authority, parts).catch((error: unknown) => {
        client = undefined
        throw error
      })
      return client
    },
  }
}

/** The headers in which the proxy sends the user of a request, and how its certificate is checked, as published for the servers behind it. */
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

/** The certificate of the files, as they are from now on. */
export async function openProxyFiles({ proxyFiles }: AggregationOptions, surroundings: Surroundings): Promise<PairSource | undefined> {
  return proxyFiles === undefined ? undefined : await followPair(proxyFiles, surroundings)
}

/** What is shown to the servers of APIServices: the certificate of the files, or the server's own. */
export function toProxyPair(followed: PairSource | undefined, own: FrontProxy | undefined): () => KeyPair | undefined | Promise<KeyPair> {
  return () => followed?.current ?? own?.client()
}
