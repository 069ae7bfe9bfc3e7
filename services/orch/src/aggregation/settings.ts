import { settingsOf, settingTypes, type Values } from '@orch/platform'
import { readPairIfNamed } from '../configuration/flag-files.ts'

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
