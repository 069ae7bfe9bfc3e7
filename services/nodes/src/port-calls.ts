import { once } from 'node:events'
import { type IncomingMessage, type OutgoingHttpHeaders, request as requestHttp } from 'node:http'
import { connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2'
import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import { getOrMake } from '@orch/core/memo'
import { printDuration } from '@orch/core/meta'
import { type AskedKind, type PodContainer, resolvePort } from '@orch/core/pod-life'
import { type Clock, messageOf, systemClock } from '@orch/platform'

/** The result of a call of a probe or a hook. */
export interface Finding {
  readonly passes: boolean
  /** The reason of a failure, or a warning about a call that passes. */
  readonly output: string
}

/** A probe or a hook. */
export type ContainerAction = Pick<NonNullable<PodContainer['livenessProbe']>, 'exec' | 'httpGet' | 'tcpSocket' | 'grpc' | 'timeoutSeconds'>

/** The ports of a Pod. */
export interface PortAccess {
  readonly address: string
  readonly clock: Pick<Clock, 'after' | 'isVirtual'>
  readonly level: number
  connect(port: number): Duplex
}

interface PortCall {
  /** The current request, for errors. */
  what: string
  readonly host: string
  readonly agent: string
  readonly signal: AbortSignal
  /** Connects to the port of the call, or to another one. */
  connect(port?: number): Duplex
}

/** Maximum wait for an answer to a hook, and to a probe in real time while a clock of a test stands still. */
const answerSecondsMax = 10
const bodyBytesMax = 10 * 1024
const requestsMax = 10
/** Statuses whose location is followed. */
const redirects = new Set([301, 302, 303, 307, 308])
/** Headers of a body, which a probe has not. */
const ignored = new Set(['content-length', 'transfer-encoding', 'trailer'])
/** Headers that an empty value removes. */
const removable = new Set(['accept', 'user-agent'])

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

/** Calls a port, as a kubelet does for a probe or a hook. Hooks have no timeout of their own. */
export async function callPort(action: ContainerAction, { ports }: PodContainer, access: PortAccess): Promise<Finding> {
  const { address, clock, level, connect } = access
  const { httpGet, grpc, timeoutSeconds } = action
  const port = portOf(action, ports) ?? 0
  const host = `${address.includes(':') ? `[${address}]` : address}:${port}`
  const late = new AbortController()
  const [waiting, seconds] = clock.isVirtual ? [systemClock, answerSecondsMax] : [clock, timeoutSeconds ?? answerSecondsMax]
  const timer = waiting.after(seconds * 1000, () => late.abort())
  const agent = `kube-${timeoutSeconds == null ? 'lifecycle' : 'probe'}/1.${level}`
  const call: PortCall = { what: `dial tcp ${host}`, host, agent, signal: late.signal, connect: (other = port) => connect(other) }
  try {
    const { passes, output } = await (httpGet != null
      ? callHttp(httpGet, call)
      : grpc != null
        ? callHealth(grpc.service ?? '', call)
        : callTcp(call))
    return { passes: passes || timeoutSeconds == null, output }
  } catch (error) {
    if (!late.signal.aborted) return { passes: false, output: `${call.what}: ${messageOf(error)}` }
    const why = `${call.what}: context deadline exceeded (Client.Timeout exceeded while awaiting headers)`
    const health = `timeout: health rpc did not complete within ${printDuration(BigInt(seconds * 1e9))}`
    return { passes: false, output: grpc == null ? why : health }
  } finally {
    timer.cancel()
  }
}

async function callTcp({ signal, connect }: PortCall): Promise<Finding> {
  const socket = connect()
  try {
    await once(socket, 'connect', { signal })
    return { passes: true, output: '' }
  } finally {
    socket.destroy()
  }
}

type HttpGet = NonNullable<ContainerAction['httpGet']>

/** Follows redirects of the same host. An answer that leads elsewhere passes with a warning. */
async function callHttp(httpGet: HttpGet, call: PortCall): Promise<Finding> {
  const { host: ownHost, ...headers } = headersOf(httpGet, call)
  const path = (httpGet.path || '/').replace(/#.*/, '').replace(/[^!-~]+/g, encodeURIComponent)
  let host = [ownHost ?? call.host].flat()[0]
  let url = `${(httpGet.scheme ?? 'HTTP').toLowerCase()}://${call.host}${path.startsWith('/') ? '' : '/'}${path}`
  for (let requests = 1; ; requests++) {
    call.what = `Get ${JSON.stringify(url)}`
    const response = await get(url, { ...headers, host }, call)
    const { statusCode: status = 0, headers: found } = response
    const next = redirects.has(status) && found.location !== undefined ? new URL(found.location, url) : undefined
    if (next === undefined || next.hostname !== new URL(url).hostname) {
      const body = await startOf(response)
      if (status >= 300 && status < 400) return { passes: true, output: `Probe terminated redirects, Response body: ${body}` }
      const passes = status >= 200 && status < 300
      return { passes, output: passes ? '' : `HTTP probe failed with statuscode: ${status}` }
    }
    response.destroy()
    if (requests === requestsMax) throw new Error(`stopped after ${requestsMax} redirects`)
    if (URL.canParse(found.location ?? '')) host = next.host
    url = next.href
  }
}

function headersOf({ httpHeaders }: HttpGet, { agent }: PortCall): Record<string, string | string[]> {
  const given = new Map<string, string[]>()
  for (const { name, value } of httpHeaders ?? []) getOrMake(given, name.toLowerCase(), (): string[] => []).push(value)
  const headers = { accept: '*/*', 'user-agent': agent, connection: 'close', ...Object.fromEntries(given) }
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name, [first]]) => first !== '' || !removable.has(name))
      .filter(([name]) => !ignored.has(name)),
  )
}

async function get(url: string, headers: OutgoingHttpHeaders, { signal, connect }: PortCall): Promise<IncomingMessage> {
  const { protocol, port, pathname, search } = new URL(url)
  if (protocol !== 'http:' && protocol !== 'https:') throw new Error(`unsupported protocol scheme ${JSON.stringify(protocol.slice(0, -1))}`)
  const isSecure = protocol === 'https:'
  const socket = connect(Number(port) || (isSecure ? 443 : 80))
  const createConnection = () => (isSecure ? connectTls({ socket, rejectUnauthorized: false }) : socket)
  const request = requestHttp({ path: `${pathname}${search}`, headers, signal, createConnection })
    .on('error', () => {})
    .end()
  const [response] = await once(request, 'response')
  return response
}

async function startOf(response: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response) {
    chunks.push(chunk)
    length += chunk.length
    if (length >= bodyBytesMax) break
  }
  return Buffer.concat(chunks).subarray(0, bodyBytesMax).toString()
}

/** Statuses of grpc.health.v1, by their numbers. */
const healthStatuses = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN']

async function callHealth(service: string, call: PortCall): Promise<Finding> {
  const { host, signal, connect } = call
  call.what = 'error: health rpc probe failed'
  const name = Buffer.from(service)
  const message = name.length === 0 ? name : Buffer.from([10, (name.length & 127) | 128, name.length >> 7, ...name])
  const session = connectHttp2(`http://${host}`, { createConnection: () => connect() }).on('error', () => {})
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
