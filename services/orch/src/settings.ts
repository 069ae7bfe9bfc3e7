import { actingGates, gateOf, profiles } from '@orch/core'
import { logFormats, logLevels, setting, settingTypes } from '@orch/platform'

const { bool, cidr, duration, int, list, oneOf, path, portRange, string } = settingTypes

/** Everything that `orch up` can be told. */
export const upSettings = {
  config: setting({
    flag: '--config',
    env: 'ORCH_CONFIG',
    type: path,
    default: '',
    group: 'General',
    doc: 'YAML file with settings; each is called like its flag, without the dashes.',
  }),
  profile: setting({
    flag: '--profile',
    env: 'ORCH_PROFILE',
    type: oneOf(profiles),
    default: 'orch',
    group: 'General',
    doc: 'Names of groups, labels and namespaces: orch has its own, kubernetes those that kubectl and other existing clients expect.',
  }),
  logLevel: setting({
    flag: '--log-level',
    env: 'ORCH_LOG_LEVEL',
    type: oneOf(logLevels),
    default: 'info',
    group: 'General',
    doc: 'Least important lines that are still written to standard error.',
  }),
  logFormat: setting({
    flag: '--log-format',
    env: 'ORCH_LOG_FORMAT',
    type: oneOf(logFormats),
    default: 'text',
    group: 'General',
    doc: 'json for machines, text for people.',
  }),
  securePort: setting({
    flag: '--secure-port',
    env: 'ORCH_SECURE_PORT',
    type: int({ min: 0, max: 65535 }),
    default: '6443',
    group: 'Serving',
    doc: 'Port for HTTPS; 0 takes any free one.',
  }),
  bindAddress: setting({
    flag: '--bind-address',
    env: 'ORCH_BIND_ADDRESS',
    type: string,
    default: '127.0.0.1',
    group: 'Serving',
    doc: 'Address to listen on; 0.0.0.0 or :: for all.',
  }),
  pathPrefix: setting({
    flag: '--path-prefix',
    env: 'ORCH_PATH_PREFIX',
    type: path,
    default: '',
    group: 'Serving',
    doc: 'Path below which everything is served, such as /cluster-a.',
  }),
  tlsCertFile: setting({
    flag: '--tls-cert-file',
    env: 'ORCH_TLS_CERT_FILE',
    type: path,
    default: '',
    group: 'Serving',
    doc: 'Certificate to serve with, followed by those that signed it; without it one is made.',
  }),
  tlsPrivateKeyFile: setting({
    flag: '--tls-private-key-file',
    env: 'ORCH_TLS_PRIVATE_KEY_FILE',
    type: path,
    default: '',
    group: 'Serving',
    doc: 'Private key that belongs to --tls-cert-file.',
  }),
  requestTimeoutMs: setting({
    flag: '--request-timeout',
    env: 'ORCH_REQUEST_TIMEOUT',
    type: duration,
    default: '60s',
    group: 'Serving',
    doc: 'Longest a request may take, watches aside.',
  }),
  shutdownDelayMs: setting({
    flag: '--shutdown-delay-duration',
    env: 'ORCH_SHUTDOWN_DELAY_DURATION',
    type: duration,
    default: '0s',
    group: 'Serving',
    doc: 'How long the server goes on after a signal to stop, with /readyz failing, before it takes no more connections.',
  }),
  clientCaFile: setting({
    flag: '--client-ca-file',
    env: 'ORCH_CLIENT_CA_FILE',
    type: path,
    default: '',
    group: 'Authentication',
    doc: "Authorities whose client certificates are accepted, beside the server's own.",
  }),
  anonymousAuth: setting({
    flag: '--anonymous-auth',
    env: 'ORCH_ANONYMOUS_AUTH',
    type: bool,
    default: 'false',
    group: 'Authentication',
    doc: 'Requests without credentials are system:anonymous instead of being refused. As everything is allowed to everyone who is known, this needs a loopback address.',
  }),
  dataDir: setting({
    flag: '--data-dir',
    env: 'ORCH_DATA_DIR',
    type: path,
    default: '',
    defaultDoc: '.orch/<profile>',
    group: 'State',
    doc: "Folder for the state, the certificates and the administrator's client configuration.",
  }),
  memory: setting({
    flag: '--memory',
    env: 'ORCH_MEMORY',
    type: bool,
    default: 'false',
    group: 'State',
    doc: 'Keeps all objects in memory; only certificates and client configuration are written to the folder.',
  }),
  watchHistoryMs: setting({
    flag: '--watch-history',
    env: 'ORCH_WATCH_HISTORY',
    type: duration,
    default: '5m',
    group: 'State',
    doc: 'How long changes are kept, for watches to resume from and for lists to be continued.',
  }),
  eventTtlMs: setting({
    flag: '--event-ttl',
    env: 'ORCH_EVENT_TTL',
    type: duration,
    default: '1h',
    group: 'State',
    doc: 'How long Events are kept.',
  }),
  runtimeConfig: setting({
    flag: '--runtime-config',
    env: 'ORCH_RUNTIME_CONFIG',
    type: list,
    default: '',
    group: 'API',
    doc: 'Group versions and resources to switch, such as api/beta=false or batch/v1beta1=true.',
  }),
  featureGates: setting({
    flag: '--feature-gates',
    env: 'ORCH_FEATURE_GATES',
    type: list,
    default: '',
    group: 'API',
    doc: `Features to switch, such as APIListChunking=false. ${printActingGates()}`,
  }),
  controllers: setting({
    flag: '--controllers',
    env: 'ORCH_CONTROLLERS',
    type: list,
    default: '*',
    group: 'API',
    doc: 'Controllers to run: * is all, a name one more, a name with a dash before it one less. Known: namespace, bootstrap, garbage-collector.',
  }),
  serviceClusterIpRange: setting({
    flag: '--service-cluster-ip-range',
    env: 'ORCH_SERVICE_CLUSTER_IP_RANGE',
    type: cidr,
    default: '10.0.0.0/24',
    group: 'API',
    doc: 'Addresses that Services are given.',
  }),
  serviceNodePortRange: setting({
    flag: '--service-node-port-range',
    env: 'ORCH_SERVICE_NODE_PORT_RANGE',
    type: portRange,
    default: '30000-32767',
    group: 'API',
    doc: 'Ports that Services of type NodePort are given.',
  }),
}

/** `May be switched: APIListChunking (beta, true by default).` */
function printActingGates(): string {
  const gates = actingGates.map((name) => {
    const gate = gateOf(name)
    return `${name} (${gate?.stage}, ${gate?.isOnByDefault} by default)`
  })
  return `May be switched: ${gates.join(', ')}.`
}
