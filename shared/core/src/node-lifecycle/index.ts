/** node-lifecycle */

export type { DisruptionOptions } from './disruption.ts'
export { evictedStatus, noExecuteTaints, planEviction, type Stay, shortestStay, stayBeside, type Taint } from './eviction.ts'
export {
  type CollectedPods,
  type CollectionOptions,
  collectPods,
  failedStatus,
  isOutOfService,
  type Quarantine,
  stepQuarantine,
} from './pod-collection.ts'
