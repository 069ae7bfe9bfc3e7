import { type SettingType, settingsOf, settingTypes } from '@orch/platform'
import { previousRelease } from '../version.ts'
import { namedPairs } from './named-files.ts'

const { bool, duration, int, list, oneOf, path, string } = settingTypes
const setting = settingsOf('Serving')

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
    type: int({ min: 0, max: 65535 }),
    default: '6443',
    doc: 'HTTPS port; 0 chooses a free one.',
  }),
  bindAddress: setting({ flag: '--bind-address', type: string, default: '127.0.0.1', doc: 'Address to listen on; 0.0.0.0 or :: for all.' }),
  pathPrefix: setting({ flag: '--path-prefix', type: path, doc: 'Prefix of all paths that are served, such as /cluster-a.' }),
  tlsCertFile: setting({
    flag: '--tls-cert-file',
    type: path,
    doc: 'Serving certificate, followed by its intermediate certificates up to the authority, which client configurations of orch up then trust. Without it a certificate is generated. The file and its key are reloaded when they change.',
  }),
  tlsPrivateKeyFile: setting({ flag: '--tls-private-key-file', type: path, doc: 'Private key of --tls-cert-file.' }),
  tlsSniCertKey: setting({
    flag: '--tls-sni-cert-key',
    type: namedPairs,
    doc: 'Files of a certificate and its key for clients that ask for one of the names, or without names for one of those of the certificate. May be repeated; in one text semicolons separate. The files are reloaded when they change.',
  }),
  requestTimeoutMs: setting({
    flag: '--request-timeout',
    type: duration,
    default: '60s',
    doc: 'Maximum duration of a request other than a watch.',
  }),
  shutdownDelayMs: setting({
    flag: '--shutdown-delay-duration',
    type: duration,
    default: '0s',
    doc: 'How long the server keeps accepting connections after a termination signal, while /readyz fails.',
  }),
  shutdownSendRetryAfter: setting({
    flag: '--shutdown-send-retry-after',
    type: bool,
    default: 'false',
    doc: 'While open requests are finished after a termination signal, answers new ones with 429 and Retry-After instead of closing the port.',
  }),
  watchGraceMs: setting({
    flag: '--shutdown-watch-termination-grace-period',
    type: duration,
    default: '10s',
    doc: 'Longest time over which watches are ended one after the other after a termination signal, so that their clients do not all come back at once. 0 ends them together.',
  }),
  corsAllowedOrigins: setting({
    flag: '--cors-allowed-origins',
    type: list,
    doc: 'Regular expressions of origins whose pages may read answers, such as //example\\.com(:|$). Each pins the host by ^ or // at its start and by $ or : at its end.',
  }),
  strictTransportSecurityDirectives: setting({
    flag: '--strict-transport-security-directives',
    type: list,
    doc: 'Directives of the header Strict-Transport-Security: max-age=SECONDS, includeSubDomains, preload. Without any it is not sent.',
  }),
  profiling: setting({
    flag: '--profiling',
    type: bool,
    default: 'true',
    doc: 'Takes profiles of the gateway for those that may read /debug/pprof/profile and /debug/pprof/heap.',
  }),
  tlsMinVersion: setting({
    flag: '--tls-min-version',
    type: oneOf(['VersionTLS12', 'VersionTLS13']),
    default: 'VersionTLS12',
    doc: 'Minimum TLS version.',
  }),
  tlsCipherSuites: setting({
    flag: '--tls-cipher-suites',
    type: list,
    doc: 'Enabled cipher suites by their IANA names, such as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256. Empty means a current default. The suites of TLS 1.3 stay enabled unless some of them are listed.',
  }),
  http2MaxStreamsPerConnection: setting({
    flag: '--http2-max-streams-per-connection',
    type: int({ min: 0, max: 10_000 }),
    default: '0',
    doc: 'Maximum number of open requests on one HTTP/2 connection, watches included; 0 means 250.',
  }),
  minRequestTimeoutSeconds: setting({
    flag: '--min-request-timeout',
    type: int({ min: 1, max: 1_000_000 }),
    default: '1800',
    doc: 'Minimum duration, in seconds, of a watch that sets no timeoutSeconds. It ends at a random time before twice this value.',
  }),
  showHiddenMetricsForVersion: setting({
    flag: '--show-hidden-metrics-for-version',
    type: string,
    doc: `The previous release, ${previousRelease}: /metrics shows the deprecated metrics that are hidden since this release.`,
  }),
  goawayChance: setting({
    flag: '--goaway-chance',
    type: chance,
    default: '0',
    doc: 'Probability that an HTTP/2 client is asked to reconnect, so that clients spread over gateways. 0.001 is one request in a thousand.',
  }),
}
