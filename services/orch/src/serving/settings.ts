import { isIP } from 'node:net'
import { printRelease } from '@orch/core/feature-gates'
import { type MetricReleases, SettingsError, type SettingType, settingsOf, settingTypes, suggestion, type Values } from '@orch/platform'
import { readLevel } from '../api/settings.ts'
import { readPairFiles, readPairIfNamed } from '../configuration/files.ts'

/** The selectable TLS 1.2 cipher suites by their registry names; the value is OpenSSL's name. */
const cipherSuites: Readonly<Record<string, string>> = {
  TLS_AES_128_GCM_SHA256: 'TLS_AES_128_GCM_SHA256',
  TLS_AES_256_GCM_SHA384: 'TLS_AES_256_GCM_SHA384',
  TLS_CHACHA20_POLY1305_SHA256: 'TLS_CHACHA20_POLY1305_SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_RSA_WITH_AES_128_CBC_SHA: 'AES128-SHA',
  TLS_RSA_WITH_AES_128_GCM_SHA256: 'AES128-GCM-SHA256',
  TLS_RSA_WITH_AES_256_CBC_SHA: 'AES256-SHA',
  TLS_RSA_WITH_AES_256_GCM_SHA384: 'AES256-GCM-SHA384',
}

/** The default: current suites with forward secrecy and authentication. */
const currentSuites: readonly string[] = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
  'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
  'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256',
  'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256',
]

/** Pairs of files with their host names. Semicolons separate pairs, because commas separate names. */
const namedPairs: SettingType<readonly NamedFiles[]> = {
  word: 'cert,key[:names]',
  expected: 'the files of a certificate and its key, such as a.crt,a.key, or a.crt,a.key:example.com,*.example.com with names',
  isList: true,
  between: ';',
  parse(text) {
    const pairs = text === '' ? [] : text.split(';').map(readNamedFiles)
    return pairs.includes(undefined) ? undefined : pairs.filter((pair) => pair !== undefined)
  },
}

/** Files of a certificate and its key, with their names; without names, the certificate's names count. */
type NamedFiles = NonNullable<ReturnType<typeof readNamedFiles>>

