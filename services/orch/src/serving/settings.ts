import { type SettingType, setting, settingTypes } from '@orch/platform'
import { previousRelease } from '../version.ts'

const { duration, int, list, oneOf, path, string } = settingTypes

const chanceMax = 0.02

const chance: SettingType<number> = {
  word: 'float',
  expected: `a number between 0 and ${chanceMax}`,
  parse(text) {
    const value = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN
    return value <= chanceMax ? value : undefined
  },
}

/** How clients reach a gateway. */
export const servingSettings = {
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
    doc: 'Certificate to serve with, followed by those that signed it up to their authority, which client configurations of orch up then trust; without it one is made. It is read again when it has changed, with its key.',
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
  tlsMinVersion: setting({
    flag: '--tls-min-version',
    env: 'ORCH_TLS_MIN_VERSION',
    type: oneOf(['VersionTLS12', 'VersionTLS13']),
    default: 'VersionTLS12',
    group: 'Serving',
    doc: 'Oldest version of TLS that is spoken.',
  }),
  tlsCipherSuites: setting({
    flag: '--tls-cipher-suites',
    env: 'ORCH_TLS_CIPHER_SUITES',
    type: list,
    default: '',
    group: 'Serving',
    doc: 'Cipher suites that are spoken, by the names of the registry, such as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256; empty is those that are current. Those of TLS 1.3 stay unless some of them are named.',
  }),
  http2MaxStreamsPerConnection: setting({
    flag: '--http2-max-streams-per-connection',
    env: 'ORCH_HTTP2_MAX_STREAMS_PER_CONNECTION',
    type: int({ min: 0, max: 10_000 }),
    default: '0',
    group: 'Serving',
    doc: 'Requests that one HTTP/2 connection may have open, watches too; 0 is 250.',
  }),
  minRequestTimeoutSeconds: setting({
    flag: '--min-request-timeout',
    env: 'ORCH_MIN_REQUEST_TIMEOUT',
    type: int({ min: 1, max: 1_000_000 }),
    default: '1800',
    group: 'Serving',
    doc: 'Seconds that a watch lasts at least that asks for no other time; it ends at random before twice that.',
  }),
  showHiddenMetricsForVersion: setting({
    flag: '--show-hidden-metrics-for-version',
    env: 'ORCH_SHOW_HIDDEN_METRICS_FOR_VERSION',
    type: string,
    default: '',
    group: 'Serving',
    doc: `The release before this one, ${previousRelease}: /metrics shows once more the deprecated metrics that were shown in it and are hidden in this one.`,
  }),
  goawayChance: setting({
    flag: '--goaway-chance',
    env: 'ORCH_GOAWAY_CHANCE',
    type: chance,
    default: '0',
    group: 'Serving',
    doc: 'How often an HTTP/2 client is asked to connect anew, so that clients spread over gateways: 0.001 is one request in a thousand.',
  }),
}
