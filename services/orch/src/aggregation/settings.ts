import { settingsOf, settingTypes } from '@orch/platform'

const { bool, path } = settingTypes
const setting = settingsOf('API')

/** How requests are passed on to the servers of APIServices. */
export const aggregationSettings = {
  proxyClientCertFile: setting({
    flag: '--proxy-client-cert-file',
    type: path,
    doc: 'Client certificate that this server presents to the servers of APIServices. By it they trust the user, groups and extra fields that the proxy sends in headers. --requestheader-client-ca-file has its authority. The files are reloaded when they change. Without flags about proxies orch up makes one with an authority of its own, and publishes that in the ConfigMap extension-apiserver-authentication.',
  }),
  proxyClientKeyFile: setting({ flag: '--proxy-client-key-file', type: path, doc: 'Private key of --proxy-client-cert-file.' }),
  enableAggregatorRouting: setting({
    flag: '--enable-aggregator-routing',
    type: bool,
    default: 'true',
    doc: 'Send requests for APIServices to the endpoints of their Services. False sends them to the cluster addresses, which something else must route.',
  }),
  aggregatorRejectForwardingRedirect: setting({
    flag: '--aggregator-reject-forwarding-redirect',
    type: bool,
    default: 'true',
    doc: 'Answer 502 where the server of an APIService answers with a redirect. False passes the redirect to the client.',
  }),
}
