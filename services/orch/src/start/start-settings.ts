import type { Profile } from '@orch/core/names'
import {
  type Chance,
  type Clock,
  flagTexts,
  type Log,
  readSettings,
  SettingsError,
  type SettingType,
  seededChance,
  settingTypes,
  suggestion,
  systemChance,
} from '@orch/platform'
import type { StateSnapshot } from '@orch/storage'
import { admissionSettings, pluginsToDisable } from '../admission/settings.ts'
import { apiSettings, objectsSettings } from '../api/settings.ts'
import { proxySettings } from '../authentication/proxy.ts'
import { authenticationSettings } from '../authentication/settings.ts'
import { authorizationSettings } from '../authorization/settings.ts'
import { controlSettings } from '../control/settings.ts'
import { controllersSettings, readControllers } from '../controllers/settings.ts'
import { gatewaySettings } from '../gateway/settings.ts'
import { nodesSettings } from '../nodes/settings.ts'
import { flagsElsewhere } from '../settings/elsewhere.ts'
import { generalSettings } from '../settings/general.ts'
import { storageSettings } from '../storage/settings.ts'
import { webhookSettings } from '../webhooks/settings.ts'
import { type HistoryOption, type HistoryRetention, readHistory } from './history-option.ts'
import type { WebhookHandler } from './webhook-endpoint.ts'

/** Flags of a server in memory. */
const startSettings = {
  profile: generalSettings.profile,
  ...gatewaySettings,
  ...admissionSettings,
  ...controllersSettings,
  ...nodesSettings,
  ...storageSettings,
  control: controlSettings.control,
}

/** Options of a server for tests; each has a default. */
export interface StartOptions {
  /**
   * A snapshot of another server: this one goes on from there, with the options of that one where none are given here. The profile cannot
   * be another one, and the clock is a virtual one if that of the other was. Absent: the server is empty.
   */
  readonly from?: StateSnapshot
  /** Names of groups, labels and namespaces; `orch` by default. */
  readonly profile?: Profile
  /** The release that the server is like, from `1.23` to `1.37`; the newest by default. */
  readonly version?: string
  /** Words such as `WatchList=false`. */
  readonly featureGates?: readonly string[]
  /** Words such as `*` and `-namespace`; by default all but those that put objects into every namespace. */
  readonly controllers?: readonly string[]
  /** Simulated nodes, which run Pods without containers; the controllers of workloads run with them. None by default. */
  readonly nodes?: number
  /** Words such as `api/beta=false`. */
  readonly runtimeConfig?: readonly string[]
  /** Requests without credentials are `system:anonymous`; by default they are, unless everything is allowed. */
  readonly anonymousAuth?: boolean
  /** Path below which everything is served, such as `/cluster-a`. */
  readonly pathPrefix?: string
  /** Longest a request may take, watches aside; a minute by default. */
  readonly requestTimeoutMs?: number
  /**
   * Retention of changes, for `server.at`, `server.timeline`, watches and continued lists: `'all'` by default, which keeps those of any age
   * within 256 MiB; a time such as `'5m'`; or `{ bytes }`. What has no room is forgotten, oldest first, with one warning in the log.
   */
  readonly history?: HistoryOption
  /** The same as a number of milliseconds. */
  readonly watchHistoryMs?: number
  /** Retention of Events; an hour by default. */
  readonly eventTtlMs?: number
  /** Addresses for Services, such as `10.0.0.0/24`. */
  readonly serviceClusterIpRange?: string
  /** Ports for Services, such as `30000-32767`. */
  readonly serviceNodePortRange?: string
  /** Serves the console; `RunningServer.console` gives a link to it. False by default. */
  readonly console?: boolean
  /** Settings of `orch up` that have no option here, as flags: `['--shutdown-delay-duration=1s']`. */
  readonly flags?: readonly string[]
  /** Files and folders whose objects are there at the start, such as `['./config/crd']`; see `RunningServer.install`. */
  readonly crds?: readonly string[]
  /** Webhook configurations in files and folders, and their handler. */
  readonly webhooks?: { readonly paths: readonly string[]; readonly handler: WebhookHandler }
  /** Messages between services are frozen, and `stop` fails if their bytes were changed. */
  readonly freezesLinks?: boolean
  /** The machine's clock by default. `virtualClock()` stands still until it is moved; certificates are then valid from 1970 to 9999. */
  readonly clock?: Clock
  /**
   * Decides uids, generated names, addresses and all else that is drawn but keys: two servers with one seed, one virtual clock's time
   * and the same requests, one after the other, store the same objects. For tests alone, as a seed can be guessed.
   */
  readonly seed?: number | string
  /** A number in [0, 1), drawn instead of the seed's or the system's. */
  readonly random?: () => number
  /**
   * `seeded`: requests of clients pass one at a time, when the server is at rest, in an order that the seed draws among those that wait;
   * it needs `seed`. By default they pass as they come.
   */
  readonly order?: 'seeded'
  /** Serves `/orch/v1`, by which a program in any language controls the server: `RunningServer.control` says where and with which token. */
  readonly control?: boolean
  /** Silent by default. */
  readonly log?: Log
}

