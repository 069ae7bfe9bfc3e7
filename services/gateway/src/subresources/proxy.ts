import { badRequest, failed, internal, OutsideError, serviceUnavailable } from '@orch/core/meta'
import { requireType } from '@orch/core/schema'
import { connectToPod, isGlobalUnicast, isUnsimulated, onAbort } from '@orch/platform'
import { unreachedReason } from '@orch/platform/webhooks'
import { passAnswer } from '../aggregation/pass-answer.ts'
import { passUpgrade } from '../aggregation/pass-upgrade.ts'
import type { Response } from '../aggregation/send-behind.ts'
import { requireReachable } from '../kubelets/kubelet-place.ts'
import { type KubeletTarget, printAddress } from '../kubelets/kubelets.ts'
import { commonHeaders, type GatewayRequest, originOf, send } from '../request/index.ts'
import { portOf } from '../streams/port-tunnel.ts'
import type { Target } from '../target/target.ts'
import type { SubresourceVerb } from '../verbs/verb.ts'
import { type ConnectParts, type Pod, requireObject, simulatedPod, splitName } from './connect.ts'
import { admitConnection } from './connection-options.ts'
import { outgoingOf, requireKubelet, whileOpen } from './kubelet.ts'
import { requireEndpoint, type ServiceEndpoint } from './service-endpoint.ts'

/** A request that is forwarded to a Pod, a Service or a Node. */
export const proxy: SubresourceVerb<ConnectParts> = async (request, target, parts) => {
  await admitConnection(request, target, parts)
  const { reaches } = target.subresource
  const { scheme } = splitName(target.info.name)
  if (scheme !== '' && scheme !== 'http' && scheme !== 'https') {
    throw badRequest(
      `invalid ${reaches === 'node' ? 'node' : reaches === 'pod' ? 'pod' : 'service'} request ${JSON.stringify(target.info.name)}`,
    )
  }
  const object = await requireObject(request, target, parts)
  if (reaches === 'node') return proxyToNode(request, target, parts)
  if (reaches === 'endpoints') return passToPod(request, target, await requireEndpoint(request, target, object, parts), parts)
  return proxyToPod(request, target, requireType('core/v1.Pod', object), parts)
}

/** A simulated node answers by itself; for any other the request goes to its kubelet, or to the port in the name. */
async function proxyToNode(request: GatewayRequest, target: Target, parts: ConnectParts): Promise<void> {
  const { scheme, name, port } = splitName(target.info.name)
  if (await isAnsweredBySimulation(request, name, target, parts)) return
  const kubelet = await requireKubelet(request, { group: '', version: 'v1', plural: 'nodes', name }, parts)
  if (port === '' || port === String(kubelet.port)) return pass(request, target, { kind: 'kubelet', ...kubelet }, parts)
  const asked = requirePort(port, scheme, target)
  return pass(request, target, { kind: scheme === 'https' ? 'https' : 'http', host: kubelet.host, port: asked }, parts)
}

/** False if the node is not simulated. */
async function isAnsweredBySimulation(request: GatewayRequest, name: string, { info }: Target, { nodes }: ConnectParts): Promise<boolean> {
  if (nodes === undefined) return false
  try {
    const { status, contentType, body } = await nodes.request({ node: name, path: `/${info.rest.join('/')}` }, originOf(request))
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      throw failed(405, 'MethodNotAllowed', 'simulated nodes answer GET alone')
    }
    await send(request, status, commonHeaders(request, contentType), body)
    return true
  } catch (error) {
    if (isUnsimulated(error)) return false
    throw error
  }
}

/** The port of a Pod is the one in the name, or the first one. */
async function proxyToPod(request: GatewayRequest, target: Target, pod: Pod, parts: ConnectParts): Promise<void> {
  const { scheme, port: asked } = splitName(target.info.name)
  const first = pod.spec.containers?.find(({ ports = [] }) => ports.length > 0)?.ports?.[0]?.containerPort
  const port = asked === '' ? (first ?? (scheme === 'https' ? 443 : 80)) : requirePort(asked, scheme, target)
  return passToPod(request, target, { pod, address: pod.status.podIP ?? '', port }, parts)
}

