import { once } from 'node:events'
import { request as requestHttp } from 'node:http'
import { connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2'
import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import { printDuration } from '@orch/core/meta'
import { type AskedKind, type PodContainer, resolvePort } from '@orch/core/pod-life'
import { type Clock, messageOf, systemClock } from '@orch/platform'

/** The result of a call of a probe or a hook. */
export interface Finding {
  readonly passes: boolean
  readonly output: string
}

/** A probe or a hook. */
export type ContainerAction = Pick<NonNullable<PodContainer['livenessProbe']>, 'exec' | 'httpGet' | 'tcpSocket' | 'grpc' | 'timeoutSeconds'>

/** The ports of a Pod. */
export interface PortAccess {
  readonly address: string
  readonly clock: Pick<Clock, 'after' | 'isVirtual'>
  connect(port: number): Duplex
}

interface PortCall {
  /** The address and the port. */
  readonly host: string
  readonly signal: AbortSignal
  connect(): Duplex
}

/** Maximum wait for an answer to a hook, and to a probe in real time while a clock of a test stands still. */
const answerSecondsMax = 10

/** The probes and hooks of a container. */
export function actionsOf({ startupProbe, readinessProbe, livenessProbe, lifecycle }: PodContainer) {
  const { postStart, preStop } = lifecycle ?? {}
  return { startup: startupProbe, readiness: readinessProbe, liveness: livenessProbe, postStart, preStop }
}

/** The port of the Pod that a probe or hook calls; undefined for another call. */
function portOf({ httpGet, tcpSocket, grpc }: ContainerAction, ports: PodContainer['ports']): number | undefined {
  const resolved = httpGet?.host || tcpSocket?.host ? undefined : resolvePort((httpGet ?? tcpSocket ?? grpc)?.port ?? 0, ports)
  return resolved !== undefined && 'port' in resolved ? resolved.port : undefined
}

/** The probes and hooks of a container that call a served port. */
export function servedActions(container: PodContainer, isServed: (port: number) => boolean): AskedKind[] {
  const kinds: readonly AskedKind[] = ['startup', 'readiness', 'liveness', 'postStart', 'preStop']
  return kinds.filter((kind) => {
    const port = portOf(actionsOf(container)[kind] ?? {}, container.ports)
    return port !== undefined && isServed(port)
  })
}

/** Calls a port, as a kubelet does for a probe or a hook. */
export async function callPort(action: ContainerAction, { ports }: PodContainer, access: PortAccess): Promise<Finding> {
  const { address, clock, connect } = access
  const { httpGet, grpc, timeoutSeconds } = action
  const port = portOf(action, ports) ?? 0
  const host = `${address.includes(':') ? `[${address}]` : address}:${port}`
  const late = new AbortController()
  const [waiting, seconds] = clock.isVirtual ? [systemClock, answerSecondsMax] : [clock, timeoutSeconds ?? answerSecondsMax]
  const timer = waiting.after(seconds * 1000, () => late.abort())
  const call = { host, signal: late.signal, connect: () => connect(port) }
  const [what, finding] =
    httpGet != null
      ? [`Get "${(httpGet.scheme ?? 'HTTP').toLowerCase()}://${host}${pathOf(httpGet)}"`, callHttp(httpGet, call)]
      : grpc != null
        ? ['error: health rpc probe failed', callHealth(grpc.service ?? '', call)]
        : [`dial tcp ${host}`, callTcp(call)]
  const why = (error: unknown): string => {
    if (!late.signal.aborted) return `${what}: ${messageOf(error)}`
    if (grpc != null) return `timeout: health rpc did not complete within ${printDuration(BigInt(seconds * 1e9))}`
    return `${what}: context deadline exceeded (Client.Timeout exceeded while awaiting headers)`
  }
  return finding.catch((error: unknown) => ({ passes: false, output: why(error) })).finally(() => timer.cancel())
}

/** A server may keep the connection. */
async function callTcp({ signal, connect }: PortCall): Promise<Finding> {
  const socket = connect().resume().end()
  await once(socket, 'close', { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error
    socket.destroy()
  })
  return { passes: true, output: '' }
}

type HttpGet = NonNullable<ContainerAction['httpGet']>

function pathOf({ path = '/' }: HttpGet): string {
  return path.startsWith('/') ? path : `/${path}`
}

async function callHttp(httpGet: HttpGet, { host, signal, connect }: PortCall): Promise<Finding> {
  const given = (httpGet.httpHeaders ?? []).map(({ name, value }) => [name.toLowerCase(), value])
  const headers = { host, 'user-agent': 'kube-probe', accept: '*/*', connection: 'close', ...Object.fromEntries(given) }
  const createConnection = () => (httpGet.scheme === 'HTTPS' ? connectTls({ socket: connect(), rejectUnauthorized: false }) : connect())
  const request = requestHttp({ path: pathOf(httpGet), headers, signal, createConnection }).end()
  const [{ statusCode }] = await once(request, 'response')
  request.on('error', () => {}).destroy()
  return { passes: statusCode >= 200 && statusCode < 400, output: `HTTP probe failed with statuscode: ${statusCode}` }
}

/** Statuses of grpc.health.v1, by their numbers. */
const healthStatuses = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN']

async function callHealth(service: string, { host, signal, connect }: PortCall): Promise<Finding> {
  const name = Buffer.from(service)
  const message = name.length === 0 ? name : Buffer.from([10, (name.length & 127) | 128, name.length >> 7, ...name])
  const session = connectHttp2(`http://${host}`, { createConnection: connect }).on('error', () => {})
  try {
    const headers = { ':method': 'POST', ':path': '/grpc.health.v1.Health/Check', 'content-type': 'application/grpc', te: 'trailers' }
    let code = ''
    const onHeaders = (seen: IncomingHttpHeaders) => {
      code = String(seen['grpc-status'] ?? code)
    }
    const stream = session.request(headers, { signal }).on('response', onHeaders).on('trailers', onHeaders)
    const chunks: Buffer[] = []
    for await (const chunk of stream.end(Buffer.from([0, 0, 0, message.length >> 8, message.length & 255, ...message]))) chunks.push(chunk)
    if (code !== '0') throw new Error(`rpc error: code = ${code}`)
    const status = healthStatuses[Buffer.concat(chunks)[6] ?? 0] ?? 'UNKNOWN'
    return { passes: status === 'SERVING', output: `service unhealthy (responded with ${JSON.stringify(status)})` }
  } finally {
    session.destroy()
  }
}
