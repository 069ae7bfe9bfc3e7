import { type Client, createClient, createHttpsTransport, explainSchedule, type Transport } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import type { SchedulingExplanation } from '@orch/core/scheduling'
import { Faults, RequestLog } from '@orch/gateway'
import {
  type Activity,
  administratorOf,
  type Chance,
  type ClientIssuer,
  type Clock,
  certificateMemory,
  clientIssuer,
  type Log,
  silentLog,
  systemClock,
  withActivity,
} from '@orch/platform'
import { createMemoryStore, type StateSnapshot } from '@orch/storage'
import { readAdmission } from '../admission/settings.ts'
import { readAutoscaling, readControllers, readNodeControllers } from '../controllers/settings.ts'
import { readEncryption } from '../encryption/open.ts'
import { readGateway } from '../gateway/settings.ts'
import type { ServerNodes } from '../nodes/open.ts'
import { type Server, type StopOptions, startServer } from '../server.ts'
import type { PodMetricsSource } from './pod-metrics.ts'
import { allRequestsIn, type ServerRequests } from './requests.ts'
import { chanceOf, readStartSettings, type StartOptions } from './start-settings.ts'
import { fingerprintOf, kubeconfigOf, type ServerFaults, type ServerUser, ServerUsers, type UserOptions } from './user.ts'
import type { OpenEndpoint, WebhookEndpoint, WebhookHandler } from './webhook-endpoint.ts'

/** A server of one's own, in memory, on a free port. */
export interface RunningServer extends AsyncDisposable {
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
  /** The last requests; a reset forgets them. */
  readonly requests: ServerRequests
  /** Faults that requests meet; a reset removes them. */
  readonly faults: ServerFaults
  /** Restores the state after the server's start. */
  reset(): Promise<void>
  /** The present state, for a later restore. */
  snapshot(): StateSnapshot
  /** Restores a state; versions continue, open watches end with 410. */
  restore(snapshot: StateSnapshot): Promise<void>
  /**
   * Applies the objects of files and folders (YAML or JSON), definitions and namespaces first, webhook configurations last. Resolves
   * with the stored objects when every served version of each definition is listed by discovery.
   */
  install(paths: string | readonly string[]): Promise<ApiObject[]>
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
   * work that is still in progress `within` that many milliseconds, 5,000 by default. It knows nothing of the queues of clients.
   */
  settled(options?: { readonly within?: number }): Promise<void>
  /**
   * All that is stored, as text: objects by key with their revisions, then the changes that are still known. Two servers that have one
   * seed, one time and the same requests have equal dumps; certificates, tokens and the port are left out.
   */
  dump(): Promise<string>
  /** Ends open requests at once; leaves no handle, port or file behind. */
  stop(): Promise<void>
}

/** Explains placements. */
interface PlacementExplainer {
  /**
   * The table of nodes and plugins for a Pod, `namespace/name`, as a scheduler of the server's level would have it now: every filter that
   * refuses a node with its reasons, the scores of the others, and the message. Rejects with NotFound where there is no such Pod.
   */
  explain(pod: string): Promise<SchedulingExplanation>
}

/** Starts a server in this process; it is ready when the promise resolves. Any number may run at a time. Wrong options reject. */
export async function start(options: StartOptions = {}): Promise<RunningServer> {
  return startWith(options, chanceOf(options))
}

/** As `start`, with the chance that the server draws from. */
export async function startWith(options: StartOptions, chance: Chance): Promise<RunningServer> {
  const settings = readStartSettings(options)
  const certificateFiles = certificateMemory()
  const { clock, activity } = withActivity(options.clock ?? systemClock)
  const log = options.log ?? silentLog
  const requestLog = new RequestLog(clock)
  const faults = new Faults({ chance, log })
  const server = await startServer({
    ...readGateway(settings),
    requestLog,
    faults,
    flags: settings.flagTexts,
    controllers: readControllers(settings),
    autoscaling: readAutoscaling(settings),
    nodes: readNodeControllers(settings),
    admission: readAdmission(settings),
    watchHistoryMs: settings.watchHistoryMs,
    simulatedNodes: settings.simulatedNodes,
    encryption: readEncryption(settings),
    store: createMemoryStore({ randomId: chance.stream('epoch').uuid }),
    certificateFiles,
    freezesLinks: options.freezesLinks ?? false,
    hasProcessMetrics: false,
    clock,
    chance,
    log,
  })
  const issue = await clientIssuer({ files: certificateFiles, clock })
  // A clock that a test moves would leave a stop that takes time waiting.
  const [delayMs, graceMs] = clock.isVirtual ? [0, 0] : [settings.shutdownDelayMs, settings.watchGraceMs]
  const running = new InProcessServer(server, issue, { activity, clock, requestLog, faults, delayMs, graceMs, log })
  try {
    await running.prepare(options)
  } catch (error) {
    await running.stop()
    throw error
  }
  return running
}

const settledWithinMs = 5_000

