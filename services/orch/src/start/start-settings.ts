import type { ControllerName } from '@orch/controllers'
import { durationToMs, parseDuration } from '@orch/core/meta'
import type { Profile } from '@orch/core/names'
import {
  type Chance,
  type Clock,
  eachSetting,
  flagTexts,
  type Log,
  readSettings,
  type Settings,
  SettingsError,
  type SettingType,
  seededChance,
  settingTypes,
  suggestion,
  systemChance,
} from '@orch/platform'
import type { StateSnapshot } from '@orch/storage'
import { admissionSettings, pluginsToDisable, webhookSettings } from '../admission/settings.ts'
import { apiSettings, objectsSettings } from '../api/settings.ts'
import { authenticationSettings } from '../authentication/settings.ts'
import { authorizationSettings } from '../authorization/settings.ts'
import { controllersSettings, readControllers } from '../controllers/settings.ts'
import { flagsElsewhere, generalSettings, storageSettings } from '../settings/general.ts'
import { controlSettings, serviceSettings } from '../settings/up.ts'
import type { WebhookHandler } from './webhook-endpoint.ts'

/** Flags of a server in memory. */
const startSettings = {
  profile: generalSettings.profile,
  ...serviceSettings,
  ...storageSettings,
  control: controlSettings.control,
}

/** Options of a server for tests; each has a default. */
export interface StartOptions {
  /**
   * A snapshot of another server, with which this server starts. Its options are the defaults here. The profile must be the same; the clock is
   * virtual if it was virtual in the snapshot. By default the server starts empty.
   */
  readonly from?: StateSnapshot
  /** Selects the names of groups, labels and namespaces; `orch` by default. */
  readonly profile?: Profile
  /** The emulated release, from `1.23` to `1.37`; the newest by default. */
  readonly version?: string
  /** Feature gates, such as `WatchList=false`. */
  readonly featureGates?: readonly string[]
  /** Controllers to run, such as `*` and `-namespace`. By default all except those that create objects in every namespace. */
  readonly controllers?: readonly string[]
  /** Number of simulated nodes, which run Pods without containers; 0 by default. Nodes also enable the workload controllers. */
  readonly nodes?: number
  /** API versions and resources to enable or disable, such as `api/beta=false`. */
  readonly runtimeConfig?: readonly string[]
  /** Accepts requests without credentials as `system:anonymous`. True by default, unless the mode AlwaysAllow is on. */
  readonly anonymousAuth?: boolean
  /** Prefix of all URL paths, such as `/cluster-a`. */
  readonly pathPrefix?: string
  /** Timeout of requests other than watches; a minute by default. */
  readonly requestTimeoutMs?: number
  /**
   * Retention of changes for `server.at`, `server.timeline`, watches and continued lists: `'all'` (the default) keeps changes of any age within 256
   * MiB; a time such as `'5m'`, or `{ bytes }`, limits them. The oldest changes are dropped first, with one warning in the log.
   */
  readonly history?: HistoryOption
  /** `history` as a number of milliseconds. */
  readonly watchHistoryMs?: number
  /** Retention of Events; an hour by default. */
  readonly eventTtlMs?: number
  /** IP range of Services, such as `10.0.0.0/24`, or one of each family: `10.0.0.0/24,fd00::/108`. */
  readonly serviceClusterIpRange?: string
  /** Node port range of Services, such as `30000-32767`. */
  readonly serviceNodePortRange?: string
  /** Enables the console; `RunningServer.console` returns a link to it. False by default. */
  readonly console?: boolean
  /** Other flags of `orch up`: `['--shutdown-delay-duration=1s']`. */
  readonly flags?: readonly string[]
  /** Files and folders whose objects are installed at the start, such as `['./config/crd']`; see `RunningServer.install`. */
  readonly crds?: readonly string[]
  /** Webhook configurations in files and folders, and the handler that they call. */
  readonly webhooks?: { readonly paths: readonly string[]; readonly handler: WebhookHandler }
  /** Records messages between services; `stop` rejects if their bytes have changed. */
  readonly freezesLinks?: boolean
  /** The machine's clock by default. A `virtualClock()` moves only when the test advances it; certificates are then valid from 1970 to 9999. */
  readonly clock?: Clock
  /**
   * Seed of uids, generated names, addresses and other random values except keys. Two servers with the same seed and the same virtual time store the
   * same objects after the same sequence of requests. Only for tests, because a seed can be guessed.
   */
  readonly seed?: number | string
  /** Returns a number in [0, 1); replaces the random source of the seed or the system. */
  readonly random?: () => number
  /**
   * `seeded` serializes the requests of clients: each passes when the server is idle, in an order drawn from `seed`, which is required. By default
   * requests pass in order of arrival.
   */
  readonly order?: 'seeded'
  /**
   * Seed, order and weather of a run of `orch explore`: the text of the variable ORCH_EXPLORE, such as `7`. By default that variable of this process.
   */
  readonly exploration?: string
  /** Serves `/orch/v1`, a control API for programs in any language; `RunningServer.control` has its URL and token. */
  readonly control?: boolean
  /** The server's log; silent by default. */
  readonly log?: Log
}

