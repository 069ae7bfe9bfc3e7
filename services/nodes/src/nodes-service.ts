import type { NodesService, PodOnNode } from '@orch/core/contracts'
import { failed, notFound, type StatusError } from '@orch/core/meta'
import type { Clock } from '@orch/platform'
import { type LoggedPod, type PodLogOptions, streamLog } from './pod-log.ts'
import { Sessions } from './sessions.ts'

export interface NodesServiceOptions {
  readonly clock: Clock
  /** True if a node is simulated and runs. */
  hasNode(name: string): boolean
  /** The reader of one container of a Pod, as its log needs it. */
  openPod(pod: PodOnNode, container: string): Pick<PodLogOptions, 'onChange'> & { read(): LoggedPod }
  /** A name that no other session has. */
  newName(): string
}

/** The ways into the Pods of simulated nodes. */
export function createNodesService({ clock, hasNode, openPod, newName }: NodesServiceOptions): NodesService {
  const sessions = new Sessions({ newName })
  const requireNode = (node: string) => {
    if (!hasNode(node)) throw notFound({ group: '', resource: 'nodes' }, node)
  }
  const refuse = (what: string, pod: PodOnNode) =>
    sessions.open(() => {
      requireNode(pod.node)
      throw notSimulated(what)
    })
  return {
    logs(request) {
      const { read, onChange } = openPod(request.pod, request.container)
      const readOnNode = () => {
        requireNode(request.pod.node)
        return read()
      }
      return streamLog({ request, clock, onChange, read: readOnNode })
    },
    exec: ({ pod }) => refuse('exec', pod),
    attach: ({ pod }) => refuse('attach', pod),
    forward: ({ pod }) => refuse('port-forward', pod),
    input: (request) => sessions.input(request),
    async request({ node, path }) {
      requireNode(node)
      throw failed(404, 'NotFound', `${path} is not simulated`)
    },
  }
}

function notSimulated(what: string): StatusError {
  return failed(501, '', `${what} is not simulated`)
}
