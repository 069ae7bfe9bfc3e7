import { hostname } from 'node:os'
import type { Catalogue } from '@orch/core/catalogue'
import type { SchedulerProfiles } from '@orch/core/scheduling'
import type { Chance } from '@orch/platform'
import type { Controller } from '../controller.ts'
import { schedulerController } from '../scheduler/scheduler.ts'
import { attachDetachController } from '../workloads/attach-detach-controller.ts'
import { simulatedProvisioner } from '../workloads/simulated-provisioner.ts'
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

/** The dependencies of the controllers of nodes. */
interface OnNodes {
  /** Undefined without the controllers that watch Nodes, such as `nodelifecycle`. */
  readonly nodes: NodeControllersOptions | undefined
  readonly schedulers: SchedulerProfiles | undefined
}

/** All controllers of nodes, and the scheduler. */
export function nodeControllersOf(catalogue: Catalogue, chance: Chance, { nodes, schedulers: profiles }: OnNodes): Controller[] {
  return [
    attachDetachController(catalogue),
    simulatedProvisioner,
    schedulerController({ ...catalogue, host: hostname(), newUid: chance.stream('shares').uuid, profiles }),
    ...(nodes === undefined ? [] : controllersWatchingNodes(catalogue, nodes)),
  ]
}

function controllersWatchingNodes(catalogue: Catalogue, options: NodeControllersOptions): Controller[] {
  const { ranges } = options
  return [
    lifecycleController(catalogue, options),
    taintEvictionController(catalogue),
    ...(catalogue.level >= deviceEvictionSince && catalogue.isGateOn('DRADeviceTaints') ? [deviceTaintEvictionController(catalogue)] : []),
    podCollector(catalogue, options),
    nodeTtlController,
    ...(ranges === undefined ? [] : [nodeRangeController(ranges)]),
  ]
}
