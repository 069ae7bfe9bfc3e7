import type { AdmissionService, Catalogue, Names, StorageService } from '@orch/core'
import type { Clock, Log, Metrics, TimerWheel, Tracer } from '@orch/platform'
import type { Admitter } from './admission/admitter.ts'
import type { Allocator } from './allocation/allocator.ts'
import type { Auditor } from './audit/auditor.ts'
import type { GatewayAuthentication } from './authentication/authenticator.ts'
import type { Authenticators } from './authentication/authenticators.ts'
import type { AttemptMetrics } from './authentication/metrics.ts'
import type { Authorization } from './authorization/authorization.ts'
import type { Authorizer } from './authorization/authorizer.ts'
import type { Roles } from './authorization/roles.ts'
import type { TellDeprecation } from './deprecation.ts'
import type { KeptExplanations } from './explain/explanation.ts'
import type { FlowControl } from './flow-control/flow-control.ts'
import type { FormCache } from './forms/form-cache.ts'
import type { HealthCheck } from './health-check.ts'
import type { GatewayMetrics } from './metrics.ts'
import type { Pace } from './pace.ts'
import type { ServedResources } from './served.ts'
import type { GatewayState } from './state.ts'
import type { TextThread } from './texts/text-thread.ts'
import type { VersionInfo } from './version-info.ts'
import type { WatchHub } from './watch-hub/index.ts'
import type { Turns } from './write/turns.ts'

/** Bounds of what is worked on at a time, watches aside. */
interface InFlightOptions {
  /** 0: no bound. */
  readonly readsMax: number
  /** 0: no bound. */
  readonly writesMax: number
  /** FlowSchemas and PriorityLevelConfigurations divide the sum of both among requests, instead of one bound for each kind. */
  readonly isFair: boolean
}

/** Everything that a gateway is made of. */
export interface GatewayOptions {
  readonly catalogue: Catalogue
  readonly storage: StorageService
  readonly watchHub: WatchHub
  /** Absent: nothing is refused by admission; for tests of the gateway alone. */
  readonly admission?: AdmissionService
  readonly clock: Clock
  /** Whole number from 0 to below the bound; for names and addresses, not for secrets. */
  readonly random: (bound: number) => number
  readonly log: Log
  readonly metrics: Metrics
  /** Absent: nothing is traced. */
  readonly tracer?: Tracer | undefined
  readonly version: VersionInfo
  /** Ways to tell who asks; default: client certificates. */
  readonly authentication?: GatewayAuthentication
  /** Requests without credentials are `system:anonymous`; else only the probes and `/version` answer them. */
  readonly anonymousAuth?: boolean
  /** Who may do what; default: everybody who is known may do everything. */
  readonly authorization?: Pick<Authorization, 'authorizers' | 'roles' | 'load'>
  /** Writes down what requests do; absent: nothing is. The gateway closes it. */
  readonly auditor?: Auditor | undefined
  /** How many requests are worked on at a time. */
  readonly inFlight?: InFlightOptions | undefined
  /** How the last writes were decided is kept, to be asked for: where one gateway answers all requests. */
  readonly keepsExplanations?: boolean
  readonly requestTimeoutMs?: number
  /** Shortest life of a watch that asks for no other. */
  readonly watchLifeMs?: number
  /** With it off, `limit` does not divide a list. */
  readonly listChunking?: boolean
  /** With it off, unknown and duplicate fields are dropped in silence. */
  readonly fieldValidation?: boolean
  /** Everything is served below this path: `/base`. */
  readonly pathPrefix?: string
  readonly serviceClusterIpRange?: string
  /** With it off, Services that name no address are given those at the beginning of the range as well as others. */
  readonly keepsStaticAddresses?: boolean
  readonly serviceNodePortRange?: { readonly from: number; readonly to: number }
  /** Expiry of Events. */
  readonly eventTtlMs?: number
  readonly checks?: readonly HealthCheck[]
}

/** What verbs and routes are given. */
export interface GatewayParts {
  readonly options: GatewayOptions
  readonly names: Names
  /** `apiVersion` of options and of what belongs to no group: `meta.orch.io/v1`. */
  readonly metaVersion: string
  readonly catalogue: Catalogue
  readonly storage: StorageService
  readonly watchHub: WatchHub
  readonly authentication: Authenticators
  readonly attempts: AttemptMetrics
  readonly tellDeprecation: TellDeprecation
  /** Asked in order until one decides. */
  readonly authorizers: readonly Authorizer[]
  /** Absent where nobody is ever refused anything. */
  readonly roles: Roles | undefined
  readonly admitter: Admitter
  readonly allocator: Allocator
  readonly clock: Clock
  readonly random: (bound: number) => number
  readonly log: Log
  readonly metrics: GatewayMetrics
  readonly served: ServedResources
  /** Other forms of objects, made on first demand. */
  readonly forms: FormCache
  /** Large requests take turns by it. */
  readonly pace: Pace
  /** Reads and prints large texts. */
  readonly texts: TextThread
  /** Of writers that met at one object. */
  readonly turns: Turns
  /** How the last writes were decided; absent: it is not kept. */
  readonly explanations: KeptExplanations | undefined
  /** Absent: two plain bounds, on reads and on writes. */
  readonly flowControl: FlowControl | undefined
  readonly wheel: TimerWheel
  readonly state: GatewayState
}
