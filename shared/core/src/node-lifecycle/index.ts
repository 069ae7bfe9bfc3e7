/** node-lifecycle */

export { type DisruptionOptions, disruptedConditions } from './disruption.ts'
export { evictedStatus, noExecuteTaints, planEviction, type Stay, shortestStay, stayBeside } from './eviction.ts'
export {
  type HealthLook,
  type HealthOptions,
  type Lease,
  lookAtHealth,
  type NodeHealth,
  type ReadyStatus,
  renewedHealth,
  silentHealth,
} from './health.ts'
export { NodeRanges, nodeRangeProblem } from './node-ranges.ts'
export { NodeTtl } from './node-ttl.ts'
export {
  type CollectionOptions,
  collectPods,
  failedStatus,
  isOutOfService,
  type Quarantine,
  stepQuarantine,
} from './pod-collection.ts'
export { TaintQueue } from './taint-queue.ts'
export { changedTaints, hasTaint, labelChange, noExecuteOf, noScheduleChange, type Taint, type TaintChange } from './taints.ts'
export {
  evictionRate,
  isExcluded,
  stepZones,
  type ZoneNodes,
  type ZoneOptions,
  type ZoneState,
  type ZoneStates,
  type ZoneStep,
  zoneKeyOf,
  zoneState,
} from './zones.ts'
