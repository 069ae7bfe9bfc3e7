import { unlessGone } from '@orch/client'
import { labelChange, noScheduleChange } from '@orch/core/node-lifecycle'
import type { Node } from '@orch/core/workloads'
import { type Controller, type ControllerContext, loopsTogether } from '../controller.ts'
import { done, own, type ReconcilerSpec, reconciler } from '../reconciler/index.ts'
import type { ServedLevel } from '../workloads/replica-controllers.ts'
import { NodeMonitor, type NodeMonitorOptions } from './node-monitor.ts'
import { changeTaints } from './node-writes.ts'

export interface LifecycleOptions extends Omit<NodeMonitorOptions, 'graceMs' | 'checksLeases'> {
  /** Maximum silence of a node; the level's default if undefined. */
  readonly graceMs: number | undefined
}

/** First level with a longer silence. */
const longGraceSince = 32

/** Watches the health of nodes: conditions, taints, and the readiness of their Pods. */
export function lifecycleController({ level, isGateOn }: ServedLevel, options: LifecycleOptions): Controller {
  const monitored = {
    ...options,
    graceMs: options.graceMs ?? (level < longGraceSince ? 40_000 : 50_000),
    checksLeases: isGateOn('NodeControllerLeaseCircuitBreaker'),
  }
  return loopsTogether(
    reconciler<Node>('nodelifecycle', nodeLabels),
    reconciler<undefined>('nodelifecycle', (context, loop) => new NodeMonitor(monitored, context, loop).spec),
  )
}

/** Maintains the NoSchedule taints of nodes by their conditions, and the old labels of os and arch by the new ones. */
function nodeLabels({ names, clock, signal }: ControllerContext): ReconcilerSpec<Node> {
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
