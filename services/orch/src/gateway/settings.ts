import { SettingsError, settingsOf, settingTypes, type Values } from '@orch/platform'
import { aggregationSettings, readAggregation } from '../aggregation/settings.ts'
import { type ApiOptions, apiSettings, objectsSettings, readApi } from '../api/settings.ts'
import { auditSettings, readAudit } from '../audit/settings.ts'
import { type AuthenticationOptions, authenticationSettings, readAuthentication } from '../authentication/settings.ts'
import { type AuthorizationOptions, authorizationSettings, readAuthorization } from '../authorization/settings.ts'
import { readCertificateFile, readPairIfNamed } from '../configuration/flag-files.ts'
import { checkTests, testSettings } from '../control/settings.ts'
import { flowControlSettings, readFlowControl } from '../flow-control/settings.ts'
import { isLoopback } from '../serving/loopback.ts'
import { readServing, type ServingOptions, servingSettings } from '../serving/settings.ts'
import { readWebhookPlaces, webhookSettings } from '../webhooks/settings.ts'

const { bool, duration, int, list, path } = settingTypes
const setting = settingsOf('API')

/** Settings of a gateway, in any process. */
export const gatewaySettings = {
  ...servingSettings,
  ...authenticationSettings,
  ...authorizationSettings,
  ...auditSettings,
  ...flowControlSettings,
  ...apiSettings,
  ...objectsSettings,
  ...webhookSettings,
  ...aggregationSettings,
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
