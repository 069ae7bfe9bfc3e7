import { faultsGroup } from '@orch/core/names'
import { SettingsError, settingsOf, settingTypes, type Values } from '@orch/platform'
import { readWebhookPlaces, webhookSettings } from '../admission/settings.ts'
import { type ApiOptions, apiSettings, objectsSettings, readApi } from '../api/settings.ts'
import { auditSettings, readAudit } from '../audit/settings.ts'
import { type AuthenticationOptions, authenticationSettings, readAuthentication } from '../authentication/settings.ts'
import { type AuthorizationOptions, authorizationSettings, readAuthorization } from '../authorization/settings.ts'
import { readCertificateFile, readPairIfNamed } from '../configuration/files.ts'
import { isLoopback } from '../serving/loopback.ts'
import { readServing, type ServingOptions, servingSettings } from '../serving/settings.ts'

const { bool, duration, int, list, path } = settingTypes
const setting = settingsOf('API')
const inFlowControl = settingsOf('Flow control')
const inTests = settingsOf('Tests')

const requestsMax = int({ min: 0, max: 1_000_000 })

/** The settings of gateways for tests. */
const testSettings = {
  faultInjection: inTests(
    { flag: '--fault-injection', type: bool, default: 'false' },
    `Makes the kind FaultRule (${faultsGroup}/v1), whose objects delay, refuse, cut off or lose requests.`,
  ),
  testsBeyondLoopback: inTests(
    { flag: '--tests-beyond-loopback', type: bool, default: 'false' },
    'Accepts --control and --fault-injection on an address of --bind-address that other machines reach: a client with the right may do everything, or disturb others.',
  ),
}

/** Settings of a gateway, in any process. */
export const gatewaySettings = {
  ...servingSettings,
  ...authenticationSettings,
  ...authorizationSettings,
  ...auditSettings,
  flowControl: {
    isFair: inFlowControl(
      { flag: '--enable-priority-and-fairness', type: bool, default: 'true' },
      'Limits concurrent requests by FlowSchemas and PriorityLevelConfigurations. Without it there is one limit for reads and one for writes.',
    ),
    readsMax: inFlowControl(
      { flag: '--max-requests-inflight', type: requestsMax, default: '400' },
      'Maximum number of concurrent reads other than watches; 0 means no limit. With priority and fairness only the sum with --max-mutating-requests-inflight is used.',
    ),
    writesMax: inFlowControl(
      { flag: '--max-mutating-requests-inflight', type: requestsMax, default: '200' },
      'Maximum number of concurrent writes; 0 means no limit. With priority and fairness only the sum with --max-requests-inflight is used.',
    ),
  },
  ...apiSettings,
  ...objectsSettings,
  ...webhookSettings,
  /** Requests forwarded to the servers of APIServices. */
  aggregation: {
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
  },
  /** Calls to kubelets, and proxied calls to Pods. */
  kubelet: {
    authorityFile: setting(
      { flag: '--kubelet-certificate-authority', type: path },
      'Certificate authorities of kubelets, read at the start. Without it any certificate of a kubelet is accepted.',
    ),
    certificateFile: setting(
      { flag: '--kubelet-client-certificate', type: path },
      'Client certificate that this server presents to kubelets. The files are reloaded when they change.',
    ),
    keyFile: setting({ flag: '--kubelet-client-key', type: path }, 'Private key of --kubelet-client-certificate.'),
    preferredAddressTypes: setting(
      { flag: '--kubelet-preferred-address-types', type: list, default: 'Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP' },
      'Types of addresses of a Node, in the order in which they are tried for its kubelet. The first that the Node has is taken.',
    ),
    port: setting(
      { flag: '--kubelet-port', type: int({ min: 1, max: 65_535 }), default: '10250' },
      'Port of kubelets whose Node names none.',
    ),
    timeoutMs: setting(
      { flag: '--kubelet-timeout', type: duration, default: '5s' },
      'Longest time of making a connection to a kubelet or a Pod.',
    ),
    allowsLocal: setting(
      { flag: '--kubelet-local-addresses', type: bool, default: 'false' },
      'Connect to kubelets and Pods at loopback and link-local addresses, too. Clients that may write the status of Nodes or Pods can then reach the services of this machine.',
    ),
  },
  ...testSettings,
}

