import { labelChange, noScheduleChange } from '@orch/core/node-lifecycle'
import type { Node } from '@orch/core/workloads'
import type { ControllerContext } from '../controller.ts'
import type { ReconcilerSpec } from '../reconciler/reconciler.ts'
import { own } from '../reconciler/watches.ts'
import { done } from '../reconciler/world.ts'
import { unlessGone } from '../unless-refused.ts'
import { changeTaints } from './node-writes.ts'

/** Maintains the NoSchedule taints of nodes by their conditions, and the old labels of os and arch by the new ones. */
export function nodeLabels({ names, clock, signal }: ControllerContext): ReconcilerSpec<Node> {
  const nodes = own<Node>('v1', 'nodes')
  return {
    watches: [nodes],
    queue: 'node_lifecycle_controller',
    workersMax: 8,
    reconcile: async ({ object: node, world }) => {
      const collection = world.collection(nodes)
      const change = noScheduleChange(names, node)
      if (change.added.length + change.removed.length > 0) await changeTaints(node, change, clock.now(), { nodes: collection, signal })
      const labels = labelChange(names, node.metadata)
      const { name = '' } = node.metadata
      if (labels !== undefined) await unlessGone(() => collection.patch(name, { metadata: { labels } }, { type: 'merge', signal }))
      return done
    },
  }
}