/** Counts the requests that are on their way and that no gateway has seen yet. */
function counted(transport: Transport, activity: Activity): Transport {
  return {
    async send(request) {
      activity.begin('request of the client')
      try {
        return await transport.send(request)
      } finally {
        activity.end('request of the client')
      }
    },
    close: () => transport.close(),
  }
}

interface InProcessParts extends StopOptions {
  readonly activity: Activity
  readonly clock: Clock
  readonly requestLog: RequestLog
  readonly faults: Faults
  readonly log: Log
}

class InProcessServer implements RunningServer {
  readonly url: string
  readonly client: Client
  readonly nodes: ServerNodes
  readonly requests: ServerRequests
  readonly faults: ServerFaults
  readonly #issue: ClientIssuer
  readonly #users: ServerUsers
  readonly #server: Server
  readonly #log: Log
  readonly #clock: Clock
  readonly #activity: Activity
  readonly #stopOptions: StopOptions
  readonly #endpoints: OpenEndpoint[] = []
  #endpoint: WebhookEndpoint | undefined
  #kubeconfig: string | undefined
  #atStart: StateSnapshot

  constructor(server: Server, issue: ClientIssuer, { activity, clock, requestLog, faults, log, ...stopOptions }: InProcessParts) {
    const { url, configuration, storage } = server
    this.url = url
    this.nodes = server.nodes
    this.client = createClient(counted(createHttpsTransport(configuration), activity))
    this.requests = allRequestsIn(requestLog)
    this.faults = faults
    faults.addClient(fingerprintOf(configuration.clientCertificate), { isHarness: true })
    this.#users = new ServerUsers({
      configuration,
      cluster: server.names.serverServiceName,
      issue,
      giveRules: server.giveRules,
      log: requestLog,
      faults,
      counted: (transport) => counted(transport, activity),
    })
    this.#server = server
    this.#issue = issue
    this.#log = log
    this.#clock = clock
    this.#activity = activity
    this.#stopOptions = stopOptions
    this.#atStart = storage.snapshot()
  }

  get kubeconfig(): string {
    const { names, configuration } = this.#server
    const cluster = names.serverServiceName
    const { commonName: user, organizations: groups } = administratorOf(cluster)
    this.#kubeconfig ??= kubeconfigOf({ cluster, user, groups }, { configuration, issue: this.#issue })
    return this.#kubeconfig
  }

  /** The options' objects of the start, and of each reset. */
  async prepare({ crds = [], webhooks }: StartOptions): Promise<void> {
    if (crds.length === 0 && webhooks === undefined) return
    if (webhooks !== undefined) await this.webhookEndpoint(webhooks.handler)
    await this.install([...crds, ...(webhooks?.paths ?? [])])
    this.#atStart = this.snapshot()
  }

  // Tests take single methods out of the server, so they carry it with them.
  readonly reset = async (): Promise<void> => {
    this.faults.clear()
    await this.restore(this.#atStart)
    this.requests.clear()
  }

  readonly user = (name: string, options?: UserOptions): ServerUser => this.#users.get(name, options)

  readonly snapshot = (): StateSnapshot => this.#server.storage.snapshot()

  readonly restore = (snapshot: StateSnapshot): Promise<void> => this.#server.storage.restore(snapshot)

  readonly install = async (paths: string | readonly string[]): Promise<ApiObject[]> => {
    const { install } = await import('./install.ts')
    return install(this.client, typeof paths === 'string' ? [paths] : paths, { endpoint: this.#endpoint, log: this.#log })
  }

  readonly webhookEndpoint = async (target: WebhookHandler | WebhookEndpoint): Promise<WebhookEndpoint> => {
    if (typeof target !== 'function') {
      this.#endpoint = target
      return target
    }
    const { serveWebhooks } = await import('./webhook-endpoint.ts')
    const endpoint = await serveWebhooks(target)
    this.#endpoints.push(endpoint)
    this.#endpoint = endpoint
    return endpoint
  }

  readonly scheduler: PlacementExplainer = {
    explain: (pod) => {
      const [namespace = '', name = ''] = pod.split('/')
      return explainSchedule(this.client, { names: this.#server.names, namespace, name, rules: this.#server.rules })
    },
  }

  readonly metrics: PodMetricsSource = {
    set: async (pod, usage) => {
      const { setPodMetrics } = await import('./pod-metrics.ts')
      await setPodMetrics(pod, usage, { client: this.client, names: this.#server.names, clock: this.#clock })
    },
  }

  readonly settled = async ({ within = settledWithinMs }: { readonly within?: number } = {}): Promise<void> => {
    const left = await this.#activity.settled({ withinMs: within, stillMs: within })
    if (left.length > 0) throw new Error(`the server has not settled within ${within} ms: ${left.join(', ')}`)
  }

  readonly dump = async (): Promise<string> => {
    const { dumpStorage } = await import('./dump.ts')
    return dumpStorage({ storage: this.#server.storage, port: new URL(this.url).port })
  }

  readonly stop = async (): Promise<void> => {
    this.client.close()
    this.#users.close()
    await this.#server.stop(this.#stopOptions)
    await Promise.all(this.#endpoints.splice(0).map((endpoint) => endpoint.close()))
  };

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }
}
