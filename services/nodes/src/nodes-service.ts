import type { NodesService, PodOnNode } from '@orch/core/contracts'
import { failed, notFound, type StatusError } from '@orch/core/meta'
import type { PodLife } from '@orch/core/pod-life'
import { failedStream, Sessions } from './sessions.ts'

export interface NodesServiceOptions {
  /** True if a node is simulated and runs. */
  hasNode(name: string): boolean
  /** The life of a Pod that the node runs, or that has ended there. */
  findPod(pod: PodOnNode): PodLife | undefined
  /** A name that no other session has. */
  newName(): string
}

/** The ways into the Pods of simulated nodes. */
export function createNodesService({ hasNode, findPod, newName }: NodesServiceOptions): NodesService {
  const sessions = new Sessions({ newName })
  const requireNode = (node: string) => {
    if (!hasNode(node)) throw notFound({ group: '', resource: 'nodes' }, node)
  }
  const requirePod = (pod: PodOnNode): PodLife => {
    requireNode(pod.node)
    const life = findPod(pod)
    if (life === undefined) throw notFound({ group: '', resource: 'pods' }, pod.name)
    return life
  }
  const refuse = (what: string, pod: PodOnNode) =>
    sessions.open(() => {
      requirePod(pod)
      throw notSimulated(what)
    })
  return {
    logs({ pod }) {
      try {
        requirePod(pod)
        return failedStream(notSimulated('a log'))
      } catch (error) {
        return failedStream(error)
      }
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
