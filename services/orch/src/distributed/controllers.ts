import { hostname } from 'node:os'
import { dirname } from 'node:path'
import {
  type ClientConfiguration,
  ConfigurationError,
  createClient,
  createHttpsTransport,
  parseConfiguration,
  type Transport,
  UnsentError,
} from '@orch/client'
import {
  type AutoscalingOptions,
  type ControllerName,
  type NodeControllersOptions,
  runWhileLeading,
  type SecretTokenOptions,
  usualNamespaceDelayMs,
} from '@orch/controllers'
import { createLifecycle, noTracer, SettingsError, type Tracer } from '@orch/platform'
import { readTrust } from '../certificates/service-trust.ts'
import { readFlagFile } from '../configuration/flag-files.ts'
import { ClientMetrics, ofProgram, programOf } from '../controllers/client.ts'
import { type Identity, runControllers, serverIdentity } from '../controllers/open.ts'
import { readAutoscaling, readControllers, readNodeControllers, readSecretTokens } from '../controllers/settings.ts'
import type { Terminal } from '../process/terminal.ts'
import { readCommandSettings } from '../settings/general.ts'
import type { Surroundings } from '../surroundings.ts'
import { createReachability } from './reachability.ts'
import { assemble, type Replica, type ReplicaOptions } from './replica.ts'
import { runService } from './run-service.ts'
import { controllersCommandSettings } from './settings.ts'

/** `orch controllers`: keeps objects in their wanted state, as a client of the gateways. */
export async function controllers(terminal: Terminal, flags: readonly string[]): Promise<undefined> {
  const { values: settings } = await readCommandSettings(controllersCommandSettings, terminal, flags)
  const { kubeconfig, leaderElect, impersonateServiceAccounts: impersonates } = settings
  if (kubeconfig === '') throw new SettingsError('--kubeconfig is needed: how the gateways are reached, and as whom')
  const trust = readTrust(settings, 'controllers')
  const configuration = await readConfiguration(kubeconfig)
  const servers = readServers(settings.servers)
  const secretTokens = readSecretTokens(settings, configuration.certificateAuthority ?? '')
  // Each gateway keeps the bootstrap objects itself, since it alone knows its addresses.
  const names = readControllers(settings).filter((name) => name !== 'bootstrap')
  const autoscaling = readAutoscaling(settings)
  const nodes = readNodeControllers(settings)
  return runService({
    name: 'controllers',
    terminal,
    settings,
    trust,
    open: (world) =>
      openControllersReplica(
        {
          trust,
          hasProcessMetrics: true,
          configuration,
          servers,
          controllers: names,
          autoscaling,
          nodes,
          namespaceDelayMs: usualNamespaceDelayMs,
          leaderElect,
          impersonates,
          secretTokens,
        },
        world,
      ),
  })
}

function readServers(servers: readonly string[]): readonly string[] {
  const wrong = servers.find((server) => !URL.canParse(server) || !/^https?:$/.test(new URL(server).protocol))
  if (wrong !== undefined) throw new SettingsError(`--servers=${wrong}: must be an address such as https://gateway:6443`)
  return servers
}

async function readConfiguration(path: string) {
  try {
    return await parseConfiguration(readFlagFile('--kubeconfig', path), { folder: dirname(path) })
  } catch (error) {
    if (error instanceof ConfigurationError) throw new SettingsError(`--kubeconfig=${path}: ${error.message}`)
    throw error
  }
}

/** Longest that controllers wait for a connection to a gateway before they try the next one: less than the 10 s in which a lease is renewed. */
const gatewayConnectMsMax = 3_000

/** Silence on a watch of controllers after which its connection is taken for dead: gateways send a bookmark each minute. */
const gatewaySilenceMsMax = 150_000

export interface ControllersReplicaOptions extends ReplicaOptions {
  /** The client configuration for the gateways. */
  readonly configuration: ClientConfiguration
  /** Gateways instead of the one in the configuration; empty: that one. */
  readonly servers: readonly string[]
  readonly controllers: readonly ControllerName[]
  /** Absent: nothing is scaled by its use. */
  readonly autoscaling?: AutoscalingOptions | undefined
  /** Absent: no controller of nodes runs. */
  readonly nodes?: NodeControllersOptions | undefined
  /** Time for which a namespace under deletion keeps its contents; 0 by default. */
  readonly namespaceDelayMs?: number
  /** True for one of several replicas, of which one runs the controllers. */
  readonly leaderElect: boolean
  /** True if each controller acts as a service account of its own. */
  readonly impersonates: boolean
  /** The dependencies of tokens in Secrets; absent: none are made. */
  readonly secretTokens?: SecretTokenOptions | undefined
}