function readNamedFiles(text: string) {
  const colon = text.lastIndexOf(':')
  const [certificateFile = '', keyFile = '', ...rest] = (colon < 0 ? text : text.slice(0, colon)).split(',').map((file) => file.trim())
  const names = colon < 0 ? [] : text.slice(colon + 1).split(',')
  const isName = (name: string) => /^(?:\*\.)?(?:[a-z0-9](?:[-a-z0-9]*[a-z0-9])?\.)*[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/i.test(name)
  if (certificateFile === '' || keyFile === '' || rest.length > 0 || !names.every(isName)) return undefined
  return { certificateFile, keyFile, names }
}

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

/** The settings of a gateway's port. */
export const servingSettings = {
  securePort: setting({ flag: '--secure-port', type: int({ min: 0, max: 65535 }), default: '6443' }, 'HTTPS port; 0 chooses a free one.'),
  bindAddress: setting({ flag: '--bind-address', type: string, default: '127.0.0.1' }, 'Address to listen on; 0.0.0.0 or :: for all.'),
  pathPrefix: setting({ flag: '--path-prefix', type: path }, 'Prefix of all paths that are served, such as /cluster-a.'),
  tlsCertFile: setting(
    { flag: '--tls-cert-file', type: path },
    'Serving certificate, followed by its intermediate certificates up to the authority, which client configurations of orch up then trust. Without it a certificate is generated. The file and its key are reloaded when they change.',
  ),
  tlsPrivateKeyFile: setting({ flag: '--tls-private-key-file', type: path }, 'Private key of --tls-cert-file.'),
  tlsSniCertKey: setting(
    { flag: '--tls-sni-cert-key', type: namedPairs },
    'Files of a certificate and its key for clients that ask for one of the names, or without names for one of those of the certificate. May be repeated; in one text semicolons separate. The files are reloaded when they change.',
  ),
  requestTimeoutMs: setting(
    { flag: '--request-timeout', type: duration, default: '60s' },
    'Maximum duration of a request other than a watch.',
  ),
  shutdownDelayMs: setting(
    { flag: '--shutdown-delay-duration', type: duration, default: '0s' },
    'Time in which the server keeps accepting connections after a termination signal, while /readyz fails.',
  ),
  sendsRetryAfter: setting(
    { flag: '--shutdown-send-retry-after', type: bool, default: 'false' },
    'While open requests are finished after a termination signal, answers new ones with 429 and Retry-After instead of closing the port.',
  ),
  watchGraceMs: setting(
    { flag: '--shutdown-watch-termination-grace-period', type: duration, default: '10s' },
    'Longest time over which watches are ended one after the other after a termination signal, so that their clients do not all come back at once. 0 ends them together.',
  ),
  corsAllowedOrigins: setting(
    { flag: '--cors-allowed-origins', type: list },
    'Regular expressions of origins whose pages may read answers, such as //example\\.com(:|$). Each pins the host by ^ or // at its start and by $ or : at its end.',
  ),
  strictTransportSecurityDirectives: setting(
    { flag: '--strict-transport-security-directives', type: list },
    'Directives of the header Strict-Transport-Security: max-age=SECONDS, includeSubDomains, preload. Without any it is not sent.',
  ),
  takesProfiles: setting(
    { flag: '--profiling', type: bool, default: 'true' },
    'Takes profiles of the gateway for those that may read /debug/pprof/profile and /debug/pprof/heap.',
  ),
  tlsMinVersion: setting(
    { flag: '--tls-min-version', type: oneOf(['VersionTLS12', 'VersionTLS13']), default: 'VersionTLS12' },
    'Minimum TLS version.',
  ),
  tlsCipherSuites: setting(
    { flag: '--tls-cipher-suites', type: list },
    'Enabled cipher suites by their IANA names, such as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256. Empty means a current default. The suites of TLS 1.3 stay enabled unless some of them are listed.',
  ),
  tlsCurvePreferences: setting(
    { flag: '--tls-curve-preferences', type: list },
    'Key exchanges by the numbers that TLS gives them: 23 (P-256), 24 (P-384), 25 (P-521), 29 (X25519), 4588 (X25519MLKEM768). Empty means the defaults of OpenSSL.',
  ),
  http2MaxStreamsPerConnection: setting(
    { flag: '--http2-max-streams-per-connection', type: int({ min: 0, max: 10_000 }), default: '0' },
    'Maximum number of open requests on one HTTP/2 connection, watches included; 0 means 250.',
  ),
  minRequestTimeoutSeconds: setting(
    { flag: '--min-request-timeout', type: int({ min: 1, max: 1_000_000 }), default: '1800' },
    'Minimum duration, in seconds, of a watch that sets no timeoutSeconds. It ends at a random time before twice this value.',
  ),
  showHiddenMetricsForVersion: setting(
    { flag: '--show-hidden-metrics-for-version', type: string },
    'The release before the one that is served, such as 1.36: /metrics shows the deprecated metrics that are hidden since this release.',
  ),
  console: setting(
    { flag: '--console', type: oneOf(['auto', 'true', 'false']), default: 'auto' },
    'Serves the console, pages for browsers, at /console/. auto: orch up serves it on a loopback address. See docs/how-to/console.md.',
  ),
  goawayChance: setting(
    { flag: '--goaway-chance', type: chance, default: '0' },
    'Probability that an HTTP/2 client is asked to reconnect, so that clients spread over gateways. 0.001 is one request in a thousand.',
  ),
}

/** The options of a gateway's port. */
export type ServingOptions = ReturnType<typeof readServing>

type LevelledValues = Values<typeof servingSettings> & { readonly emulatedVersion?: readonly string[] }

/** Checks the settings and reads the files that they name. */
export function readServing(settings: LevelledValues) {
  const { bindAddress, pathPrefix, http2MaxStreamsPerConnection: streamsMax } = settings
  if (isIP(bindAddress) === 0) throw new SettingsError(`--bind-address=${bindAddress}: must be an IP address`)
  if (pathPrefix !== '' && !/^(\/[A-Za-z0-9._~-]+)+\/?$/.test(pathPrefix)) {
    throw new SettingsError(`--path-prefix=${pathPrefix}: must be a path such as /cluster-a`)
  }
  const own = readPairIfNamed({
    certificate: { flag: '--tls-cert-file', path: settings.tlsCertFile },
    key: { flag: '--tls-private-key-file', path: settings.tlsPrivateKeyFile },
  })
  return {
    ...settings,
    /** Without a slash at the end; empty for none. */
    pathPrefix: pathPrefix.replace(/\/$/, ''),
    /** A certificate that the caller provides. */
    servingPair: own?.pair,
    /** The certificate's files; the server serves a later pair from them. */
    servingFiles: own?.files,
    /** Certificates that the client's SNI selects. */
    namedPairs: settings.tlsSniCertKey.map(readNamedPair),
    /** The headers of answers to browsers. */
    browser: {
      allowedOrigins: settings.corsAllowedOrigins.map(readOrigin),
      transportSecurity: readTransportSecurity(settings.strictTransportSecurityDirectives),
    },
    tlsMinVersion: settings.tlsMinVersion === 'VersionTLS13' ? ('TLSv1.3' as const) : ('TLSv1.2' as const),
    /** OpenSSL's names, separated by colons. */
    ciphers: readCiphers(settings.tlsCipherSuites),
    /** In the form of `ciphers`; undefined for OpenSSL's defaults. */
    curves: readCurves(settings.tlsCurvePreferences),
    watchLifeMs: settings.minRequestTimeoutSeconds * 1000,
    /** Undefined for the gateway's default. */
    streamsPerConnectionMax: streamsMax === 0 ? undefined : streamsMax,
    /** The deprecated metrics that the server shows. */
    metricReleases: readMetricReleases(settings),
  }
}

function readMetricReleases({ showHiddenMetricsForVersion: version, emulatedVersion = [] }: LevelledValues): MetricReleases {
  const level = readLevel(emulatedVersion)
  const previousRelease = printRelease(level - 1)
  if (version !== '' && version !== previousRelease) {
    throw new SettingsError(`--show-hidden-metrics-for-version=${version}: must be ${previousRelease}, the release before this one`)
  }
  return { current: printRelease(level), showsHidden: version !== '' }
}

function readNamedPair({ certificateFile, keyFile, names }: NamedFiles) {
  const flag = '--tls-sni-cert-key'
  readPairFiles({ certificate: { flag, path: certificateFile }, key: { flag, path: keyFile } })
  return { files: { certificateFile, keyFile }, names }
}

/** An expression without anchors would also match longer host names. */
function readOrigin(text: string): RegExp {
  const refuse = (reason: string) => new SettingsError(`--cors-allowed-origins=${text}: ${reason}`)
  if (!/\^|\/\//.test(text) || !/\$|:/.test(text))
    throw refuse('must pin the start and the end of the host, such as //example\\.com(:|$) or ^https://example\\.com$')
  try {
    return new RegExp(text, 'u')
  } catch {
    throw refuse('is not a regular expression')
  }
}

function readTransportSecurity(directives: readonly string[]): string {
  const wrong = directives.find((one) => !/^(?:max-age=\d+|includeSubDomains|preload)$/.test(one))
  if (wrong === undefined) return directives.join('; ')
  throw new SettingsError(`--strict-transport-security-directives=${wrong}: must be max-age=SECONDS, includeSubDomains or preload`)
}

/** TLS 1.3 suites are chosen separately, so a choice without a 1.3 suite affects only the others. */
function readCiphers(names: readonly string[]): string {
  const isOf13 = (name: string) => !name.includes('_WITH_')
  const chosen = names.length === 0 ? currentSuites : [...(names.some(isOf13) ? [] : currentSuites.filter(isOf13)), ...names]
  return chosen.map(openSslName).join(':')
}

const curveNames: Readonly<Record<string, string>> = { 23: 'P-256', 24: 'P-384', 25: 'P-521', 29: 'X25519', 4588: 'X25519MLKEM768' }

function readCurves(numbers: readonly string[]): string | undefined {
  if (numbers.length === 0) return undefined
  const names = numbers.map((number) => {
    const name = Object.hasOwn(curveNames, number) ? curveNames[number] : undefined
    if (name !== undefined) return name
    throw new SettingsError(`--tls-curve-preferences: ${number} is no known key exchange; known are ${Object.keys(curveNames).join(', ')}`)
  })
  return names.join(':')
}

function openSslName(name: string): string {
  const found = cipherSuites[name]
  if (found !== undefined) return found
  const known = Object.keys(cipherSuites)
  throw new SettingsError(
    `--tls-cipher-suites: unknown or insecure cipher suite ${name}${suggestion(name, known)}; known are ${known.join(', ')}`,
  )
}
