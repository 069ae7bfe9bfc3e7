import { type NodesService, objectKey, type PodOnNode } from '@orch/core/contracts'
import { type ApiObject, badRequest, failed, internal, notFound, OutsideError, StatusError, serviceUnavailable } from '@orch/core/meta'
import { type BuiltIn, requireType } from '@orch/core/schema'
import { callContext, type GatewayRequest, originOf } from '../request/request.ts'
import { commonHeaders, send } from '../request/respond.ts'
import type { Host } from '../strategies/kind-rules.ts'
import type { Served, ServedResources, Target } from '../target/target.ts'
import type { SubresourceVerb } from '../verbs/verb.ts'
import type { AdmitBodyParts } from '../write/admit-body.ts'
import { type Live, type LiveParts, readLive } from '../write/live.ts'
import { admitConnection } from './connection-options.ts'

/** The dependencies of a connection to a Pod, a Node or a Service. */
export type ConnectParts = LiveParts &
  AdmitBodyParts & {
    readonly served: Pick<ServedResources, 'find'>
    /** Absent: no node can be reached. */
    readonly nodes: NodesService | undefined
  }

export type Pod = BuiltIn<'core/v1.Pod'>

/** The node of a Pod; undefined: it has none. */
export function hostOf({ served }: Target, pod: Pod): Host | undefined {
  return served.strategy.rules.hostOf?.(pod)
}

/** A request that is passed on to a pod, a service or a node. */
export const proxy: SubresourceVerb<ConnectParts> = async (request, target, parts) => {
  await admitConnection(request, target, parts)
  const object = await requireObject(request, target, parts)
  const name = object.metadata.name ?? ''
  const { reaches } = target.subresource
  if (reaches === 'node') return askNode(request, { name, path: target.info.rest }, parts)
  if (reaches === 'endpoints') throw outside(serviceUnavailable(`no endpoints available for service ${JSON.stringify(name)}`))
  const { podIP = '' } = requireType('core/v1.Pod', object).status
  if (podIP === '') throw badRequest('address not allowed')
  throw outside(failed(502, '', `error trying to reach the pod at ${podIP}: this server has no connection to the pods' network`))
}

/** The answer of a simulated node. */
async function askNode(
  request: GatewayRequest,
  { name, path }: { readonly name: string; readonly path: readonly string[] },
  { nodes }: ConnectParts,
): Promise<void> {
  if (nodes === undefined) throw notConnected(name)
  if (request.method !== 'GET' && request.method !== 'HEAD') throw failed(405, 'MethodNotAllowed', 'simulated nodes answer GET alone')
  try {
    const { status, contentType, body } = await nodes.request({ node: name, path: `/${path.join('/')}` }, originOf(request))
    return send(request, status, commonHeaders(request, contentType), body)
  } catch (error) {
    throw isOfNode(error) ? notConnected(name) : error
  }
}

/** A name may say a scheme and a port beside the object: `https:web:8443`. */
export async function requireObject(request: GatewayRequest, target: Target, parts: ConnectParts): Promise<ApiObject> {
  const { served, info } = target
  const pieces = info.name.split(':')
  const name = (pieces.length === 3 ? pieces[1] : pieces[0]) ?? ''
  const live = await readLatest(`${target.keyPrefix}${name}`, served, request, parts)
  if (live === undefined) throw notFound(served.name, name)
  return live.object
}

function readLatest(key: string, served: Served, request: GatewayRequest, parts: ConnectParts): Promise<Live | undefined> {
  return readLive(key, served, parts, { read: { kind: 'latest' }, ...callContext(request, parts) })
}

/** The name of the container. With several containers the request must say which. */
export function requireContainer({ metadata, spec }: Pod, { query }: GatewayRequest): string {
  const { initContainers = [], ephemeralContainers = [] } = spec
  const containers = spec.containers ?? []
  const names = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name)
  const asked = query.get('container') ?? ''
  if (asked !== '') {
    if (names([...containers, ...initContainers, ...ephemeralContainers]).includes(asked)) return asked
    throw badRequest(`container ${asked} is not valid for pod ${metadata.name}`)
  }
  const [only] = containers
  if (only !== undefined && containers.length === 1) return only.name
  const all = names([...initContainers, ...containers, ...ephemeralContainers]).join(' ')
  throw badRequest(`a container name must be specified for pod ${metadata.name}, choose one of: [${all}]`)
}

/** The error of a node that cannot be reached: it is not there, or this server has no way to it. */
export async function unreachable(request: GatewayRequest, { group, version, plural, name }: Host, parts: ConnectParts): Promise<Error> {
  const served = parts.served.find(group, version, plural)
  if (served === undefined) return notConnected(name)
  const host = await readLatest(objectKey(served.resource.stored.prefix, undefined, name), served, request, parts)
  return host === undefined ? notFound(served.name, name) : notConnected(name)
}

function notConnected(nodeName: string): Error {
  return outside(internal(`node ${JSON.stringify(nodeName)} cannot be reached: this server has no connection to nodes`))
}

function outside({ status }: StatusError): OutsideError {
  return new OutsideError(status)
}

/** A Pod as its node is asked for it. */
export function podOnNode({ metadata: { name = '', namespace = '', uid = '' }, spec }: Pod): PodOnNode {
  return { node: spec.nodeName ?? '', namespace, name, uid }
}

/** True if the node itself is not reached. */
export function isOfNode(error: unknown): boolean {
  return error instanceof StatusError && error.reason === 'NotFound' && error.status.details?.kind === 'nodes'
}
