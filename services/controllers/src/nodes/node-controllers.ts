import type { Controller } from '../controller.ts'
import type { ServedLevel } from '../workloads/replica-controllers.ts'
import { deviceTaintEvictionController } from './device-taint-eviction-controller.ts'
import { type LifecycleOptions, lifecycleController } from './lifecycle-controller.ts'
import { type NodeRangeOptions, nodeRangeController } from './node-range-controller.ts'
import { nodeTtlController } from './node-ttl-controller.ts'
import { type PodCollectorOptions, podCollector } from './pod-collector.ts'
import { taintEvictionController } from './taint-eviction-controller.ts'

/** The intervals and thresholds of the node controllers. */
export interface NodeControllersOptions extends PodCollectorOptions, LifecycleOptions {
  /** Without it nodes get no address ranges. */
  readonly ranges?: NodeRangeOptions | undefined
}

/** First level with a role for the eviction of Pods by taints of devices. */
const deviceEvictionSince = 36

/** All controllers of nodes. */
export function nodeControllersOf(served: ServedLevel, options: NodeControllersOptions): Controller[] {
  const { ranges } = options
  return [
    lifecycleController(served, options),
    taintEvictionController(served),
    ...(served.level >= deviceEvictionSince && served.isGateOn('DRADeviceTaints') ? [deviceTaintEvictionController(served)] : []),
    podCollector(served, options),
    nodeTtlController,
    ...(ranges === undefined ? [] : [nodeRangeController(ranges)]),
  ]
}
