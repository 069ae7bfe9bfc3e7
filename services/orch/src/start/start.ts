import { type Client, createClient, createHttpsTransport, explainSchedule, type Transport } from '@orch/client'
import { boundedMemo, memo } from '@orch/core/memo'
import type { ApiObject } from '@orch/core/meta'
import { controlPath } from '@orch/core/names'
import { Faults, KeptDetails, RequestLog } from '@orch/gateway'
import {
  type Activity,
  administratorOf,
  type CertificateMemory,
  type Chance,
  type ClientIssuer,
  type Clock,
  certificateMemory,
  clientIssuer,
  SettingsError,
  silentLog,
  sleep,
  systemChance,
  systemClock,
  toMs,
  withActivity,
} from '@orch/platform'
import { createMemoryStore, type StateSnapshot, storeOf } from '@orch/storage'
import { controlUser, keepControlToken } from '../authentication/open.ts'
import type { StoreObjects } from '../load/store-objects.ts'
import { type ServerNodes, usualNodes } from '../nodes/open.ts'
import { type Server, type ServerBase, type ServerOptions, startServer } from '../server.ts'
import { readServer } from '../settings/up.ts'
import type { StopOptions, Surroundings } from '../surroundings.ts'
import { ControlDoor, createControl, isMoved } from './control/control.ts'
import type { ControlAccess } from './control/copies.ts'
import { explored, weatherOfExploration } from './explore/weather.ts'
import { pastOf, type ServerPast } from './past.ts'
import { allRequestsIn, SeededOrder, type ServerRequests } from './requests.ts'
import type { HotLoopOptions, PlacementExplainer, RunningServer, SettledOptions } from './running-server.ts'
import { ServerMetrics } from './server-metrics.ts'
import { readForkOptions, readSnapshot, ServerSnapshot, type Snapshot } from './server-snapshot.ts'
import type { Origin } from './snapshot-file.ts'
import {
  chanceOf,
  isUsualFlag,
  objectSettingsOf,
  readStartSettings,
  type StartOptions,
  type StartSettings,
  startsAtRest,
} from './start-settings.ts'
import type { TraceOptions } from './trace-file.ts'
import { fingerprintOf, kubeconfigOf, type ServerFaults, type ServerUser, ServerUsers, type UserOptions } from './user.ts'
import type { OpenEndpoint, WebhookEndpoint, WebhookHandler } from './webhook-endpoint.ts'

export type { HotLoopOptions, RunningServer } from './running-server.ts'

/** Starts a server in this process; it is ready when the promise resolves. Several servers can run at once. Invalid options reject. */
export async function start(given: StartOptions = {}): Promise<RunningServer> {
  const options = explored(given)
  if (options.from !== undefined) return startFrom(readSnapshot(options.from), options)
  return isUsual(options) ? startPristine(options) : startWith(options, chanceOf(options))
}

/** Like `start`, with the random source of the server. */
export async function startWith(options: StartOptions, chance: Chance): Promise<RunningServer> {
  const store = createMemoryStore({ now: nowOf(options), randomId: chance.stream('epoch').uuid })
  const { simulatedNodes } = readStartSettings(options)
  return open(options, { store, chance, certificateFiles: certificateMemory(), simulatedNodes: usualNodes(simulatedNodes) })
}

/** The initial state of the first server with the same settings. */
interface Pristine {
  base?: ServerBase
}

/** The time of the server's clock, for the times of changes. */
function nowOf({ clock = systemClock }: StartOptions): () => number {
  return () => clock.now()
}

/** The initial snapshot by the settings that affect it. */
const pristineOf = boundedMemo(16, (_settings: string): Pristine => ({}))

/** False if a seed, a virtual time, files or other flags affect the initial objects. */
function isUsual({ clock, seed, random, flags = [] }: StartOptions): boolean {
  return clock === undefined && seed === undefined && random === undefined && flags.every(isUsualFlag)
}

