import { objectKey } from '@orch/core/contracts'
import { failed, internal, notFound, OutsideError } from '@orch/core/meta'
import { isSimulatedNode } from '@orch/core/pod-life'
import { requireType } from '@orch/core/schema'
import { unreachedReason } from '@orch/platform/webhooks'
import { passedHeaders } from '../aggregation/passed-headers.ts'
import type { Outgoing, Response } from '../aggregation/send-behind.ts'
import { type KubeletPlace, kubeletPlace } from '../kubelets/kubelet-place.ts'
import { type KubeletTarget, printAddress } from '../kubelets/kubelets.ts'
import { limits } from '../limits.ts'
import type { GatewayRequest } from '../request/request.ts'
import type { Host } from '../strategies/kind-rules.ts'
import { type ConnectParts, type Pod, readLatest } from './connect.ts'

/** The kubelet of a node. Throws for an absent Node, one without a usable address, and a simulated one that is not running. */
export async function requireKubelet(request: GatewayRequest, host: Host, parts: ConnectParts): Promise<KubeletPlace> {
  const { group, version, plural, name } = host
  const served = parts.served.find(group, version, plural)
  if (served === undefined) throw switchedOff(name)
  const live = await readLatest(objectKey(served.resource.stored.prefix, undefined, name), served, request, parts)
  if (live === undefined) throw notFound(served.name, name)
  const node = requireType('core/v1.Node', live.object)
  if (isSimulatedNode(node)) throw switchedOff(name)
  return kubeletPlace(node, parts.kubelets.settings)
}

function switchedOff(name: string): OutsideError {
  return new OutsideError(internal(`node ${JSON.stringify(name)} cannot be reached: it is simulated, and no process runs it`).status)
}

/** The error of a connection, in the form of kube-apiserver: a Status with only a message. */
export function unreached(prefix: string, error: unknown): OutsideError {
  return new OutsideError(failed(500, '', `${prefix}${unreachedReason(error)}`).status)
}

/** The namespace and the name of a Pod in a kubelet path. */
export function pathOfPod({ metadata: { namespace = '', name = '' } }: Pod): string {
  return `${namespace}/${name}`
}

/** A query, '' if it has no parameter. */
export function printQuery(parameters: readonly (readonly string[])[]): string {
  const text = parameters.map(([name = '', value = '']) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&')
  return text === '' ? '' : `?${text}`
}

/** A request to a kubelet or a Pod. */
export interface Asked {
  readonly method: string
  /** Path with query. */
  readonly path: string
  /** The requested protocol of an upgrade; undefined for none. */
  readonly upgrade?: { readonly protocol: string; readonly spoken?: string } | undefined
  /** True if the body of the client's request is forwarded too. */
  readonly hasBody?: boolean
}

/** The forwarded request: with the client's headers, but without the user. */
export function outgoingOf(request: GatewayRequest, { host, port }: Pick<KubeletTarget, 'host' | 'port'>, asked: Asked): Outgoing {
  const { exchange, auditId, trace } = request
  const { method, path, upgrade, hasBody = false } = asked
  const headers = passedHeaders(exchange, { auditId, traceparent: trace?.span?.traceparent })
  if (upgrade !== undefined) {
    headers['connection'] = 'Upgrade'
    headers['upgrade'] = upgrade.protocol
    if (upgrade.spoken !== undefined) {
      for (const name of Object.keys(headers)) if (name.startsWith('sec-websocket-')) delete headers[name]
      headers['x-stream-protocol-version'] = upgrade.spoken
    }
  }
  return {
    method,
    path,
    authority: printAddress(host, port),
    headers,
    bodyBytes: hasBody ? exchange.announcedBytes : 0,
    body: () => exchange.bodyStream(),
    upgrades: upgrade !== undefined,
  }
}

/** The text of a refusal, up to a limit. */
export async function readRefusal(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let room = limits.kubeletRefusalBytesMax
  for await (const chunk of response.body) {
    chunks.push(chunk.subarray(0, room))
    room -= chunk.length
    if (room <= 0) break
  }
  response.destroy()
  return Buffer.concat(chunks).toString()
}

/** Runs work until it ends by itself, its client disconnects, or the server stops. */
export async function whileOpen<T>(
  request: GatewayRequest,
  { state }: Pick<ConnectParts, 'state'>,
  body: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController()
  const end = () => ending.abort()
  const open = { request, finish: end, compare() {} }
  request.leave()
  state.watches.add(open)
  request.exchange.onClose(end)
  try {
    return await body(ending.signal)
  } finally {
    state.watches.delete(open)
    end()
  }
}
