import {
  type CertificateFiles,
  type Clock,
  frontProxyName,
  type KeyPair,
  keepFrontProxyAuthority,
  keepFrontProxyClient,
  type PairFiles,
  type PairSource,
} from '@orch/platform'
import type { Surroundings } from '../surroundings.ts'
import { followPair } from './port-certificates.ts'

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
