import { setting, settingTypes } from '@orch/platform'

const { bool, path } = settingTypes

/** How requests are passed on to the servers of APIServices. */
export const aggregationSettings = {
  proxyClientCertFile: setting({
    flag: '--proxy-client-cert-file',
    env: 'ORCH_PROXY_CLIENT_CERT_FILE',
    type: path,
    default: '',
    group: 'API',
    doc: 'Client certificate that this server presents to the servers of APIServices. By it they trust the user, groups and extra fields that the proxy sends in headers. --requestheader-client-ca-file has its authority. The files are reloaded when they change. Without flags about proxies orch up makes one with an authority of its own, and publishes that in the ConfigMap extension-apiserver-authentication.',
  }),
  proxyClientKeyFile: setting({
    flag: '--proxy-client-key-file',
    env: 'ORCH_PROXY_CLIENT_KEY_FILE',
    type: path,
    default: '',
    group: 'API',
    doc: 'Private key of --proxy-client-cert-file.',
  }),
  enableAggregatorRouting: setting({
    flag: '--enable-aggregator-routing',
    env: 'ORCH_ENABLE_AGGREGATOR_ROUTING',
    type: bool,
    default: 'true',
    group: 'API',
    doc: 'Send requests for APIServices to the endpoints of their Services. False sends them to the cluster addresses, which something else must route.',
  }),
  aggregatorRejectForwardingRedirect: setting({
    flag: '--aggregator-reject-forwarding-redirect',
    env: 'ORCH_AGGREGATOR_REJECT_FORWARDING_REDIRECT',
    type: bool,
    default: 'true',
    group: 'API',
    doc: 'Answer 502 where the server of an APIService answers with a redirect. False passes the redirect to the client.',
  }),
}
