import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { type ControllerName, selectControllers } from '@orch/controllers'
import {
  type FeatureGates,
  featureGates,
  namesOf,
  type Profile,
  parseFeatureGates,
  parseRuntimeConfigOf,
  type RuntimeConfig,
} from '@orch/core'
import { flagText, type KeyPair, loadSettingsFile, readSettings, SettingsError, suggestion, type Values } from '@orch/platform'
import { isLoopback } from './addresses.ts'
import type { Terminal } from './command-line.ts'
import { upSettings } from './settings.ts'

/** What `orch up` was told, checked. */
export interface UpOptions {
  readonly settings: Values<typeof upSettings>
  readonly dataDir: string
  /** A certificate of the caller's own to serve with. */
  readonly servingPair: KeyPair | undefined
  /** Further authorities of client certificates, PEM. */
  readonly clientCertificateAuthorities: string
  readonly featureGates: FeatureGates
  readonly runtimeConfig: RuntimeConfig
  readonly controllers: readonly ControllerName[]
}

/** Reads flags, environment and file, and refuses what does not go together. */
export async function readUpOptions(terminal: Terminal, flags: readonly string[]): Promise<UpOptions> {
  const configPath = flagText(flags, upSettings.config.flag) ?? terminal.env[upSettings.config.env] ?? ''
  const file = await loadSettingsFile(configPath === '' ? '' : resolve(terminal.workingFolder, configPath))
  const { values: settings } = readSettings(upSettings, { flags, env: terminal.env, file })
  checkAddresses(settings)
  return {
    settings: { ...settings, pathPrefix: settings.pathPrefix.replace(/\/$/, '') },
    dataDir: resolve(terminal.workingFolder, settings.dataDir === '' ? defaultDataDir(settings.profile) : settings.dataDir),
    servingPair: readServingPair(settings),
    clientCertificateAuthorities: readAuthorities(settings.clientCaFile),
    featureGates: readFeatureGates(settings.featureGates),
    runtimeConfig: readRuntimeConfig(settings.profile, settings.runtimeConfig),
    controllers: readControllers(settings.controllers),
  }
}

/** The folder of a profile's data, below the working folder. */
export function defaultDataDir(profile: Profile): string {
  return `.${namesOf('orch').serverServiceName}/${profile}`
}

function checkAddresses({ bindAddress, anonymousAuth, pathPrefix }: Values<typeof upSettings>): void {
  if (isIP(bindAddress) === 0) throw new SettingsError(`--bind-address=${bindAddress}: must be an IP address`)
  if (anonymousAuth && !isLoopback(bindAddress)) {
    throw new SettingsError(
      `--anonymous-auth=true with --bind-address=${bindAddress}: everything would be allowed to everyone who reaches that address; only a loopback address is accepted`,
    )
  }
  if (pathPrefix !== '' && !/^(\/[A-Za-z0-9._~-]+)+\/?$/.test(pathPrefix)) {
    throw new SettingsError(`--path-prefix=${pathPrefix}: must be a path such as /cluster-a`)
  }
}

function readServingPair({ tlsCertFile, tlsPrivateKeyFile }: Values<typeof upSettings>): KeyPair | undefined {
  if (tlsCertFile === '' && tlsPrivateKeyFile === '') return undefined
  if (tlsPrivateKeyFile === '') throw new SettingsError('--tls-cert-file needs --tls-private-key-file')
  if (tlsCertFile === '') throw new SettingsError('--tls-private-key-file needs --tls-cert-file')
  const certificate = readFile('--tls-cert-file', tlsCertFile)
  parseCertificate('--tls-cert-file', tlsCertFile, certificate)
  return { certificate, key: readFile('--tls-private-key-file', tlsPrivateKeyFile) }
}

function readAuthorities(path: string): string {
  if (path === '') return ''
  const text = readFile('--client-ca-file', path)
  parseCertificate('--client-ca-file', path, text)
  return text
}

function readFile(flag: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new SettingsError(`${flag}=${path}: the file cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

function parseCertificate(flag: string, path: string, text: string): X509Certificate {
  try {
    return new X509Certificate(text)
  } catch {
    throw new SettingsError(`${flag}=${path}: the file holds no certificate in PEM form`)
  }
}

/** The gates that words such as `APIListChunking=false` mean. */
export function readFeatureGates(words: readonly string[]): FeatureGates {
  const gates = parseFeatureGates(words)
  if (gates.kind === 'gates') return gates
  const known = featureGates().map(({ name }) => name)
  throw new SettingsError(`--feature-gates: ${gates.message}${gates.unknown === undefined ? '' : suggestion(gates.unknown, known)}`)
}

/** The group versions and resources that words such as `api/beta=false` switch. */
export function readRuntimeConfig(profile: Profile, words: readonly string[]): RuntimeConfig {
  const reading = parseRuntimeConfigOf(profile, words.join(','))
  if (reading.kind === 'malformed') throw new SettingsError(`--runtime-config: ${reading.message}`)
  return reading.config
}

/** The controllers that words such as `*` and `-namespace` mean. */
export function readControllers(words: readonly string[]): ControllerName[] {
  try {
    return selectControllers(words)
  } catch (error) {
    throw new SettingsError(`--controllers: ${(error as Error).message}`)
  }
}
