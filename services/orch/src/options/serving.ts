import { isIP } from 'node:net'
import { type KeyPair, SettingsError, type Values } from '@orch/platform'
import type { servingSettings } from '../settings/serving.ts'
import { readCertificateFile, readFlagFile } from './files.ts'

/** How clients reach a gateway. */
export interface ServingOptions {
  readonly bindAddress: string
  readonly securePort: number
  /** Without a slash at the end; empty for none. */
  readonly pathPrefix: string
  /** A certificate of the caller's own to serve with. */
  readonly servingPair: KeyPair | undefined
  readonly requestTimeoutMs: number
  readonly shutdownDelayMs: number
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
    requestTimeoutMs,
    shutdownDelayMs,
  }
}

function readServingPair({ tlsCertFile, tlsPrivateKeyFile }: ServingValues): KeyPair | undefined {
  if (tlsCertFile === '' && tlsPrivateKeyFile === '') return undefined
  if (tlsPrivateKeyFile === '') throw new SettingsError('--tls-cert-file needs --tls-private-key-file')
  if (tlsCertFile === '') throw new SettingsError('--tls-private-key-file needs --tls-cert-file')
  return {
    certificate: readCertificateFile('--tls-cert-file', tlsCertFile),
    key: readFlagFile('--tls-private-key-file', tlsPrivateKeyFile),
  }
}