/** Forks the initial state of the first server with the same settings, if there is one. */
async function startPristine(options: StartOptions): Promise<RunningServer> {
  const settings = readStartSettings(options)
  const pristine = pristineOf(objectSettingsOf(settings))
  const base = pristine.base && { ...pristine.base, isAtRest: startsAtRest(settings) }
  const chance = systemChance
  const store = createMemoryStore({
    from: base === undefined ? undefined : storeOf(base.snapshot),
    hasOwnEpoch: true,
    randomId: chance.uuid,
  })
  const onMade = (made: ServerBase) => {
    pristine.base ??= made
  }
  const simulatedNodes = usualNodes(settings.simulatedNodes)
  return open(options, { store, base, isNewCluster: true, onMade, chance, certificateFiles: certificateMemory(), simulatedNodes }, settings)
}

/** A server that continues from another server's snapshot. */
async function startFrom(snapshot: ServerSnapshot, given: StartOptions): Promise<RunningServer> {
  const { origin, base } = snapshot
  const { options, isSame } = readForkOptions(snapshot, given)
  const settings = Object.keys(given).length > 1 ? readStartSettings(options) : origin.settings
  const chance = given.seed === undefined && given.random === undefined ? origin.chance.fork() : chanceOf(options)
  const from = storeOf(base.snapshot)
  if (from === undefined) throw new SettingsError('from: only a server in memory has forks; start it with --memory')
  const store = createMemoryStore({ from, now: nowOf(options), randomId: chance.stream('epoch').uuid })
  const names = new Set(origin.nodes.map(({ settings }) => settings.name))
  const further = given.nodes === undefined ? [] : usualNodes(settings.simulatedNodes)
  const simulatedNodes = [...origin.nodes, ...further.filter(({ settings }) => !names.has(settings.name))]
  // Further controllers must read all existing objects.
  const isAtRest = base.isAtRest === true && given.controllers === undefined
  const beginning = {
    store,
    // Encrypted values are read anew, with the keys of now.
    base: isSame && settings.encryptionProviderConfig === '' ? { ...base, isAtRest } : undefined,
    chance,
    certificateFiles: origin.certificates.fork(),
    simulatedNodes,
    origin,
  }
  return open(options, beginning, settings)
}

/** A fork without other options shares the settings of its base. */
const groupsOf = memo(readServer)

/** The parts of a server that a fork takes from its base. */
interface Beginning extends Pick<ServerOptions, 'store' | 'base' | 'isNewCluster' | 'onMade' | 'chance' | 'simulatedNodes'> {
  readonly certificateFiles: CertificateMemory
  readonly origin?: Origin
}

async function open(
  options: StartOptions,
  { origin, ...beginning }: Beginning,
  settings = readStartSettings(options),
): Promise<RunningServer> {
  const { certificateFiles, chance } = beginning
  const { clock, activity } = withActivity(options.clock ?? systemClock)
  const log = options.log ?? silentLog
  const requestLog = new RequestLog(clock, { details: settings.control ? new KeptDetails() : undefined })
  const faults = new Faults({ chance, clock, log, onHit: (request) => requestLog.noteFault(request) })
  const controlToken = settings.control ? keepControlToken(certificateFiles) : undefined
  const door = settings.control ? new ControlDoor() : undefined
  const order = options.order === undefined ? undefined : new SeededOrder(chance, activity)
  const server = await startServer({
    ...groupsOf(settings),
    ...beginning,
    requestLog,
    faults,
    order,
    control: door?.handle,
    controlToken,
    flags: settings.flagTexts,
    ...settings.retention,
    freezesLinks: options.freezesLinks === true,
    clock,
    log,
  })
  const issue = await clientIssuer({ files: certificateFiles, clock })
  // A stop that takes time would wait for ever for a clock that a test moves.
  const [delayMs, graceMs] = clock.isVirtual ? [0, 0] : [settings.shutdownDelayMs, settings.watchGraceMs]
  const running = new InProcessServer(
    { server, issue, options, settings, certificateFiles, chance, activity, clock, requestLog, faults, log, origin, door, controlToken },
    { delayMs, graceMs },
  )
  try {
    await running.prepare(options)
  } catch (error) {
    await running.stop()
    throw error
  }
  return running
}