/** Settings of a gateway, checked. */
export interface GatewayGroups extends ReturnType<typeof readGateway> {
  /** Every flag with its value. */
  readonly flags?: ReadonlyMap<string, string>
}

type GatewayValues = Values<typeof gatewaySettings> & Parameters<typeof readApi>[0]

/** Checks each group of settings, and their combinations. */
export function readGateway(settings: GatewayValues) {
  const { eventTtlMs, serviceClusterIpRange, serviceNodePortRange } = settings
  const serving = readServing(settings)
  const authorization = readAuthorization(settings)
  const authentication = readAuthentication(settings, authorization.modes)
  checkTogether(serving, authentication, authorization)
  const api = readApi(settings)
  checkUidHeaders(api, authentication)
  checkTests(settings)
  return {
    api,
    serving,
    authentication,
    authorization,
    /** Undefined if the server logs no requests. */
    audit: readAudit(settings),
    flowControl: readFlowControl(settings),
    /** Values that the server assigns to objects. */
    objects: { eventTtlMs, serviceClusterIpRange, serviceNodePortRange },
    aggregation: readAggregation(settings),
    kubelets: readKubelets(settings),
    /** The allowed targets of conversion webhooks and of the servers of APIServices. */
    webhookPlaces: readWebhookPlaces(settings),
    /** True if FaultRules take effect. */
    followsFaultRules: settings.faultInjection,
  }
}

/** Refuses faults that could affect others. */
function checkTests({ faultInjection, testsBeyondLoopback, bindAddress }: GatewayValues): void {
  if (faultInjection && !testsBeyondLoopback && !isLoopback(bindAddress))
    throw new SettingsError(
      `--fault-injection with --bind-address=${bindAddress}: faults would hit clients of other machines; use a loopback address, or add --tests-beyond-loopback`,
    )
}

function checkUidHeaders({ featureGates }: ApiOptions, { proxy }: AuthenticationOptions): void {
  if (proxy === undefined || proxy.uidHeaders.length === 0 || featureGates.isOn('RemoteRequestHeaderUID')) return
  throw new SettingsError('--requestheader-uid-headers: needs the feature gate RemoteRequestHeaderUID')
}

function checkTogether({ bindAddress }: ServingOptions, { anonymousAuth }: AuthenticationOptions, { modes }: AuthorizationOptions): void {
  if (anonymousAuth && modes.includes('AlwaysAllow') && !isLoopback(bindAddress)) {
    throw new SettingsError(
      `--anonymous-auth=true with --authorization-mode=AlwaysAllow and --bind-address=${bindAddress}: everything would be allowed to everyone who reaches that address; only a loopback address is accepted`,
    )
  }
}

/** Checks that the limits leave room for requests. */
function readFlowControl({ flowControl }: GatewayValues) {
  if (flowControl.isFair && flowControl.readsMax + flowControl.writesMax === 0) {
    throw new SettingsError(
      '--max-requests-inflight and --max-mutating-requests-inflight are both 0: priority and fairness has nothing to divide; give one of them, or --enable-priority-and-fairness=false',
    )
  }
  return flowControl
}

function readAggregation({ aggregation }: GatewayValues) {
  const { proxyClientCertFile, proxyClientKeyFile, ...forwarding } = aggregation
  const proxy = readPairIfNamed({
    certificate: { flag: '--proxy-client-cert-file', path: proxyClientCertFile },
    key: { flag: '--proxy-client-key-file', path: proxyClientKeyFile },
  })
  return { ...forwarding, proxyFiles: proxy?.files }
}

/** Checks the settings and the files that they name. */
function readKubelets({ kubelet }: GatewayValues) {
  const { authorityFile, certificateFile, keyFile, ...calls } = kubelet
  const pair = readPairIfNamed({
    certificate: { flag: '--kubelet-client-certificate', path: certificateFile },
    key: { flag: '--kubelet-client-key', path: keyFile },
  })
  if (calls.preferredAddressTypes.length === 0) {
    throw new SettingsError('--kubelet-preferred-address-types: at least one type of addresses is needed, such as InternalIP')
  }
  return {
    ...calls,
    authorities: authorityFile === '' ? undefined : readCertificateFile('--kubelet-certificate-authority', authorityFile),
    /** The certificate and key files that this server presents to kubelets; undefined without a certificate. */
    pairFiles: pair?.files,
  }
}
