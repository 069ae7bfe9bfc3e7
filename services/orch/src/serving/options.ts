import { isIP } from 'node:net'
import { type KeyPair, type MetricReleases, type PairFiles, SettingsError, suggestion, type Values } from '@orch/platform'
import { readPairFiles } from '../configuration/flag-files.ts'
import { apiRelease, previousRelease } from '../version.ts'
import { cipherSuites, currentSuites } from './cipher-suites.ts'
import type { NamedFiles } from './named-files.ts'
import type { servingSettings } from './settings.ts'

/** How clients reach a gateway. */
export interface ServingOptions {
  readonly bindAddress: string
  readonly securePort: number
  /** Without a slash at the end; empty for none. */
  readonly pathPrefix: string
  /** A certificate of the caller's own to serve with. */
  readonly servingPair: KeyPair | undefined
  /** Where it came from; what is there later is served then. */
  readonly servingFiles: PairFiles | undefined
  /** Certificates for clients that ask for their names. */
  readonly namedPairs: readonly NamedPairFiles[]
  /** What answers say to browsers. */
  readonly browser: { readonly allowedOrigins: readonly RegExp[]; readonly transportSecurity: string }
  readonly sendsRetryAfter: boolean
  readonly takesProfiles: boolean
  /** Longest that watches are spread over at the end. */
  readonly watchGraceMs: number
  readonly requestTimeoutMs: number
  readonly shutdownDelayMs: number
  readonly tlsMinVersion: 'TLSv1.2' | 'TLSv1.3'
  /** As OpenSSL calls them, with colons between. */
  readonly ciphers: string
  /** Undefined: as the gateway thinks best. */
  readonly streamsPerConnectionMax: number | undefined
  readonly watchLifeMs: number
  readonly goawayChance: number
  /** Which deprecated metrics are shown. */
  readonly metricReleases: MetricReleases
}

interface NamedPairFiles {
  readonly files: PairFiles
  readonly names: readonly string[]
}

type ServingValues = Values<typeof servingSettings>

/** Checks the settings and reads the files that they name. */
export function readServing(settings: ServingValues): ServingOptions {
  const { bindAddress, securePort, pathPrefix, requestTimeoutMs, shutdownDelayMs } = settings
  if (isIP(bindAddress) === 0) throw new SettingsError(`--bind-address=${bindAddress}: must be an IP address`)
  if (pathPrefix !== '' && !/^(\/[A-Za-z0-9._~-]+)+\/?$/.test(pathPrefix)) {
    throw new SettingsError(`--path-prefix=${pathPrefix}: must be a path such as /cluster-a`)
  }
  return {
    bindAddress,
    securePort,
    pathPrefix: pathPrefix.replace(/\/$/, ''),
    servingPair: readServingPair(settings),
    servingFiles: settings.tlsCertFile === '' ? undefined : { certificateFile: settings.tlsCertFile, keyFile: settings.tlsPrivateKeyFile },
    namedPairs: settings.tlsSniCertKey.map(readNamedPair),
    browser: {
      allowedOrigins: settings.corsAllowedOrigins.map(readOrigin),
      transportSecurity: readTransportSecurity(settings.strictTransportSecurityDirectives),
    },
    sendsRetryAfter: settings.shutdownSendRetryAfter,
    takesProfiles: settings.profiling,
    watchGraceMs: settings.watchGraceMs,
    requestTimeoutMs,
    shutdownDelayMs,
    tlsMinVersion: settings.tlsMinVersion === 'VersionTLS13' ? 'TLSv1.3' : 'TLSv1.2',
    ciphers: readCiphers(settings.tlsCipherSuites),
    streamsPerConnectionMax: settings.http2MaxStreamsPerConnection === 0 ? undefined : settings.http2MaxStreamsPerConnection,
    watchLifeMs: settings.minRequestTimeoutSeconds * 1000,
    goawayChance: settings.goawayChance,
    metricReleases: readMetricReleases(settings),
  }
}

function readMetricReleases({ showHiddenMetricsForVersion: version }: ServingValues): MetricReleases {
  if (version !== '' && version !== previousRelease) {
    throw new SettingsError(`--show-hidden-metrics-for-version=${version}: must be ${previousRelease}, the release before this one`)
  }
  return { current: apiRelease, showsHidden: version !== '' }
}

function readNamedPair({ certificateFile, keyFile, names }: NamedFiles): NamedPairFiles {
  const flag = '--tls-sni-cert-key'
  readPairFiles({ certificate: { flag, path: certificateFile }, key: { flag, path: keyFile } })
  return { files: { certificateFile, keyFile }, names }
}

/** An expression that does not say where the host begins and ends would match hosts of others. */
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

function readServingPair({ tlsCertFile, tlsPrivateKeyFile }: ServingValues): KeyPair | undefined {
  if (tlsCertFile === '' && tlsPrivateKeyFile === '') return undefined
  if (tlsPrivateKeyFile === '') throw new SettingsError('--tls-cert-file needs --tls-private-key-file')
  if (tlsCertFile === '') throw new SettingsError('--tls-private-key-file needs --tls-cert-file')
  return readPairFiles({
    certificate: { flag: '--tls-cert-file', path: tlsCertFile },
    key: { flag: '--tls-private-key-file', path: tlsPrivateKeyFile },
  })
}

/** Suites of TLS 1.3 are chosen apart from the others, so a choice that names none of them is about the others. */
function readCiphers(names: readonly string[]): string {
  const isOf13 = (name: string) => !name.includes('_WITH_')
  const chosen = names.length === 0 ? currentSuites : [...(names.some(isOf13) ? [] : currentSuites.filter(isOf13)), ...names]
  return chosen.map(openSslName).join(':')
}

function openSslName(name: string): string {
  const found = cipherSuites[name]
  if (found !== undefined) return found
  const known = Object.keys(cipherSuites)
  throw new SettingsError(
    `--tls-cipher-suites: unknown or insecure cipher suite ${name}${suggestion(name, known)}; known are ${known.join(', ')}`,
  )
}
