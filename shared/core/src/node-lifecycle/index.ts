/** node-lifecycle */

export type { DisruptionOptions } from './disruption.ts'
export {
  type CollectedPods,
  type CollectionOptions,
  collectPods,
  failedStatus,
  isOutOfService,
  type Quarantine,
  stepQuarantine,
} from './pod-collection.ts'