const settledWithinMs = 5_000
/** Timeout of the check for work in progress. Work that ends before it does not count. */
const workMs = 250

/** Advances a virtual clock, or waits for real time. */
async function passTime(clock: Clock, given: Clock | undefined, ms: number): Promise<void> {
  if (given !== undefined && isMoved(given)) await given.advance(ms)
  else await sleep(clock, ms)
}

/** Counts the requests in transit that no gateway has received yet. */
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

/** The parts of a server in this process. */
interface Parts extends Pick<Surroundings, 'chance' | 'clock' | 'log'> {
  readonly server: Server
  readonly issue: ClientIssuer
  readonly options: StartOptions
  readonly settings: StartSettings
  readonly certificateFiles: CertificateMemory
  readonly activity: Activity
  readonly requestLog: RequestLog
  readonly faults: Faults
  /** Undefined if the server is not a fork. */
  readonly origin?: Origin | undefined
  /** The control, and the token of its caller; undefined without a control. */
  readonly door?: ControlDoor | undefined
  readonly controlToken?: string | undefined
}

/** The handle of a server in this process. */
export class InProcessServer implements RunningServer {
  readonly url: string
  readonly client: Client
  readonly nodes: ServerNodes
  readonly metrics: ServerMetrics
  readonly requests: ServerRequests
  readonly faults: ServerFaults
  readonly at: ServerPast['at']
  readonly timeline: ServerPast['timeline']
  readonly diff: ServerPast['diff']
  readonly #users: ServerUsers
  readonly #server: Server
  readonly #parts: Parts
  readonly #stopOptions: StopOptions
  readonly #endpoints: OpenEndpoint[] = []
  #endpoint: WebhookEndpoint | undefined
  #kubeconfig: string | undefined
  #atStart: StateSnapshot
  /** The revision at which a test began: after the start, a reset or a restore. */
  #beganAt: number

