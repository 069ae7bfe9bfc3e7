import { parseRuntimeConfigOf, type RuntimeConfig } from '@orch/core/catalogue'
import {
  actingGates,
  type FeatureGates,
  featureGates,
  gateOf,
  knownReleases,
  parseFeatureGates,
  printRelease,
} from '@orch/core/feature-gates'
import type { Profile } from '@orch/core/names'
import { SettingsError, settingsOf, settingTypes, suggestion, type Values } from '@orch/platform'

const { cidrPair, duration, list, portRange } = settingTypes
const setting = settingsOf('API')

/** The feature gates, for all services that use them. */
export const gateSettings = {
  emulatedVersion: setting(
    { flag: '--emulated-version', type: list, defaultDoc: `kube=${printRelease(knownReleases.byDefault)}` },
    'Release to be like, from 1.23 to 1.37, as kube=1.27 or 1.27: it decides kinds, fields, rules, feature gates, and which group versions are served and deprecated. All services must agree.',
  ),
  featureGates: setting({ flag: '--feature-gates', type: list }, `Features to switch, such as WatchList=false. ${printActingGates()}`),
}

/** The served API; all services of a control plane must agree. */
export const apiSettings = {
  emulatedVersion: gateSettings.emulatedVersion,
  runtimeConfig: setting(
    { flag: '--runtime-config', type: list },
    'Group versions and resources to enable or disable, such as api/beta=false or batch/v1beta1=true.',
  ),
  featureGates: gateSettings.featureGates,
}

/** `Available: WatchList (beta, true by default).` */
function printActingGates(): string {
  const gates = actingGates.flatMap((name) => {
    const gate = gateOf(name, knownReleases.byDefault)
    return gate === undefined || gate.isLocked ? [] : [`${name} (${gate.stage}, ${gate.isOnByDefault} by default)`]
  })
  const deprecated = featureGates(knownReleases.byDefault).flatMap(({ name, stage, isOnByDefault }) =>
    stage === 'deprecated' ? [`${name} (DEPRECATED, ${isOnByDefault})`] : [],
  )
  return `Available: ${gates.join(', ')}. Other known features have no effect here; setting one that is locked or deprecated prints a warning: ${deprecated.join(', ')}.`
}

const inState = settingsOf('State')
const inApi = settingsOf('API')

/** The settings of values that the server assigns to objects. */
export const objectsSettings = {
  eventTtlMs: inState({ flag: '--event-ttl', type: duration, default: '1h' }, 'Time to live of Events.'),
  serviceClusterIpRange: inApi(
    { flag: '--service-cluster-ip-range', type: cidrPair, default: '10.0.0.0/24' },
    'IP range for addresses of Services: one, or one of IPv4 and one of IPv6 with a comma between them; the first is for Services that request no family.',
  ),
  serviceNodePortRange: inApi(
    { flag: '--service-node-port-range', type: portRange, default: '30000-32767' },
    'Port range for node ports of Services.',
  ),
}

/** The served API. */
export interface ApiOptions {
  readonly profile: Profile
  readonly runtimeConfig: RuntimeConfig
  readonly featureGates: FeatureGates
  /** Minor version of the emulated release. */
  readonly level: number
  /** True if metrics.k8s.io is served, with simulated nodes. */
  readonly servesMetrics: boolean
}

type ApiValues = Pick<Values<typeof apiSettings>, 'runtimeConfig' | 'featureGates'> &
  Partial<Values<typeof apiSettings>> & {
    /** Nodes simulated in this process, and processes that simulate nodes. */
    readonly simulatedNodes?: number
    readonly nodesAddress?: readonly string[]
  }

/** Checks the settings. */
export function readApi({ profile, runtimeConfig, featureGates, ...rest }: ApiValues & { readonly profile: Profile }): ApiOptions {
  const level = readLevel(rest.emulatedVersion ?? [])
  return {
    profile,
    runtimeConfig: readRuntimeConfig(profile, runtimeConfig, level),
    featureGates: readFeatureGates(featureGates, level),
    level,
    servesMetrics: (rest.simulatedNodes ?? 0) > 0 || (rest.nodesAddress ?? []).length > 0,
  }
}

/** The minor version in the last of words such as `kube=1.27` and `1.27`; by default the newest. */
export function readLevel(words: readonly string[]): number {
  return words.map(readEmulatedRelease).at(-1) ?? knownReleases.byDefault
}

function readEmulatedRelease(word: string): number {
  const refuse = (reason: string) => new SettingsError(`--emulated-version=${word}: ${reason}`)
  const { component = 'kube', minor: text } = /^(?:(?<component>[^=]*)=)?v?1\.(?<minor>\d{1,4})(?:\.0)?$/.exec(word)?.groups ?? {}
  const { oldest, newest } = knownReleases
  if (text === undefined) throw refuse(`must be a release from 1.${oldest} to 1.${newest}, such as kube=1.27`)
  if (component !== 'kube') throw refuse(`there is no component ${component} whose release could be emulated, only kube`)
  const minor = Number(text)
  if (minor > newest) throw refuse(`must be at most 1.${newest}, the newest release whose types are known here`)
  if (minor < oldest) throw refuse(`must be at least 1.${oldest}: older releases serve group versions that the types here do not have`)
  return minor
}

/** The gates of words such as `WatchList=false`. */
function readFeatureGates(words: readonly string[], minor: number): FeatureGates {
  const gates = parseFeatureGates(words, minor)
  if (gates.kind === 'gates') return gates
  const known = featureGates(minor).map(({ name }) => name)
  throw new SettingsError(`--feature-gates: ${gates.message}${gates.unknown === undefined ? '' : suggestion(gates.unknown, known)}`)
}

/** The group versions and resources of words such as `api/beta=false`. */
function readRuntimeConfig(profile: Profile, words: readonly string[], minor: number): RuntimeConfig {
  const reading = parseRuntimeConfigOf(profile, words.join(','), minor)
  if (reading.kind === 'malformed') throw new SettingsError(`--runtime-config: ${reading.message}`)
  return reading.config
}

/** For services behind the gateways: serves all resources, because only gateways decide the served ones. */
export function everythingServed(profile: Profile, emulatedVersion: readonly string[] = []): ApiOptions {
  return readApi({ profile, emulatedVersion, runtimeConfig: ['api/all=true'], featureGates: [] })
}

/** For admission behind the gateways, which must default gated fields equally. */
export function everythingServedWith(settings: Values<typeof gateSettings> & { readonly profile: Profile }): ApiOptions {
  return readApi({ ...settings, runtimeConfig: ['api/all=true'] })
}
