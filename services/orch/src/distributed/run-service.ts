import { createServer as createHttpServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { ServiceRole } from '@orch/core/contracts'
import type { Profile } from '@orch/core/names'
import type { HealthCheck } from '@orch/gateway'
import {
  type Clock,
  createGuard,
  createLifecycle,
  createLog,
  endOnFailure,
  type Guard,
  type Log,
  type LogFormat,
  type LogLevel,
  type Metrics,
  openCertificateSource,
  portOf,
  sleep,
  stopOnSignal,
  systemChance,
  systemClock,
  type Timer,
  type TlsFiles,
  type Values,
} from '@orch/platform'
import { type ApiOptions, everythingServed } from '../api/settings.ts'
import { AddressTakenError, endWithStarter, printReadyLine, StartError, type Terminal } from '../process/terminal.ts'
import { isLoopback } from '../serving/loopback.ts'
import { catalogueOf, type Surroundings } from '../surroundings.ts'
import { openTelemetry } from '../telemetry/open.ts'
import type { Replica } from './replica.ts'
import { type ListenAddress, readListenAddress, readTrust, type TrustOptions, type trustSettings } from './settings.ts'

/** Interval of the only timer of a starting process: the maximum of a timer. */
const stayAliveMs = 2 ** 31 - 1

/** Given settings of a service. */
interface Given<V> {
  readonly settings: V
  /** The given texts, by flag. */
  readonly texts: ReadonlyMap<string, string>
  readonly terminal: Terminal
  readonly trust: TrustOptions
}

interface CheckedService {
  /** The served API; undefined for everything, as gateways decide. */
  readonly api?: ApiOptions
  /** Opens the service, which may wait for other services. */
  open(world: Omit<Surroundings, 'lifecycle'>): Promise<Replica & { readonly ready?: Promise<void> }>
}

/** The command of a service; the name is also in every log line. `check` opens nothing. */
export function serviceCommand<V extends ProcessSettings>(
  name: ServiceRole,
  read: (terminal: Terminal, flags: readonly string[]) => Promise<{ readonly values: V; readonly texts: ReadonlyMap<string, string> }>,
  check: (given: Given<V>) => CheckedService | Promise<CheckedService>,
) {
  return async (terminal: Terminal, flags: readonly string[]): Promise<undefined> => {
    const { values: settings, texts } = await read(terminal, flags)
    if (settings.listen !== undefined) readListenAddress('--listen', settings.listen)
    const trust = readTrust(settings, name)
    return runService({ name, terminal, settings, trust, ...(await check({ settings, texts, terminal, trust })) })
  }
}

interface ProcessSettings extends Values<typeof trustSettings> {
  readonly profile: Profile
  readonly logLevel: LogLevel
  readonly logFormat: LogFormat
  readonly emulatedVersion?: readonly string[]
  readonly listen?: string
  /** Undefined if the service's own port answers probes, and the service itself delays its end. */
  readonly probeAddress?: string
  readonly shutdownDelayMs?: number
}

interface ServiceProcess extends CheckedService {
  readonly name: string
  readonly terminal: Terminal
  readonly settings: ProcessSettings
  readonly trust: TrustOptions
}

/** Runs a service until a signal ends the process, or its parent has ended. */
async function runService(service: ServiceProcess): Promise<undefined> {
  const { name, settings, terminal, trust } = service
  const { probeAddress, shutdownDelayMs = 0 } = settings
  const address = probeAddress === undefined ? undefined : readListenAddress('--probe-address', probeAddress)
  const log = createLog({ level: settings.logLevel, format: settings.logFormat }).child({ service: name })
  endOnFailure({ source: process, log, exit: () => process.exit(1) })
  const clock = systemClock
  const state: State = { replica: undefined, isReady: false, isEnding: false }
  const scope = createLifecycle({ log })
  const hold = stayAlive()
  try {
    stopOnSignal({
      source: process,
      log,
      async stop() {
        log.info({}, 'stopping')
        state.isEnding = true
        // `/readyz` fails meanwhile, so that clients disconnect.
        await sleep(clock, address !== undefined && state.isReady ? shutdownDelayMs : 0)
        await scope.stop()
      },
    })
    const probes = address && (await openProbes({ address, tls: trust.tls, clock, log, probed: () => probed(state) }))
    if (probes !== undefined) scope.opened('probes', probes)
    const telemetry = scope.opened('telemetry', await openTelemetry({ service: name, env: terminal.env, clock, log }))
    endWithStarter()
    const catalogue = catalogueOf(service.api ?? everythingServed(settings.profile, settings.emulatedVersion))
    const replica = await service.open({ catalogue, clock, chance: systemChance, log, tracer: telemetry.tracer })
    // A signal meanwhile found nothing to stop.
    if (state.isEnding) return void (await replica.stop())
    state.replica = replica
    scope.onStop(name, () => replica.stop())
    await replica.ready
    state.isReady = true
    const where = {
      ...(replica.address === '' ? {} : { address: replica.address }),
      ...(probes === undefined ? {} : { probes: probes.url }),
    }
    log.info(where, 'ready')
    const text = `orch ${name} is ready${replica.address === '' ? '' : ` at ${replica.address}`}\n`
    terminal.out(printReadyLine(settings.logFormat, text, { service: name, ...where }))
    await terminal.notify?.({ kind: 'ready', ...where })
  } catch (error) {
    if (state.isEnding) return
    await scope.stop()
    throw error
  } finally {
    hold.cancel()
  }
}

/** A waiting process needs a timer to stay alive: timers of the clock do not hold it, and connections are opened and closed. */
function stayAlive(): Timer {
  const timer = setInterval(() => {}, stayAliveMs)
  return { cancel: () => clearInterval(timer) }
}

interface State {
  replica: Replica | undefined
  isReady: boolean
  isEnding: boolean
}

function probed({ replica, isReady, isEnding }: State) {
  const own: readonly HealthCheck[] = [
    { name: 'start', check: () => (isReady ? undefined : 'the process is starting') },
    { name: 'shutdown', check: () => (isEnding ? 'the process is shutting down' : undefined) },
  ]
  return { checks: [...own, ...(replica?.checks ?? [])], metrics: replica?.metrics }
}

/** The answers of a process about its state. */
export interface Probed {
  readonly checks: readonly HealthCheck[]
  /** Undefined while the process is starting. */
  readonly metrics: Metrics | undefined
}

interface ProbeOptions extends Pick<Surroundings, 'clock' | 'log'> {
  readonly address: ListenAddress
  /** Needed if other machines can reach the address: clients must present a certificate. */
  readonly tls: TlsFiles | undefined
  /** Called at each request. */
  readonly probed: () => Probed
}

/** Timeout of a request's head. */
const headTimeoutMs = 10_000
/** Maximum bytes of a request's head. */
const headBytesMax = 8_192

/** Answers only `/healthz`, `/livez`, `/readyz` and `/metrics`. */
export async function openProbes({ address, tls, probed, clock, log }: ProbeOptions) {
  const isOpen = isLoopback(address.host) || address.host === 'localhost'
  if (!isOpen && tls === undefined) {
    throw new StartError(
      `--probe-address=${address.host}:${address.port}: beyond this machine probes want client certificates: give --service-certificate, --service-key and --service-ca`,
    )
  }
  const guard = createGuard({ log, metrics: () => probed().metrics })
  const answer: RequestListener = (request, response) => {
    const end = () => void response.destroy()
    guard.run('probe', end, () => respond(guard.watch(request, 'probe', end), guard.watch(response, 'probe', end), probed()))
  }
  const { server, stop } =
    isOpen || tls === undefined
      ? { server: createHttpServer(bounds, answer), stop: () => {} }
      : encryptedServer(answer, { tls, clock, log })
  guardConnections(server, guard)
  await listening(server, address)
  const port = portOf(server)
  const host = address.host.includes(':') ? `[${address.host}]` : address.host
  return {
    /** `http://127.0.0.1:7101`. */
    url: `${isOpen ? 'http' : 'https'}://${host}:${port}`,
    close() {
      stop()
      server.close()
      server.closeAllConnections()
    },
  }
}

function guardConnections(server: Server, guard: Guard): void {
  for (const event of ['connection', 'secureConnection'] as const)
    server.prependListener(event, (socket: Socket) => void guard.watch(socket, 'connection', () => socket.destroy()))
}

const bounds = { headersTimeout: headTimeoutMs, requestTimeout: headTimeoutMs, maxHeaderSize: headBytesMax }

function encryptedServer(
  answer: RequestListener,
  { tls, clock, log }: { tls: TlsFiles; clock: Clock; log: Log },
): { server: Server; stop(): void } {
  const source = openCertificateSource({ files: tls, clock, log })
  const context = ({ certificate, key, authority } = source.current) => ({ cert: certificate, key, ca: authority })
  const server = createHttpsServer({ ...bounds, ...context(), requestCert: true, rejectUnauthorized: true, minVersion: 'TLSv1.2' }, answer)
  source.listen((texts) => server.setSecureContext(context(texts)))
  return { server, stop: () => source.close() }
}

function listening(server: Server, { host, port }: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const address = `${host}:${port}`
      const message = `--probe-address=${address}: the address cannot be listened on (${error.code})`
      if (error.code === 'EADDRINUSE') reject(new AddressTakenError(message, { address, cause: error }))
      else reject(new StartError(message, { cause: error }))
    })
    server.listen(port, host, resolve)
  })
}