/** A gateway may be reachable and useless: stopped, or at the end of a connection that is dead without a sign. */
const patience = { connectMsMax: gatewayConnectMsMax, silenceMsMax: gatewaySilenceMsMax }

/** Name of the Lease that the running replica holds. */
const leaseName = 'controllers'

/** Controllers as clients of the gateways. */
export function openControllersReplica(options: ControllersReplicaOptions, world: Omit<Surroundings, 'lifecycle'>): Promise<Replica> {
  return assemble(options, world, async ({ lifecycle, metrics, ...rest }) => {
    const { catalogue, chance, clock, log, tracer = noTracer } = rest
    const { configuration, controllers, autoscaling, nodes, secretTokens, namespaceDelayMs } = options
    const servers = options.servers.length === 0 ? [configuration.server] : options.servers
    const gateways = createReachability({ name: 'gateway', servers, clock, log })
    await lifecycle.run({ name: 'reachability', stop: () => gateways.close() })
    const requests = new ClientMetrics(metrics, clock)
    const transport = (identity?: Identity) => {
      const gatewaysInTurn = createFailover(
        servers.map((server) => requests.over(createHttpsTransport({ ...configuration, server }, patience), new URL(server).host)),
      )
      const program = identity === undefined ? catalogue.names.controllerManager : programOf(identity, catalogue.names)
      return createTracedTransport(ofProgram(program, gateways.over(gatewaysInTurn)), tracer)
    }
    // A controller that acts as the server itself in one process acts as the user of the configuration here.
    const clientAs = (identity: Identity) =>
      createClient(options.impersonates && identity !== serverIdentity ? actingAs(identity.name, transport(identity)) : transport(identity))
    const ending = new AbortController()
    const leading = metrics.gauge({ name: 'controllers_leading', help: '1 while this replica runs the controllers.' })
    const lead = async (signal: AbortSignal) => {
      const term = createLifecycle({ log })
      const rootCertificate = configuration.certificateAuthority
      await runControllers(
        { controllers, autoscaling, nodes, namespaceDelayMs, objects: [], secretTokens, rootCertificate, clientAs, metrics },
        { ...rest, lifecycle: term },
      )
      leading.set(1)
      await raised(signal)
      leading.set(0)
      await term.stop()
    }
    const client = createClient(transport())
    const identity = `${hostname()}_${process.pid}_${Buffer.from(chance.bytes(4)).toString('hex')}`
    const running = options.leaderElect
      ? runWhileLeading({
          client,
          names: catalogue.names,
          lease: leaseName,
          identity,
          clock,
          random: chance.fraction,
          log,
          signal: ending.signal,
          lead,
        })
      : lead(ending.signal)
    await lifecycle.run({
      name: 'controllers',
      async stop() {
        ending.abort()
        await running
        client.close()
      },
    })
    return { address: '', checks: [gateways.check] }
  })
}

/** The groups of a service account follow from its name. */
function actingAs(user: string, transport: Transport): Transport {
  return {
    send: (request) => transport.send({ ...request, headers: { ...request.headers, 'impersonate-user': user } }),
    close: () => transport.close(),
  }
}

function raised(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

/**
 * One transport to several servers that show the same state. All requests go to one of them; when it is unreachable, unsent
 * ones go to the next at once, and all later ones too.
 */
export function createFailover(transports: readonly Transport[]): Transport {
  let current = 0
  const sendFrom: Transport['send'] = async (request) => {
    for (let asked = 1; ; asked += 1) {
      const index = current
      const transport = transports[index]
      if (transport === undefined) throw new Error('expected at least one server')
      try {
        return await transport.send(request)
      } catch (error) {
        if (request.signal?.aborted === true) throw error
        if (index === current) current = (index + 1) % transports.length
        if (!(error instanceof UnsentError) || asked >= transports.length) throw error
      }
    }
  }
  return {
    send: sendFrom,
    close() {
      for (const transport of transports) transport.close()
    },
  }
}

/**
 * The same way to a server, with a span for each request, of which the server's own is a child. It ends with the head of the
 * answer: a watch has no end of its own.
 */
export function createTracedTransport(transport: Transport, tracer: Tracer): Transport {
  return {
    async send(request) {
      const { method, path, headers } = request
      const attributes = { 'http.request.method': method, 'url.path': path.split('?', 1)[0] ?? path }
      const span = tracer.start(method, { kind: 'client', attributes })
      if (span === undefined) return transport.send(request)
      try {
        const response = await transport.send({ ...request, headers: { ...headers, traceparent: span.traceparent } })
        span.attribute('http.response.status_code', response.status)
        return response
      } catch (error) {
        span.fail(error)
        throw error
      } finally {
        span.end()
      }
    },
    close: () => transport.close(),
  }
}
