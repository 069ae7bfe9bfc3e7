import {
  type CertificateFiles,
  type Clock,
  frontProxyName,
  type KeyPair,
  keepFrontProxyAuthority,
  keepFrontProxyClient,
  type PairSource,
  settingsOf,
  settingTypes,
  type Values,
} from '@orch/platform'
import { followPair } from '../certificates/port-certificates.ts'
import { readPairIfNamed } from '../configuration/flag-files.ts'
import type { Surroundings } from '../surroundings.ts'

/** This server's client certificate for aggregated servers, if the settings have none. */
export type FrontProxy = Awaited<ReturnType<typeof openFrontProxy>>

/** True if the server creates one, as the settings have no proxy. */
export function hasOwnFrontProxy({
  aggregation,
  authentication,
}: {
  readonly aggregation: Pick<AggregationOptions, 'proxyFiles'>
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
export function openProxyFiles({ proxyFiles }: AggregationOptions, surroundings: Surroundings): PairSource | undefined {
  return proxyFiles && followPair(proxyFiles, surroundings)
}

/** The client certificate for the servers of APIServices: from files, or the server's own. */
export function toProxyPair(followed: PairSource | undefined, own: FrontProxy | undefined): () => KeyPair | undefined | Promise<KeyPair> {
  return () => followed?.current ?? own?.client()
}

const { bool, path } = settingTypes
const setting = settingsOf('API')

/** The settings of forwarding requests to the servers of APIServices. */
export const aggregationSettings = {
  proxyClientCertFile: setting(
    { flag: '--proxy-client-cert-file', type: path },
    'Client certificate that this server presents to the servers of APIServices. By it they trust the user, groups and extra fields that the proxy sends in headers. --requestheader-client-ca-file has its authority. The files are reloaded when they change. Without flags about proxies orch up makes one with an authority of its own, and publishes that in the ConfigMap extension-apiserver-authentication.',
  ),
  proxyClientKeyFile: setting({ flag: '--proxy-client-key-file', type: path }, 'Private key of --proxy-client-cert-file.'),
  routesToEndpoints: setting(
    { flag: '--enable-aggregator-routing', type: bool, default: 'true' },
    'Send requests for APIServices to the endpoints of their Services. False sends them to the cluster addresses, which something else must route.',
  ),
  rejectsRedirects: setting(
    { flag: '--aggregator-reject-forwarding-redirect', type: bool, default: 'true' },
    'Answer 502 where the server of an APIService answers with a redirect. False passes the redirect to the client.',
  ),
}

/** The options of forwarding requests to the servers of APIServices. */
export type AggregationOptions = ReturnType<typeof readAggregation>

/** Checks the settings and the files that they name. */
export function readAggregation(settings: Values<typeof aggregationSettings>) {
  const { routesToEndpoints, rejectsRedirects } = settings
  const proxy = readPairIfNamed({
    certificate: { flag: '--proxy-client-cert-file', path: settings.proxyClientCertFile },
    key: { flag: '--proxy-client-key-file', path: settings.proxyClientKeyFile },
  })
  /** The certificate files for these servers. Undefined for no certificate. */
  return { proxyFiles: proxy?.files, routesToEndpoints, rejectsRedirects }
}
