import type { Node } from '@orch/core/workloads'
import { type Controller, loopsTogether } from '../controller.ts'
import { reconciler } from '../reconciler/reconciler.ts'
import type { ServedLevel } from '../workloads/replica-controllers.ts'
import { nodeLabels } from './node-labels.ts'
import { NodeMonitor, type NodeMonitorOptions } from './node-monitor.ts'

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
