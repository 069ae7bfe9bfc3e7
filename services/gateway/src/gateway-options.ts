import type { Catalogue } from '@orch/core/catalogue'
import type { AdmissionService, NodesService, StorageService } from '@orch/core/contracts'
import type { Chance, Cidr, Clock, Log, Metrics, PortRange, Tracer } from '@orch/platform'
import type { CallPlaces } from '@orch/platform/webhooks'
import type { BackendsOptions } from './aggregation/backends.ts'
import type { Auditor } from './audit/auditor.ts'
import type { GatewayAuthentication } from './authentication/authenticator.ts'
import type { AnonymousAccess } from './authentication/authenticators.ts'
import type { Authorization } from './authorization/authorization.ts'
import type { Faults } from './faults/faults.ts'
import type { KubeletSettings } from './kubelets/kubelets.ts'
import type { BrowserOptions } from './request/browser-headers.ts'
import type { RequestLog } from './request/request-log.ts'
import type { ControlHandler } from './routes/control.ts'
import type { HealthCheck } from './server/health-check.ts'
import type { LimitShare } from './server/limit-share.ts'
import type { VersionInfo } from './server/version-info.ts'
import type { InFlightBounds } from './steps/in-flight.ts'
import type { RequestOrder } from './steps/take-turn.ts'
import type { WatchHub } from './watch-hub/index.ts'

/** Bounds of the requests in flight, and how they are divided. */
interface InFlightOptions extends InFlightBounds {
  /** FlowSchemas and PriorityLevelConfigurations divide the sum of both among requests, instead of one bound for each kind. */
  readonly isFair: boolean
}

/** The settings that say how clients reach a gateway and how it answers them. */
interface ServingSettings {
  readonly requestTimeoutMs?: number
  /** Users with the right to it may take profiles of this process. */
  readonly takesProfiles?: boolean
  /** The headers of answers to browsers; absent for none. */
  readonly browser?: BrowserOptions
  /** While requests are finished at the end, others are answered 429 instead of meeting a closed port. */
  readonly sendsRetryAfter?: boolean
  /** Shortest life of a watch that asks for no other. */
  readonly watchLifeMs?: number
  /** Everything is served below this path: `/base`. */
  readonly pathPrefix?: string
}

/** The values that objects are given that do not bring them. */
interface ObjectSettings {
  readonly serviceClusterIpRange: Cidr
  readonly serviceNodePortRange: PortRange
  /** Expiry of Events. */
  readonly eventTtlMs: number
}

/** The connection to remote servers. */
interface AggregationSettings {
  /** This server's client certificate for them; absent for none, so that they trust no header about users. */
  readonly proxyPair?: BackendsOptions['proxyPair'] | undefined
  /** Requests go to the endpoints of a Service; else to its cluster address. */
  readonly routesToEndpoints: boolean
  /** True if a redirect from the server is an error; otherwise it goes to the client. */
  readonly rejectsRedirects: boolean
}

/** The console of a gateway. */
export interface ConsoleOptions {
  /** Folder of the files of the page. */
  readonly folder: URL
  /** Loopback address of a port without TLS that serves the console alone; absent: browsers come over TLS. */
  readonly plainHost?: string | undefined
  /** Clock of the ends of tickets and sessions: the machine's, since a test may move its own by days. */
  readonly clock: Clock
}

/** Everything that a gateway is made of. */
export interface GatewayOptions {
  readonly catalogue: Catalogue
  readonly storage: StorageService
  readonly watchHub: WatchHub
  /** Absent: nothing is refused by admission; for tests of the gateway alone. */
  readonly admission?: AdmissionService
  /** The ways into simulated nodes; absent: there are none. */
  readonly nodes?: NodesService | undefined
  /** The connections to kubelets and Pods; absent: those of the flags' defaults. */
  readonly kubelets?: KubeletSettings | undefined
  readonly clock: Clock
  readonly chance: Chance
  readonly log: Log
  readonly metrics: Metrics
  /** Absent: nothing is traced. */
  readonly tracer?: Tracer | undefined
  readonly version: VersionInfo
  /** Authenticators; default: client certificates. */
  readonly authentication?: GatewayAuthentication
  /** The paths at which requests without credentials are `system:anonymous`; default: none. */
  readonly anonymousAuth?: AnonymousAccess
  /** The authorizers; default: every authenticated user may do everything. */
  readonly authorization?: Pick<Authorization, 'authorizers' | 'roles' | 'load'>
  /** Records requests; absent: none are recorded. The gateway closes it. */
  readonly auditor?: Auditor | undefined
  /** The bound of executing requests. */
  readonly flowControl?: InFlightOptions | undefined
  /** This gateway's part of it, if several serve the port of one process; absent: all of it. */
  readonly limitShare?: LimitShare | undefined
  /** Keeps the decisions of the last writes for questions: for one gateway that answers all requests. */
  readonly keepsExplanations?: boolean
  readonly serving?: ServingSettings
  readonly objects?: ObjectSettings
  /** Every flag of the process with its value, for `/flagz`; absent: the page does not exist. */
  readonly flags?: ReadonlyMap<string, string> | undefined
  /** The forwarding of requests to the servers of APIServices. */
  readonly aggregation?: AggregationSettings
  /** The allowed targets of conversion webhooks and of the servers of APIServices; absent: `noPlaces`. */
  readonly webhookPlaces?: CallPlaces
  readonly checks?: readonly HealthCheck[]
  /** The controllers run in the process of this gateway; otherwise their Lease shows whether any run. */
  readonly runsControllers?: boolean
  /** True if a scheduler runs in this process. */
  readonly runsScheduler?: boolean
  /** Notes requests for a test; absent: nothing does. */
  readonly requestLog?: RequestLog | undefined
  /** The faults of a test; absent: there are never any. */
  readonly faults?: Faults | undefined
  /** Lets the requests of a test's clients pass one at a time; absent: they pass as they come. */
  readonly order?: RequestOrder | undefined
  /** FaultRules are faults, too: the kind is made and followed. Needs `faults`. */
  readonly followsFaultRules?: boolean
  /** Serves the paths by which a test controls the server; absent: they do not exist. */
  readonly control?: ControlHandler | undefined
  /** Absent: there is none. */
  readonly console?: ConsoleOptions | undefined
}
