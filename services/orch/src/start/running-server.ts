import type { Client, NamedObject } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import type { SchedulingExplanation } from '@orch/core/scheduling'
import type { StateSnapshot } from '@orch/storage'
import type { LoadOptions, LoadReport } from '../load/load.ts'
import type { ServerNodes } from '../nodes/open.ts'
import type { ControlAccess } from './control/copies.ts'
import type { ObjectMatcher } from './eventually.ts'
import type { ServerPast } from './past.ts'
import type { ServerRequests } from './requests.ts'
import type { MetricsSource } from './server-metrics.ts'
import type { Snapshot } from './server-snapshot.ts'
import type { StartOptions } from './start-settings.ts'
import type { TraceOptions } from './trace-file.ts'
import type { ServerFaults, ServerUser, UserOptions } from './user.ts'
import type { WebhookEndpoint, WebhookHandler } from './webhook-endpoint.ts'

/** A server in memory on a free port, in the process of the caller. */
export interface RunningServer extends ServerPast, AsyncDisposable {
  /** The URL, including a path prefix: `https://127.0.0.1:41234`. */
  readonly url: string
  /** A client configuration file, for any client. */
  readonly kubeconfig: string
  /** The administrator's client. */
  readonly client: Client
  /**
   * Returns a user with a client configuration, a client and a log of its requests. The first call for a name creates the user with these rights, by
   * default all rights.
   */
  user(name: string, options?: UserOptions): ServerUser
  /** Returns a link that opens the console as the administrator. It works once, within a minute. Rejects without the option `console`. */
  console(): Promise<string>
  /** The log of recent requests; a reset clears it. */
  readonly requests: ServerRequests
  /** Injects faults into requests; a reset removes them. */
  readonly faults: ServerFaults
  /** URL and token of `/orch/v1`; undefined without the option `control`. */
  readonly control: ControlAccess | undefined
  /** Restores the state after the server's start. */
  reset(): Promise<void>
  /** Takes an immutable snapshot, for `restore` or for a new server: `start({ from: snapshot })`. */
  snapshot(): Snapshot
  /** Restores a snapshot. Resource versions continue to increase; open watches end with 410. */
  restore(snapshot: StateSnapshot): Promise<void>
  /**
   * Starts a second server with the same objects, uids, revisions, history, users, tokens and keys, on another port. Later changes of one server do
   * not affect the other, and either may stop first. The options override those of this server.
   */
  fork(options?: Omit<StartOptions, 'from'>): Promise<RunningServer>
  /**
   * Applies the objects of files and folders (YAML or JSON): definitions and namespaces first, webhook configurations last. Resolves with the stored
   * objects when discovery lists every served version of each definition.
   */
  install(paths: string | readonly string[]): Promise<ApiObject[]>
  /**
   * Loads dumps of a cluster: files and folders of kubectl, must-gather and crust-gather, velero backups, and etcd snapshots. Objects keep uid,
   * creationTimestamp, managers, owners, status and deletionTimestamp. They get new resource versions in their previous order.
   */
  load(paths: string | readonly string[], options?: LoadOptions): Promise<LoadReport>
  /**
   * Sets the endpoint that webhooks use instead of their Services if they are installed later: a handler, served over HTTPS on a free port, or a
   * server of the test. Resolves with host, port and certificate authority.
   */
  webhookEndpoint(target: WebhookHandler | WebhookEndpoint): Promise<WebhookEndpoint>
  /** Explains the placement of Pods, with or without a running scheduler. */
  readonly scheduler: PlacementExplainer
  /** Simulated nodes, from the option `nodes` or added here. */
  readonly nodes: ServerNodes
  /** Sets the usage of Pods, for metrics.k8s.io, and values for custom.metrics.k8s.io and external.metrics.k8s.io. */
  readonly metrics: MetricsSource
  /**
   * Resolves when no request is in progress, every watch has its events and no controller has work left. Otherwise rejects after `within`
   * milliseconds (5,000 by default) with the names of the remaining work. With `quiet` the server must also stay idle for that time; a virtual clock
   * is advanced meanwhile. Work in the queues of clients is unknown here: use `track`.
   */
  settled(options?: SettledOptions): Promise<void>
  /** Makes `settled` wait for a promise, which has this name in errors; returns the promise. For controllers in the test. */
  track<T>(work: Promise<T>, name?: string): Promise<T>
  /**
   * Rejects if a client of `server.user` is in a loop: it writes an object three times without a change, lists a resource five times or sends more
   * than 20 requests a second, or several clients change one object in turns. Advances a virtual clock by the observed time, or waits for that time.
   */
  expectNoHotLoop(options?: HotLoopOptions): Promise<void>
  /** Watches an object and resolves with it once it matches. Rejects with the timeline of the object after a real time, 5 s by default. */
  eventually<T extends ApiObject = ApiObject>(
    reference: NamedObject,
    matcher: ObjectMatcher<T>,
    options?: { readonly within?: string | number },
  ): Promise<T | undefined>
  /** Describes leaked watches, namespaces, leases, and objects that finalizers hold, one per line, since the start or the last reset. */
  leaks(): Promise<string[]>
  /**
   * Returns all stored data as text: objects by key with their revisions, then the retained changes. Two servers with the same seed, the same time
   * and the same requests have equal dumps, because certificates, tokens and the port are omitted.
   */
  dump(): Promise<string>
  /**
   * Writes the stored objects, their history, the last requests and the faults to a file with owner-only access. `orch trace show FILE` prints it.
   * Omits the values of Secrets by default.
   */
  saveTrace(path: string, options?: TraceOptions): Promise<void>
  /** Ends open requests at once and releases all handles, ports and files. */
  stop(): Promise<void>
}

/** Options of `settled`. */
export interface SettledOptions {
  /** Timeout in real milliseconds; 5,000 by default. */
  readonly within?: number
  /** Required idle time, such as `'50ms'`; none by default. */
  readonly quiet?: string | number
}

/** The observed clients and the observation time. */
export interface HotLoopOptions {
  /** All users of the test by default. */
  readonly user?: string
  /** 2 s by default. */
  readonly for?: string | number
}

/** Explains placements. */
export interface PlacementExplainer {
  /**
   * Explains the placement of a Pod (`namespace/name`) by the current scheduling rules of the server's level: the filters that reject each node with
   * their reasons, the scores of the other nodes, and the message. Rejects with NotFound if the Pod does not exist.
   */
  explain(pod: string): Promise<SchedulingExplanation>
}
