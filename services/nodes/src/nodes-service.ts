import type { AttachRequest, ForwardRequest, NodesService, PodOnNode } from '@orch/core/contracts'
import { failed, notFound } from '@orch/core/meta'
import { nodeDocument } from '@orch/core/pod-life'
import type { Clock } from '@orch/platform'
import type { ContainerSessions, PodOfNode } from './container-sessions.ts'
import type { Measurements } from './measurements.ts'
import { type LoggedPod, type PodLogOptions, streamLog } from './pod-log.ts'
import { addressesOf } from './pods-of-nodes.ts'
import { Sessions } from './sessions.ts'

export interface NodesServiceOptions {
  readonly clock: Clock
  /** True if a node is simulated and running. */
  hasNode(name: string): boolean
  openPod(pod: PodOnNode, container: string): Pick<PodLogOptions, 'onChange'> & { read(): LoggedPod }
  readonly measurements: Measurements
  /** Undefined if the node has no such Pod. */
  findPod(pod: PodOnNode): PodOfNode | undefined
  /** The running Pod at an address; on the network of a node a Pod with this port. Undefined for none. */
  placeAt(address: string, port: number): PodOnNode | undefined
  readonly containers: ContainerSessions
  newName(): string
}

/** The connections to Pods of simulated nodes. */
export function createNodesService(options: NodesServiceOptions): NodesService {
  const { clock, hasNode, openPod, findPod, placeAt, measurements, containers, newName } = options
  const sessions = new Sessions({ newName })
  const requireNode = (node: string) => {
    if (!hasNode(node)) throw notFound({ group: '', resource: 'nodes' }, node)
  }
  const requirePod = (pod: PodOnNode): PodOfNode => {
    requireNode(pod.node)
    const found = findPod(pod)
    if (found === undefined) throw notFound({ group: '', resource: 'pods' }, pod.name)
    return found
  }
  const requirePodAt = ({ port, address, pod = placeAt(address ?? '', port) }: ForwardRequest): PodOfNode => {
    const found = pod && requirePod(pod)
    const isThere = found !== undefined && (address === undefined || addressesOf(found.pod).includes(address))
    if (!isThere) throw notFound({ group: '', resource: 'nodes' }, address ?? '')
    return found
  }
  const logs: NodesService['logs'] = (request) => {
    const { read, onChange } = openPod(request.pod, request.container)
    const readOnNode = () => {
      requireNode(request.pod.node)
      return read()
    }
    return streamLog({ request, clock, onChange, read: readOnNode })
  }
  const outputOf = ({ pod, container }: AttachRequest) =>
    logs({ pod, container, follow: true, previous: false, timestamps: false, tailLines: 0, stream: 'All' })
  return {
    logs,
    exec: (request) => sessions.open(() => containers.exec(requirePod(request.pod), request)),
    attach: (request) => sessions.open(() => containers.attach(requirePod(request.pod), request, () => outputOf(request))),
    forward: ({ pod, port, address }) => sessions.open(() => containers.forward(requirePodAt({ pod, port, address }), port)),
    input: (request) => sessions.input(request),
    metrics: (request) => measurements.metrics(request),
    async request({ node, path }) {
      requireNode(node)
      const asked = measurements.look(node)
      if (asked === undefined) throw notFound({ group: '', resource: 'nodes' }, node)
      const document = nodeDocument(path.split('?', 1)[0] ?? '', asked)
      if (document === undefined) throw failed(404, 'NotFound', `simulated nodes do not answer ${path}`)
      return { status: 200, contentType: document.contentType, body: Buffer.from(document.text) }
    },
  }
}
