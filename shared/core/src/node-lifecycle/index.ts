/** node-lifecycle */

export { type DisruptionOptions, disruptedConditions } from './disruption.ts'
export { evictedStatus, noExecuteTaints, planEviction, type Stay, shortestStay, stayBeside } from './eviction.ts'
export * from './health.ts'
export { NodeRanges, nodeRangeProblem } from './node-ranges.ts'
export { NodeTtl } from './node-ttl.ts'
export * from './pod-collection.ts'
export { TaintQueue } from './taint-queue.ts'
export { changedTaints, hasTaint, labelChange, noExecuteOf, noScheduleChange, type Taint, type TaintChange } from './taints.ts'
export * from './zones.ts'