/** The options of a fork of `orch up`: the flags that a server in memory supports, and a separate port. */
export function optionsOfFork(profile: Profile, texts: ReadonlyMap<string, string>): StartOptions {
  const own = flagsOf(startSettings)
  const flags = [...texts].filter(
    ([flag]) => own.has(flag) && flag !== startSettings.securePort.flag && flag !== startSettings.profile.flag,
  )
  const controllers = texts.has(startSettings.controllers.flag) ? {} : { controllers: ['*'] }
  const console = texts.get(startSettings.console.flag) !== 'false'
  return { profile, ...controllers, control: true, console, flags: flags.map(([flag, text]) => `${flag}=${text}`) }
}

const flagsOf = (settings: Settings) => new Set<string>(eachSetting(settings).map(({ flag }) => flag))

/**
 * Flags that do not affect the initial objects, or whose settings are in `objectSettingsOf`. Each server publishes its own client authorities.
 * `proxyFlags` is separate because proxies publish more.
 */
const usualFlags = flagsOf({
  ...apiSettings,
  ...authenticationSettings,
  ...authorizationSettings,
  ...controllersSettings,
  ...objectsSettings,
  ...webhookSettings,
  disableAdmissionPlugins: admissionSettings.disableAdmissionPlugins,
})
const proxyFlags = flagsOf(authenticationSettings.requestheader)

/** True for a flag with its value in one word, if servers with this flag and equal `objectSettingsOf` start with the same objects. */
export function isUsualFlag(word: string): boolean {
  const [flag = '', value] = word.split('=', 2)
  return value !== undefined && usualFlags.has(flag) && !proxyFlags.has(flag)
}

/** The settings that affect the initial objects, as text. */
export function objectSettingsOf(settings: StartSettings): string {
  const { profile, emulatedVersion, featureGates, runtimeConfig, serviceClusterIpRange, serviceNodePortRange } = settings
  const { disableAdmissionPlugins, simulatedNodes } = settings
  const ranges = [serviceClusterIpRange.map(({ text }) => text), serviceNodePortRange]
  const nodes = simulatedNodes > 0 && { hasVolumes: readControllers(settings).includes('simulated-provisioner') }
  return JSON.stringify([profile, emulatedVersion, featureGates, runtimeConfig, ranges, disableAdmissionPlugins, nodes])
}

const controllersInNamespaces: readonly ControllerName[] = ['serviceaccount', 'root-ca-cert-publisher']

/** All except those that create objects in every namespace. Only objects of the test exist, and a reset needs no cleanup. */
const quietControllers = ['*', ...controllersInNamespaces.map((name) => `-${name}`)]

/** True if no controller has work at the initial objects. */
export function startsAtRest(settings: StartSettings): boolean {
  return settings.simulatedNodes === 0 && !readControllers(settings).some((name) => controllersInNamespaces.includes(name))
}

const members =
  'from profile version featureGates controllers nodes runtimeConfig anonymousAuth pathPrefix requestTimeoutMs history watchHistoryMs eventTtlMs serviceClusterIpRange serviceNodePortRange console flags crds webhooks freezesLinks clock seed random order exploration control log'.split(
    ' ',
  )

/** Checks the options of JavaScript callers, which no compiler checks. */
function checkMembers(options: StartOptions): void {
  const unknown = Object.keys(options).find((name) => !members.includes(name))
  if (unknown !== undefined) throw new SettingsError(`start(): unknown option ${unknown}${suggestion(unknown, members)}`)
}

function checkOrder({ order, seed }: StartOptions): void {
  if (order === undefined) return
  if (order !== 'seeded') throw new SettingsError(`order: ${String(order)}: must be seeded`)
  if (seed === undefined) throw new SettingsError("order: 'seeded' needs seed, which draws the order")
}

/** The settings of a server by its options. */
export type StartSettings = Readonly<ReturnType<typeof readStartSettings>>