  constructor(parts: Parts, stopOptions: StopOptions) {
    const { server, activity, clock, issue, requestLog, faults, origin } = parts
    const { url, configuration, storage } = server
    this.url = url
    this.nodes = server.nodes
    this.client = createClient(counted(createHttpsTransport(configuration), activity))
    this.requests = allRequestsIn(requestLog)
    this.faults = faults
    const past = pastOf({ client: this.client, url, ownPath: server.names.ownPath, storage })
    this.at = past.at
    this.timeline = past.timeline
    this.diff = past.diff
    faults.addClient(fingerprintOf(configuration.clientCertificate), { isHarness: true })
    this.#users = new ServerUsers({
      configuration,
      cluster: server.names.serverServiceName,
      issue,
      giveRules: server.giveRules,
      log: requestLog,
      faults,
      clock,
      storage,
      names: server.names,
      onMade: weatherOfExploration({ faults, activity }, parts.options),
      harness: () => this.client,
      counted: (transport) => counted(transport, activity),
    })
    for (const { name, options } of origin?.users ?? []) this.#users.get(name, options)
    this.#server = server
    this.metrics = new ServerMetrics({
      client: this.client,
      eventually: (reference, matcher) => this.eventually(reference, matcher),
      names: server.names,
      clock,
      measurements: () => server.nodes.measurements,
      keep: (endpoint) => this.#endpoints.push(endpoint),
    })
    this.#parts = parts
    this.#stopOptions = stopOptions
    this.#endpoint = origin?.endpoint
    this.#atStart = storage.snapshot()
    this.#beganAt = this.#atStart.revision
    this.#openControl()
  }

  #openControl(): void {
    const { door, controlToken, requestLog: log, faults, options, server, activity } = this.#parts
    if (door === undefined || controlToken === undefined) return
    server.giveRules(controlUser.name, controlUser.rules)
    const clock = options.clock ?? this.#parts.clock
    const revision = () => server.storage.snapshot().revision
    const work = () => activity.settled({ withinMs: workMs, stillMs: workMs })
    const { seed } = options
    door.open(
      createControl({ server: this, store: this.#store, userNames: () => this.#users.names, log, faults, clock, revision, work, seed }),
    )
  }

  get control(): ControlAccess | undefined {
    const { controlToken: token, server } = this.#parts
    if (token === undefined) return undefined
    return { url: `${this.url}${controlPath}`, token, certificateAuthority: server.configuration.certificateAuthority ?? '' }
  }

  get kubeconfig(): string {
    const { names, configuration } = this.#server
    const cluster = names.serverServiceName
    const { commonName: user, organizations: groups } = administratorOf(cluster)
    this.#kubeconfig ??= kubeconfigOf({ cluster, user, groups }, { configuration, issue: this.#parts.issue })
    return this.#kubeconfig
  }

  /** Creates the objects that the options define, at the start and after each reset. */
  async prepare({ crds = [], webhooks }: StartOptions): Promise<void> {
    for (const endpoint of this.#parts.origin?.endpoints ?? []) this.#endpoints.push(await endpoint.share())
    if (crds.length === 0 && webhooks === undefined) return
    if (webhooks !== undefined) await this.webhookEndpoint(webhooks.handler)
    await this.install([...crds, ...(webhooks?.paths ?? [])])
    this.#atStart = this.#server.storage.snapshot()
    this.#beganAt = this.#atStart.revision
  }

  // Tests take single methods from the server, so the methods are bound.
  readonly reset = async (): Promise<void> => {
    this.faults.clear()
    await this.#restore(this.#atStart)
    this.requests.clear()
  }

  readonly user = (name: string, options?: UserOptions): ServerUser => this.#users.get(name, options)

  readonly console = async (): Promise<string> => {
    if (this.#parts.options.console !== true) throw new SettingsError('console(): the server has none; start it with the option console')
    const { consoleLink } = await import('../console/open.ts')
    return consoleLink(this.client)
  }

  readonly snapshot = (): Snapshot => this.#take({ isSettled: false })

  #take(known: { readonly isSettled: boolean }): ServerSnapshot {
    const { options, settings, certificateFiles, chance } = this.#parts
    return new ServerSnapshot({
      base: this.#server.moment(known),
      origin: {
        options,
        settings,
        certificates: certificateFiles.fork(),
        chance: chance.fork(),
        nodes: this.#server.nodes.simulated,
        users: this.#users.known,
        endpoint: this.#endpoint,
        endpoints: [...this.#endpoints],
      },
    })
  }

  readonly restore = (snapshot: StateSnapshot): Promise<void> => {
    const { base, origin } = readSnapshot(snapshot)
    return this.#restore(base.snapshot, { simulated: origin.nodes, hasObjects: base.hasNodeObjects === true })
  }

  async #restore(state: StateSnapshot, nodes?: Parameters<Server['nodes']['restored']>[0]): Promise<void> {
    await this.#server.storage.restore(state)
    await this.metrics.clear()
    await this.#server.nodes.restored(nodes)
    this.#beganAt = this.#server.storage.snapshot().revision
  }

  readonly fork = async (options: Omit<StartOptions, 'from'> = {}): Promise<RunningServer> => {
    const { activity, faults } = this.#parts
    let isAtRest: boolean
    // Controllers of a fork would act on a part of a dump.
    do {
      await this.#server.loading()
      isAtRest = await activity.isAtRest()
    } while (this.#server.loading() !== undefined)
    // A fault may hold requests and watches of controllers, which do not count as work.
    const isSettled = isAtRest && faults.isClear
    return start({ ...options, from: this.#take({ isSettled }) })
  }

  readonly install = async (paths: string | readonly string[]): Promise<ApiObject[]> => {
    const { install } = await import('./install.ts')
    return install(this.client, typeof paths === 'string' ? [paths] : paths, { endpoint: this.#endpoint, log: this.#parts.log })
  }

  readonly #store: StoreObjects = async (objects, options) => {
    const { storeIn } = await import('../load/store-objects.ts')
    return storeIn({ loadObjects: this.#server.loadObjects, client: this.client })(objects, options)
  }

  readonly load: RunningServer['load'] = async (paths, options = {}) => {
    const { load } = await import('../load/load.ts')
    return load(typeof paths === 'string' ? [paths] : paths, options, { client: this.client, store: this.#store })
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

  readonly settled = async ({ within = settledWithinMs, quiet = 0 }: SettledOptions = {}): Promise<void> => {
    const { activity, clock, options } = this.#parts
    const quietMs = toMs('settled', quiet)
    const endsMs = systemClock.monotonic() + within
    for (;;) {
      const left = await activity.settled({ withinMs: within, stillMs: within })
      if (left.length > 0) throw new Error(`the server has not settled within ${within} ms: ${left.join(', ')}`)
      const { moves } = activity
      if (quietMs > 0) await passTime(clock, options.clock, quietMs)
      if (activity.moves === moves) return
      if (systemClock.monotonic() > endsMs) throw new Error(`the server has not been quiet for ${quiet} within ${within} ms`)
    }
  }

  readonly track = <T>(work: Promise<T>, name = 'tracked work'): Promise<T> => {
    const { activity } = this.#parts
    activity.begin(name)
    return work.finally(() => activity.end(name))
  }

  readonly expectNoHotLoop = async ({ user, for: time = '2s' }: HotLoopOptions = {}): Promise<void> => {
    const loops = await this.hotLoops(user, time)
    if (loops.length > 0) throw new Error(`clients do not come to rest:\n${loops.join('\n')}`)
  }

  /** Describes the loops of a user, or of all users of the test, during a time. */
  async hotLoops(user: string | undefined, time: string | number): Promise<string[]> {
    const { requestLog: log, clock, options } = this.#parts
    const { observeHotLoops } = await import('./reports.ts')
    const ms = toMs('expectNoHotLoop', time)
    return observeHotLoops({ log, users: this.#users.names, user, ms, pass: () => passTime(clock, options.clock, ms) })
  }

  readonly eventually: RunningServer['eventually'] = async (reference, matcher, { within = settledWithinMs } = {}) => {
    const { eventually } = await import('./eventually.ts')
    const ms = toMs('eventually', within)
    return eventually(this.client, reference, { matcher, end: (signal) => sleep(systemClock, ms, signal), within: `${ms} ms` })
  }

  readonly leaks = async (): Promise<string[]> => {
    const { leaksIn } = await import('./reports.ts')
    const { storage, names } = this.#server
    return leaksIn({ storage, names, faults: this.#parts.faults, after: this.#beganAt })
  }

  readonly dump = async (): Promise<string> => {
    const { dumpStorage } = await import('./reports.ts')
    return dumpStorage({ storage: this.#server.storage, port: new URL(this.url).port })
  }

  readonly saveTrace = async (path: string, options: TraceOptions = {}): Promise<void> => {
    const { writeTrace } = await import('./trace-file.ts')
    const { clock, options: given, faults } = this.#parts
    const { storage, names } = this.#server
    const { timeline, requests } = this
    const source = { profile: names.profile, now: clock.now, seed: given.seed, storage, timeline, requests, faults: () => faults.list() }
    await writeTrace(source, path, options)
  }

  readonly stop = async (): Promise<void> => {
    await this.#parts.door?.close()
    this.client.close()
    this.#users.close()
    await this.#server.stop(this.#stopOptions)
    await Promise.all(this.#endpoints.splice(0).map((endpoint) => endpoint.close()))
  };

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }
}