async function respond(request: IncomingMessage, response: ServerResponse, probed: Probed): Promise<void> {
  request.resume()
  if (request.method !== 'GET' && request.method !== 'HEAD') return send(response, 405, 'only GET and HEAD are answered here\n')
  // Not `new URL`, which refuses some valid requests.
  const [, pathname, query] = /^([^?]*)\??(.*)$/s.exec(request.url ?? '') ?? []
  const probe = /^\/(healthz|livez|readyz)$/.exec(pathname ?? '')?.[1]
  if (probe !== undefined) return respondProbe(response, probe, new URLSearchParams(query).has('verbose'), probed)
  if (pathname !== '/metrics') return send(response, 404, '404 page not found\n')
  if (probed.metrics === undefined) return send(response, 503, 'the process is starting\n')
  return send(response, 200, await probed.metrics.bytes(), probed.metrics.contentType)
}

/** A live process need not be ready: it may be starting, or stopping. */
async function respondProbe(response: ServerResponse, probe: string, isVerbose: boolean, { checks }: Probed): Promise<void> {
  const results = await Promise.all(
    (probe === 'livez' ? [] : checks).map(async (check) => ({ name: check.name, isWell: await isWell(check) })),
  )
  const isGood = results.every((result) => result.isWell)
  if (isGood && !isVerbose) return send(response, 200, 'ok')
  const lines = [{ name: 'ping', isWell: true }, ...results].map(({ name, isWell: well }) =>
    well ? `[+]${name} ok` : `[-]${name} failed: reason withheld`,
  )
  return send(response, isGood ? 200 : 500, `${[...lines, `${probe} check ${isGood ? 'passed' : 'failed'}`].join('\n')}\n`)
}

async function isWell({ check }: HealthCheck): Promise<boolean> {
  try {
    return (await check()) === undefined
  } catch {
    return false
  }
}

function send(response: ServerResponse, code: number, text: string | Buffer, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(code, {
    'content-type': type,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-cache, private',
    'x-content-type-options': 'nosniff',
  })
  response.end(response.req.method === 'HEAD' ? undefined : text)
}