/** The options of a fork of `orch up`: the flags that a server in memory has, and a separate port. */
export function optionsOfFork(profile: Profile, texts: ReadonlyMap<string, string>): StartOptions {
  const own = new Set<string>(Object.values(startSettings).map(({ flag }) => flag))
  const flags = [...texts].filter(
    ([flag]) => own.has(flag) && flag !== startSettings.securePort.flag && flag !== startSettings.profile.flag,
  )
  const controllers = texts.has(startSettings.controllers.flag) ? {} : { controllers: ['*'] }
  const console = texts.get(startSettings.console.flag) !== 'false'
  return { profile, ...controllers, control: true, console, flags: flags.map(([flag, text]) => `${flag}=${text}`) }
}

const flagsOf = (settings: Readonly<Record<string, { readonly flag: string }>>) => new Set(Object.values(settings).map(({ flag }) => flag))

/**
 * Flags that decide about no object of the start, or whose settings are among `objectSettingsOf`. Authorities of clients are published, and each
 * server publishes its own; of a proxy, `proxyFlags`, more is published.
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
const proxyFlags = flagsOf(proxySettings)

/** True for a flag, with its value in one word, beside which servers with equal `objectSettingsOf` start with the same objects. */
export function isUsualFlag(word: string): boolean {
  const [flag = '', value] = word.split('=', 2)
  return value !== undefined && usualFlags.has(flag) && !proxyFlags.has(flag)
}

/** The settings that affect the objects of the start, as a text. */
export function objectSettingsOf(settings: ReturnType<typeof readStartSettings>): string {
  const { profile, emulatedVersion, featureGates, runtimeConfig, serviceClusterIpRange, serviceNodePortRange } = settings
  const { disableAdmissionPlugins, simulatedNodes } = settings
  const ranges = [serviceClusterIpRange.text, serviceNodePortRange]
  const nodes = simulatedNodes > 0 && { hasVolumes: readControllers(settings).includes('simulated-provisioner') }
  return JSON.stringify([profile, emulatedVersion, featureGates, runtimeConfig, ranges, disableAdmissionPlugins, nodes])
}

/** All but those that put objects into every namespace: only created objects exist, and a reset leaves nothing to be made again. */
const quietControllers = ['*', '-serviceaccount', '-root-ca-cert-publisher']

const members =
  'from profile version featureGates controllers nodes runtimeConfig anonymousAuth pathPrefix requestTimeoutMs history watchHistoryMs eventTtlMs serviceClusterIpRange serviceNodePortRange console flags crds webhooks freezesLinks clock seed random order control log'.split(
    ' ',
  )

/** Callers in JavaScript have no compiler that checks the members. */
function checkMembers(options: StartOptions): void {
  const unknown = Object.keys(options).find((name) => !members.includes(name))
  if (unknown !== undefined) throw new SettingsError(`start(): unknown option ${unknown}${suggestion(unknown, members)}`)
}

function checkOrder({ order, seed }: StartOptions): void {
  if (order === undefined) return
  if (order !== 'seeded') throw new SettingsError(`order: ${String(order)}: must be seeded`)
  if (seed === undefined) throw new SettingsError("order: 'seeded' needs seed, which draws the order")
}

/** Flags, then the other options. */
export function readStartSettings(options: StartOptions) {
  checkMembers(options)
  checkOrder(options)
  const { values, given, texts } = readSettings(startSettings, { flags: options.flags ?? [], env: {}, elsewhere: flagsElsewhere })
  const controllers = options.controllers ?? (given.has('controllers') ? values.controllers : quietControllers)
  const simulatedNodes = parsed('nodes', startSettings.simulatedNodes.type, options.nodes?.toString()) ?? values.simulatedNodes
  return {
    ...values,
    simulatedNodes,
    disableAdmissionPlugins: pluginsToDisable(values, readControllers({ controllers, simulatedNodes })),
    securePort: given.has('securePort') ? values.securePort : 0,
    flagTexts: flagTexts(startSettings, texts),
    watchGraceMs: given.has('watchGraceMs') ? values.watchGraceMs : 0,
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
    retention: retentionOf(options, given.has('watchHistoryMs') ? values.watchHistoryMs : undefined),
    eventTtlMs: options.eventTtlMs ?? values.eventTtlMs,
    serviceClusterIpRange:
      parsed('serviceClusterIpRange', settingTypes.cidr, options.serviceClusterIpRange) ?? values.serviceClusterIpRange,
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
