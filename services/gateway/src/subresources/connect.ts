import type { NodesService, PodOnNode } from '@orch/core/contracts'
import { type ApiObject, badRequest, notFound } from '@orch/core/meta'
import type { BuiltIn } from '@orch/core/schema'
import { isUnsimulated } from '@orch/platform'
import type { SliceNeeds } from '@orch/platform/webhooks'
import type { Kubelets } from '../kubelets/kubelets.ts'
import { callContext, type Draws, type GatewayRequest } from '../request/index.ts'
import type { GatewayState } from '../server/state.ts'
import type { Host } from '../strategies/kind-rules.ts'
import type { Served, ServedResources, Target } from '../target/target.ts'
import type { AdmitBodyParts } from '../write/admit-body.ts'
import { type Live, type LiveParts, readLive } from '../write/live.ts'

/** The dependencies of a connection to a Pod, a Node or a Service. */
export type ConnectParts = LiveParts &
  AdmitBodyParts &
  SliceNeeds & {
    readonly served: Pick<ServedResources, 'find'>
    /** The connections to simulated nodes; undefined for none. */
    readonly nodes: NodesService | undefined
    readonly kubelets: Kubelets
    readonly state: Pick<GatewayState, 'watches'>
    readonly draws: Pick<Draws, 'endpoint'>
  }

export type Pod = BuiltIn<'core/v1.Pod'>

/** The node of a Pod; undefined for an unscheduled one. */
export function hostOf({ served }: Target, pod: Pod): Host | undefined {
  return served.strategy.rules.hostOf?.(pod)
}

/** A name may include a scheme and a port: `https:web:8443`. */
export async function requireObject(request: GatewayRequest, target: Target, parts: ConnectParts): Promise<ApiObject> {
  const { served, info } = target
  const { name } = splitName(info.name)
  const live = await readLatest(`${target.keyPrefix}${name}`, served, request, parts)
  if (live === undefined) throw notFound(served.name, name)
  return live.object
}

/** The parts of `scheme:name:port`, of which only the name is required. */
export function splitName(text: string): { readonly scheme: string; readonly name: string; readonly port: string } {
  const pieces = text.split(':')
  const [scheme = '', name = '', port = ''] = pieces.length === 3 ? pieces : ['', ...pieces]
  return { scheme, name, port }
}

export function readLatest(key: string, served: Served, request: GatewayRequest, parts: ConnectParts): Promise<Live | undefined> {
  return readLive(key, served, parts, { read: { kind: 'latest' }, ...callContext(request, parts) })
}

/** The name of the container, which is required for several containers. */
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

/** A Pod in a request to its node. */
export function podOnNode({ metadata: { name = '', namespace = '', uid = '' }, spec }: Pod): PodOnNode {
  return { node: spec.nodeName ?? '', namespace, name, uid }
}

/** A running Pod of a simulated node, and the connection to it. */
export interface SimulatedPod {
  readonly nodes: NodesService
  readonly pod: PodOnNode
}

/** Undefined if the node of the Pod is not simulated. */
export async function simulatedPod(pod: Pod, { nodes }: ConnectParts): Promise<SimulatedPod | undefined> {
  if (nodes === undefined) return undefined
  const place = podOnNode(pod)
  try {
    await nodes.request({ node: place.node, path: '/healthz' })
  } catch (error) {
    if (isUnsimulated(error)) return undefined
  }
  return { nodes, pod: place }
}
