import type { Client } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import type { SchedulingExplanation } from '@orch/core/scheduling'
import type { StateSnapshot } from '@orch/storage'
import type { LoadOptions, LoadReport } from '../load/load.ts'
import type { ServerNodes } from '../nodes/open.ts'
import type { ControlAccess } from './control/copies.ts'
import type { ObjectMatcher, ObjectName } from './eventually.ts'
import type { ServerPast } from './past.ts'
import type { PodMetricsSource } from './pod-metrics.ts'
import type { ServerRequests } from './requests.ts'
import type { Snapshot } from './server-snapshot.ts'
import type { StartOptions } from './start-settings.ts'
import type { TraceOptions } from './trace-file.ts'
import type { ServerFaults, ServerUser, UserOptions } from './user.ts'
import type { WebhookEndpoint, WebhookHandler } from './webhook-endpoint.ts'

/** A server of the caller in memory on a free port. */
export interface RunningServer extends ServerPast, AsyncDisposable {
  /** Its URL, with the path prefix if there is one: `https://127.0.0.1:41234`. */
  readonly url: string
  /** A client configuration file, for any client. */
  readonly kubeconfig: string
  /** The administrator's client. */
  readonly client: Client
  /**
   * A user with a client configuration and a client of its own: requests are counted by user. The first call of a name makes it, with
   * these rights; all rights by default.
   */
  user(name: string, options?: UserOptions): ServerUser
  /** A link that opens the console once, within a minute, as the administrator. Rejects without the option `console`. */
  console(): Promise<string>
  /** The last requests; a reset forgets them. */
  readonly requests: ServerRequests
  /** Faults that requests meet; a reset removes them. */
  readonly faults: ServerFaults
  /** URL and token of `/orch/v1`; undefined without the option `control`. */
  readonly control: ControlAccess | undefined
  /** Restores the state after the server's start. */
  reset(): Promise<void>
  /** The present moment, for a later `restore`, or for a server that begins there: `start({ from: snapshot })`. It never changes. */
  snapshot(): Snapshot
  /** Restores a state; versions continue, open watches end with 410. */
  restore(snapshot: StateSnapshot): Promise<void>
  /**
   * A second server that begins at the present moment: with the same objects, uids, revisions, history, users, tokens and keys, on a port
   * of its own. What happens in one of the two is never seen in the other, and each may stop first. Options replace those of this server.
   */
  fork(options?: Omit<StartOptions, 'from'>): Promise<RunningServer>
  /**
   * Applies the objects of files and folders (YAML or JSON), definitions and namespaces first, webhook configurations last. Resolves
   * with the stored objects when every served version of each definition is listed by discovery.
   */
  install(paths: string | readonly string[]): Promise<ApiObject[]>
  /**
   * Loads dumps of a cluster: files and folders of kubectl, must-gather and crust-gather, backups of velero, snapshots of etcd. Objects keep uid,
   * creationTimestamp, managers, owners, status and deletionTimestamp, and get new resourceVersions in the order of the old ones.
   */
  load(paths: string | readonly string[], options?: LoadOptions): Promise<LoadReport>
  /**
   * The endpoint of webhooks that are installed from now on, in place of their Services: a handler, which is served over HTTPS on
   * a free port, or a server of the test's own. Resolves with host, port and certificate authority.
   */
  webhookEndpoint(target: WebhookHandler | WebhookEndpoint): Promise<WebhookEndpoint>
  /** The decisions about the placement of Pods, whether a scheduler runs or not. */
  readonly scheduler: PlacementExplainer
  /** Simulated nodes: those of the option `nodes`, and those that are added here. */
  readonly nodes: ServerNodes
  /** The use of Pods, which the server then serves as metrics.k8s.io/v1beta1. */
  readonly metrics: PodMetricsSource
  /**
   * Resolves when no request is in progress, every watch has its events and no controller has work left. Rejects with the names of the
   * work that is still in progress `within` that many milliseconds, 5,000 by default. With `quiet` nothing has begun for that time, by the
   * clock of the server, which is moved if it is a virtual one. It knows nothing of the queues of clients: `track` tells it of work.
   */
  settled(options?: SettledOptions): Promise<void>
  /** Counts a promise as work that `settled` waits for, by a name; returns it. For controllers within the test. */
  track<T>(work: Promise<T>, name?: string): Promise<T>
  /**
   * Rejects if a client of `server.user` goes on for ever while nothing else happens: it writes an object three times without a change,
   * lists a resource five times, sends more than 20 requests a second, or several change one object in turns. A virtual clock is moved
   * by the time; else it passes.
   */
  expectNoHotLoop(options?: HotLoopOptions): Promise<void>
  /**
   * Resolves with an object when it is as expected, which a watch tells; rejects with the timeline of the object after a real time,
   * 5 s by default.
   */
  eventually<T extends ApiObject = ApiObject>(
    reference: ObjectName,
    matcher: ObjectMatcher<T>,
    options?: { readonly within?: string | number },
  ): Promise<T | undefined>
  /** Open watches of clients, objects that finalizers hold, namespaces and held leases that a test has left, a line each. */
  leaks(): Promise<string[]>
  /**
   * All that is stored, as text: objects by key with their revisions, then the changes that are still known. Two servers that have one
   * seed, one time and the same requests have equal dumps; certificates, tokens and the port are left out.
   */
  dump(): Promise<string>
  /**
   * Writes what is stored, its history, the last requests and the faults to a file, which its owner alone may read: `orch trace show FILE`
   * prints it. Values of Secrets are left out by default.
   */
  saveTrace(path: string, options?: TraceOptions): Promise<void>
  /** Ends open requests at once; leaves no handle, port or file behind. */
  stop(): Promise<void>
}

/** The wait of `settled`. */
export interface SettledOptions {
  /** The longest wait in real milliseconds; 5,000 by default. */
  readonly within?: number
  /** A time without new work, such as `'50ms'`; none by default. */
  readonly quiet?: string | number
}

/** The clients that may be in a loop, and the time for which they are observed. */
export interface HotLoopOptions {
  /** By default all users of the test. */
  readonly user?: string
  /** By default 2 s. */
  readonly for?: string | number
}

/** Explains placements. */
export interface PlacementExplainer {
  /**
   * The table of nodes and plugins for a Pod, `namespace/name`, as a scheduler of the server's level would have it now: every filter that
   * refuses a node with its reasons, the scores of the others, and the message. Rejects with NotFound where there is no such Pod.
   */
  explain(pod: string): Promise<SchedulingExplanation>
}