/** A Pod is called at its address, a simulated one through its node. */
async function passToPod(
  request: GatewayRequest,
  target: Target,
  { pod, address, port }: ServiceEndpoint,
  parts: ConnectParts,
): Promise<void> {
  if (isGlobalUnicast(address) === undefined) throw badRequest('address not allowed')
  const place = { kind: splitName(target.info.name).scheme === 'https' ? 'https' : 'http', host: address, port } as const
  const simulated = await simulatedPod(pod, parts)
  if (simulated === undefined) {
    requireReachable(address, parts.kubelets.settings)
    return pass(request, target, place, parts)
  }
  const { nodes, pod: onNode } = simulated
  return pass(request, target, { ...place, open: () => connectToPod(nodes, { pod: onNode, port }, { context: originOf(request) }) }, parts)
}

function requirePort(text: string, scheme: string, { info }: Target): number {
  const port = portOf(text)
  if (port === undefined)
    throw badRequest(`invalid request ${JSON.stringify(info.name)}: ${JSON.stringify(text)} is no port (${scheme || 'http'})`)
  return port
}

async function pass(request: GatewayRequest, target: Target, place: KubeletTarget, parts: ConnectParts): Promise<void> {
  const path = passedPath(request, target)
  if (path === '' && (request.method === 'GET' || request.method === 'HEAD')) return addSlash(request)
  const { upgrade } = request.exchange
  const protocol = request.exchange.header('upgrade') ?? ''
  const outgoing = outgoingOf(request, place, {
    method: request.method,
    path: `${path}${queryOf(request)}`,
    upgrade: upgrade === undefined ? undefined : { protocol },
    hasBody: true,
  })
  return whileOpen(request, parts, async (signal) => {
    const answer = await parts.kubelets.send(outgoing, place, { signal }).catch((error: unknown) => {
      throw new OutsideError(serviceUnavailable(`error trying to reach service: ${unreachedReason(error)}`).status)
    })
    if (answer.kind === 'response')
      return passAnswer(request, relocated(answer.response, request, target, place), { ...parts, rejectsRedirects: false })
    const { socket } = answer
    onAbort(signal, () => void socket.destroy())
    if (upgrade !== undefined) return passUpgrade(request, upgrade, answer)
    socket.destroy()
    throw new OutsideError(internal('the server has changed the protocol without being asked to').status)
  })
}

/** The path after `proxy`; a trailing slash stays. */
function passedPath({ path }: GatewayRequest, { info }: Target): string {
  const { rest } = info
  if (rest.length === 0) return path.endsWith('/') ? '/' : ''
  return `/${rest.map(encodeURIComponent).join('/')}${path.endsWith('/') ? '/' : ''}`
}

function queryOf({ exchange: { target } }: GatewayRequest): string {
  const mark = target.indexOf('?')
  return mark < 0 ? '' : target.slice(mark)
}

/** Pages have links that are relative to their path. */
function addSlash(request: GatewayRequest): Promise<void> | void {
  const { 'content-type': _none, ...headers } = commonHeaders(request, '')
  return send(request, 301, { ...headers, location: `${pathOfTarget(request)}/${queryOf(request)}` }, '')
}

function pathOfTarget({ exchange: { target } }: GatewayRequest): string {
  const mark = target.indexOf('?')
  return mark < 0 ? target : target.slice(0, mark)
}

/** The answer with its Location below the path of the proxy, if it is on the same server. */
function relocated(response: Response, request: GatewayRequest, target: Target, { host, port }: KubeletTarget): Response {
  const [location] = response.headers['location'] ?? []
  if (location === undefined) return response
  const prefix = prefixOf(request, target)
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(location) ? URL.parse(location) : null
  const isSame = url?.host === printAddress(host, port) || url?.host === request.exchange.header('host')
  const path =
    location.startsWith('/') && !location.startsWith('//')
      ? location
      : url !== null && isSame
        ? `${url.pathname}${url.search}${url.hash}`
        : undefined
  if (path === undefined || path.startsWith(prefix)) return response
  return { ...response, headers: { ...response.headers, location: [`${prefix}${path}`] } }
}

/** The path of the proxy itself, as sent by the client. */
function prefixOf(request: GatewayRequest, { info }: Target): string {
  const segments = pathOfTarget(request).split('/')
  return segments.slice(0, segments.length - info.rest.length - (request.path.endsWith('/') ? 1 : 0)).join('/')
}