/** Converts flags, then the other options. */
export function readStartSettings(options: StartOptions) {
  checkMembers(options)
  checkOrder(options)
  const { values, texts } = readSettings(startSettings, { flags: options.flags ?? [], env: {}, elsewhere: flagsElsewhere })
  const isGiven = ({ flag }: { readonly flag: string }) => texts.has(flag)
  const controllers = options.controllers ?? (isGiven(startSettings.controllers) ? values.controllers : quietControllers)
  const simulatedNodes = parsed('nodes', startSettings.simulatedNodes.type, options.nodes?.toString()) ?? values.simulatedNodes
  return {
    ...values,
    simulatedNodes,
    disableAdmissionPlugins: pluginsToDisable(values, readControllers({ controllers, simulatedNodes })),
    securePort: isGiven(startSettings.securePort) ? values.securePort : 0,
    flagTexts: flagTexts(startSettings, texts),
    watchGraceMs: isGiven(startSettings.watchGraceMs) ? values.watchGraceMs : 0,
    profile: parsed('profile', startSettings.profile.type, options.profile) ?? values.profile,
    emulatedVersion: options.version === undefined ? values.emulatedVersion : [options.version],
    featureGates: options.featureGates ?? values.featureGates,
    controllers,
    runtimeConfig: options.runtimeConfig ?? values.runtimeConfig,
    anonymousAuth: options.anonymousAuth ?? values.anonymousAuth,
    pathPrefix: options.pathPrefix ?? values.pathPrefix,
    control: options.control ?? values.control,
    console: options.console === undefined ? values.console : (`${options.console}` as const),
    requestTimeoutMs: options.requestTimeoutMs ?? values.requestTimeoutMs,
    watchHistoryMs: options.watchHistoryMs ?? values.watchHistoryMs,
    retention: retentionOf(options, isGiven(startSettings.watchHistoryMs) ? values.watchHistoryMs : undefined),
    eventTtlMs: options.eventTtlMs ?? values.eventTtlMs,
    serviceClusterIpRange:
      parsed('serviceClusterIpRange', settingTypes.cidrPair, options.serviceClusterIpRange) ?? values.serviceClusterIpRange,
    serviceNodePortRange:
      parsed('serviceNodePortRange', settingTypes.portRange, options.serviceNodePortRange) ?? values.serviceNodePortRange,
  }
}

/** Tests keep all changes unless an option or the flag says otherwise. */
function retentionOf({ history, watchHistoryMs }: StartOptions, flagMs: number | undefined): HistoryRetention {
  if (history !== undefined && watchHistoryMs !== undefined) throw new SettingsError('history: cannot be given beside watchHistoryMs')
  if (history !== undefined) return readHistory(history)
  const ms = watchHistoryMs ?? flagMs
  return ms === undefined ? readHistory('all') : { watchHistoryMs: ms }
}

/** The random source of a server: the system's unless the options say otherwise. */
export function chanceOf({ seed, random }: StartOptions): Chance {
  const chance = seed === undefined ? systemChance : seededChance(seed)
  return random === undefined ? chance : withFraction(chance, random)
}

function withFraction(chance: Chance, fraction: () => number): Chance {
  return {
    ...chance,
    fraction,
    stream: (purpose) => withFraction(chance.stream(purpose), fraction),
    fork: () => withFraction(chance.fork(), fraction),
  }
}

function parsed<T>(name: string, { expected, choices = [], parse }: SettingType<T>, text: string | undefined): T | undefined {
  if (text === undefined) return undefined
  const value = parse(text)
  if (value === undefined) throw new SettingsError(`${name}: ${text}: must be ${expected}${suggestion(text, choices)}`)
  return value
}

/**
 * Retention of the history: `all` keeps changes of any age, within 256 MiB; a time such as `5m` keeps changes of that age; `bytes` limits the size.
 * The oldest changes are dropped first, with one warning in the log.
 */
export type HistoryOption = 'all' | (string & {}) | { readonly bytes: number }

/** The parsed option. */
interface HistoryRetention {
  /** Maximum age; Infinity for no limit. */
  readonly watchHistoryMs: number
  /** Undefined for storage's default. */
  readonly pastBytesMax?: number
}

/** A failed test needs the whole history, but some tests write more than memory can hold. */
const allBytesMax = 256 * 1024 * 1024

/** Reads the option. Throws a SettingsError for other values. */
function readHistory(option: HistoryOption): HistoryRetention {
  if (option === 'all') return { watchHistoryMs: Number.POSITIVE_INFINITY, pastBytesMax: allBytesMax }
  if (typeof option === 'string') {
    const duration = parseDuration(option)
    const ms = duration === undefined ? 0 : durationToMs(duration)
    if (ms > 0) return { watchHistoryMs: ms }
  } else if (Number.isSafeInteger(option.bytes) && option.bytes > 0) {
    return { watchHistoryMs: Number.POSITIVE_INFINITY, pastBytesMax: option.bytes }
  }
  throw new SettingsError(`history: ${JSON.stringify(option)}: must be 'all', a time such as '5m', or { bytes } above 0`)
}
