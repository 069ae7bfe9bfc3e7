import type { Catalogue } from '@orch/core/catalogue'
import type { AdmissionService, NodesService, StorageService } from '@orch/core/contracts'
import type { Chance, CidrPair, Clock, Log, Metrics, PortRange, Tracer } from '@orch/platform'
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

/** Limits of the requests in flight. */
interface InFlightOptions extends InFlightBounds {
  /** True if FlowSchemas and PriorityLevelConfigurations divide the sum of both limits, instead of one limit for each kind. */
  readonly isFair: boolean
}

/** The settings for clients' connections and answers. */
interface ServingSettings {
  readonly requestTimeoutMs?: number
  /** True if users with permission may take profiles of this process. */
  readonly takesProfiles?: boolean
  /** The headers of answers to browsers; undefined for none. */
  readonly browser?: BrowserOptions
  /** True if new requests are answered with 429 during shutdown, instead of a closed port. */
  readonly sendsRetryAfter?: boolean
  /** Minimum duration of a watch that does not request one. */
  readonly watchLifeMs?: number
  /** Prefix of all paths: `/base`. */
  readonly pathPrefix?: string
}

/** Default values for objects. */
interface ObjectSettings {
  readonly serviceClusterIpRange: CidrPair
  readonly serviceNodePortRange: PortRange
  /** Expiry of Events. */
  readonly eventTtlMs: number
}

/** The connection to remote servers. */
interface AggregationSettings {
  /** This server's client certificate for remote servers; undefined for none, so that they trust no user headers. */
  readonly proxyPair?: BackendsOptions['proxyPair'] | undefined
  /** True if requests go to the endpoints of a Service; otherwise to its cluster address. */
  readonly routesToEndpoints: boolean
  /** True if a redirect from the server is an error; otherwise it goes to the client. */
  readonly rejectsRedirects: boolean
}

/** The console of a gateway. */
export interface ConsoleOptions {
  /** Folder of the files of the page. */
  readonly folder: URL
  /** Loopback address of a port without TLS that only serves the console; without it browsers use TLS. */
  readonly plainHost?: string | undefined
  /** Clock for the expiry of tickets and sessions: the machine's, since a test may advance its own by days. */
  readonly clock: Clock
}

export interface GatewayOptions {
  readonly catalogue: Catalogue
  readonly storage: StorageService
  readonly watchHub: WatchHub
  /** Without it admission refuses nothing, for tests of the gateway. */
  readonly admission?: AdmissionService
  /** Admission is in this process, and loses no change of its rules without an error. By default rules are trusted for some seconds. */
  readonly hasOwnAdmission?: boolean
  /** Admission opens with the first write; `/readyz` does not wait for it. */
  readonly hasLateAdmission?: boolean
  /** The connections to simulated nodes; undefined for none. */
  readonly nodes?: NodesService | undefined
  /** The connections to kubelets and Pods; by default those of the default flags. */
  readonly kubelets?: KubeletSettings | undefined
  readonly clock: Clock
  readonly chance: Chance
  readonly log: Log
  readonly metrics: Metrics
  /** Undefined without tracing. */
  readonly tracer?: Tracer | undefined
  readonly version: VersionInfo
  /** Authenticators; default: client certificates. */
  readonly authentication?: GatewayAuthentication
  /** The paths at which requests without credentials are `system:anonymous`; none by default. */
  readonly anonymousAuth?: AnonymousAccess
  /** The authorizers; by default every authenticated user may do everything. */
  readonly authorization?: Pick<Authorization, 'authorizers' | 'roles' | 'load'>
  /** Records requests; undefined for no audit. The gateway closes it. */
  readonly auditor?: Auditor | undefined
  /** The limit of executing requests. */
  readonly flowControl?: InFlightOptions | undefined
  /** This gateway's share, if several serve the port of one process; by default all. */
  readonly limitShare?: LimitShare | undefined
  /** True to store explanations of the last writes, in a single gateway that answers all requests. */
  readonly keepsExplanations?: boolean
  readonly serving?: ServingSettings
  readonly objects?: ObjectSettings
  /** Every flag of the process with its value, for `/flagz`; without it the page does not exist. */
  readonly flags?: ReadonlyMap<string, string> | undefined
  /** The forwarding of requests to the servers of APIServices. */
  readonly aggregation?: AggregationSettings
  /** The allowed targets of conversion webhooks and of the servers of APIServices; `noPlaces` by default. */
  readonly webhookPlaces?: CallPlaces
  readonly checks?: readonly HealthCheck[]
  /** True if the controllers run in the process of this gateway; otherwise their Lease shows if any run. */
  readonly runsControllers?: boolean
  /** True if a scheduler runs in this process. */
  readonly runsScheduler?: boolean
  /** Records requests for a test; optional. */
  readonly requestLog?: RequestLog | undefined
  /** The faults of a test; undefined without faults. */
  readonly faults?: Faults | undefined
  /** Serializes the requests of a test's clients; optional. */
  readonly order?: RequestOrder | undefined
  /** True if FaultRules are faults too: the kind is created and watched. Needs `faults`. */
  readonly followsFaultRules?: boolean
  /** Serves the paths with which a test controls the server; without it they do not exist. */
  readonly control?: ControlHandler | undefined
  /** Undefined without a console. */
  readonly console?: ConsoleOptions | undefined
}
