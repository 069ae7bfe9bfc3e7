import { isIP } from 'node:net'
import { type KeyPair, type MetricReleases, type PairFiles, SettingsError, suggestion, type Values } from '@orch/platform'
import { readPairFiles } from '../certificates/flag-files.ts'
import { apiRelease, previousRelease } from '../version.ts'
import { cipherSuites, currentSuites } from './cipher-suites.ts'
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
