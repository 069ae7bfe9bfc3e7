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
import { runWhileLeading } from '@orch/controllers'
import { messageOf, noTracer, readFlagFile, SettingsError, type Timer, type Tracer } from '@orch/platform'
import { ClientMetrics, ofProgram } from '../controllers/client.ts'
import type { Surroundings } from '../surroundings.ts'
import type { Assembly } from './replica.ts'

/** Timeout of connecting to a gateway before the next one is tried: less than the 10 s between renewals of a lease. */
const gatewayConnectMsMax = 3_000

/** Silence on a watch after which its connection counts as broken, as gateways send a bookmark each minute. */
const gatewaySilenceMsMax = 150_000

/** A gateway may be reachable and unusable: stopped, or behind a silently broken connection. */
const patience = { connectMsMax: gatewayConnectMsMax, silenceMsMax: gatewaySilenceMsMax }

/** The gateways of a service that is their client. */
export interface GatewaysOptions {
  /** The client configuration for the gateways. */
  readonly configuration: ClientConfiguration
  /** Gateways instead of the one in the configuration; empty to use that one. */
  readonly servers: readonly string[]
}

/** Reports from now on if the gateways are reachable. */
export function openGateways(
  options: GatewaysOptions,
  { lifecycle, metrics, clock, log, tracer = noTracer }: Pick<Assembly, 'lifecycle' | 'metrics' | 'clock' | 'log' | 'tracer'>,
) {
  const { configuration } = options
  const servers = options.servers.length === 0 ? [configuration.server] : options.servers
  const gateways = lifecycle.opened('reachability', createReachability({ name: 'gateway', servers, clock, log }))
  const requests = new ClientMetrics(metrics, clock)
  const toServer = (server: string) => requests.over(createHttpsTransport({ ...configuration, server }, patience), new URL(server).host)
  return {
    check: gateways.check,
    /** A transport to the gateways with separate connections, counted and traced. */
    transport: () => createTracedTransport(gateways.over(createFailover(servers.map(toServer))), tracer),
  }
}

/** The gateways of `--kubeconfig` and `--servers`, with errors for this process. */
export async function readGateways({ kubeconfig: path, servers }: { readonly kubeconfig: string; readonly servers: readonly string[] }) {
  if (path === '') throw new SettingsError('--kubeconfig is needed: how the gateways are reached, and as whom')
  const wrong = servers.find((server) => !URL.canParse(server) || !/^https?:$/.test(new URL(server).protocol))
  if (wrong !== undefined) throw new SettingsError(`--servers=${wrong}: must be an address such as https://gateway:6443`)
  try {
    return { servers, configuration: await parseConfiguration(readFlagFile('--kubeconfig', path), { folder: dirname(path) }) }
  } catch (error) {
    if (error instanceof ConfigurationError) throw new SettingsError(`--kubeconfig=${path}: ${error.message}`)
    throw error
  }
}

/** The work of a service with a leader among its replicas. */
export interface LedWork {
  /** Name of the part in the lifecycle of the replica. */
  readonly name: string
  /** Name of the Lease that the leading replica holds. */
  readonly lease: string
  /** False for the only replica, which leads at once. */
  readonly leaderElect: boolean
  /** The transport to the gateways, closed at the end. */
  readonly transport: Transport
  /** Works until the signal is aborted. */
  lead(signal: AbortSignal): Promise<void>
}

/** Works while this replica leads, until the lifecycle stops. */
export function runLed({ name, lease, leaderElect, transport, lead }: LedWork, assembly: Assembly): void {
  const { catalogue, chance, clock, lifecycle, log } = assembly
  const { names } = catalogue
  const ending = new AbortController()
  const { signal } = ending
  const identity = `${hostname()}_${process.pid}_${Buffer.from(chance.bytes(4)).toString('hex')}`
  const client = createClient(ofProgram(names.controllerManager, transport))
  const running = leaderElect
    ? runWhileLeading({ client, names, lease, identity, clock, random: chance.fraction, log, signal, lead })
    : lead(signal)
  lifecycle.onStop(name, async () => {
    ending.abort()
    await running
    transport.close()
  })
}

/** Wraps a transport to act as another user. Without a group, the groups follow from the user name. */
export function actingAs(user: string, transport: Transport, group?: string): Transport {
  const headers = { 'impersonate-user': user, ...(group !== undefined && { 'impersonate-group': group }) }
  return {
    send: (request) => transport.send({ ...request, headers: { ...request.headers, ...headers } }),
    close: () => transport.close(),
  }
}

/**
 * One transport to several equivalent servers. All requests go to one server; when it is unreachable, unsent ones go to the next at once, and so do
 * later ones. A server that does not answer before the timeout of a request counts as unreachable.
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
        const { aborted = false, reason } = request.signal ?? {}
        if (aborted && !(reason instanceof DOMException && reason.name === 'TimeoutError')) throw error
        if (index === current) current = (index + 1) % transports.length
        if (aborted || !(error instanceof UnsentError) || asked >= transports.length) throw error
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
 * Wraps a transport with a span for each request, the parent of the server's span. The span ends with the head of the answer, because a watch has no
 * end.
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

export interface ReachabilityOptions extends Pick<Surroundings, 'clock' | 'log'> {
  /** The name in the check and in the log: `gateway`. */
  readonly name: string
  /** For the log. */
  readonly servers: readonly string[]
}

/** Time without an answer after which an error is logged. */
const silenceMsMax = 10_000

/** Derives from ordinary requests if they are answered; at first none has been. */
export function createReachability({ name, servers, clock, log }: ReachabilityOptions) {
  let problem: string | undefined = 'no request has been answered yet'
  let silence: Timer | undefined
  let isLogged = false
  const expectAnswer = () => {
    silence ??= clock.after(silenceMsMax, () => {
      problem ??= 'requests are left without an answer'
      isLogged = true
      log.error({ servers, problem }, `no ${name} has answered for ${silenceMsMax / 1000} s`)
    })
  }
  const answered = () => {
    silence?.cancel()
    silence = undefined
    problem = undefined
    if (isLogged) log.info({ servers }, `a ${name} answers again`)
    isLogged = false
  }
  return {
    /** Healthy after any answer; unhealthy after a failed or unanswered request, until the next answer. */
    check: { name, check: () => problem },
    /** Wraps a transport and observes its requests. */
    over: (transport: Transport): Transport => ({
      async send(request) {
        expectAnswer()
        try {
          const response = await transport.send(request)
          answered()
          return response
        } catch (error) {
          // A request that its sender cancelled says nothing about the server.
          if (request.signal?.aborted !== true) problem = `requests fail: ${messageOf(error)}`
          throw error
        }
      },
      close: () => transport.close(),
    }),
    close: () => silence?.cancel(),
  }
}
