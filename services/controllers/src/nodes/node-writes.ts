import { type ResourceClient, unlessGone } from '@orch/client'
import { printTime, StatusError, toInstant } from '@orch/core/meta'
import { changedTaints, type TaintChange } from '@orch/core/node-lifecycle'
import type { Node } from '@orch/core/workloads'

/** Maximum number of attempts of a write that loses races. */
const attemptsMax = 5

interface NodeWrite {
  readonly nodes: ResourceClient<Node>
  readonly signal: AbortSignal
}

/**
 * Writes a node with retries after conflicts. `write` returns undefined if nothing is to be written. Resolves with false if the node is gone or has
 * changed at each attempt.
 */
export async function writeNode(
  node: Node,
  { nodes, signal }: NodeWrite,
  write: (node: Node) => Promise<unknown> | undefined,
): Promise<boolean> {
  let current = node
  for (let attempt = 1; ; attempt++) {
    try {
      await write(current)
      return true
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      if (error.reason === 'NotFound' || (error.reason === 'Conflict' && attempt === attemptsMax)) return false
      if (error.reason !== 'Conflict') throw error
    }
    const found = await unlessGone(() => nodes.get(node.metadata.name ?? '', { signal }))
    if (found === undefined) return false
    current = found
  }
}

/** Changes the taints of a node in one write. Resolves with false if the node is gone or has changed at each attempt. */
export function changeTaints(node: Node, change: TaintChange, nowMs: number, parts: NodeWrite): Promise<boolean> {
  return writeNode(node, parts, ({ metadata: { name = '', resourceVersion }, spec }) => {
    const taints = changedTaints(spec.taints ?? [], change, printTime(toInstant(nowMs)))
    const patch = { metadata: { resourceVersion }, spec: { taints } }
    return taints && parts.nodes.patch(name, patch, { type: 'merge', signal: parts.signal })
  })
}
