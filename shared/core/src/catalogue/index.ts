/** The catalogue of built-in kinds. */

export { type Behaviour, writersMetadata } from '../kind/define-resource.ts'
export type {
  ComparisonTimer,
  KindReaders,
  OpenApiType,
  Preparable,
  ProtobufReaders,
  RuleTimer,
  ValidationCandidate,
} from '../kind/kind-readers.ts'
export type * from '../kind/resource.ts'
export type { KindTable } from '../table/kind-table.ts'
export * from './app-armor.ts'
export { BuiltInReaders } from './built-in-readers.ts'
export * from './catalogue.ts'
export { processorsLast } from './conversion/autoscaler.ts'
export * from './conversion/convert.ts'
export { countingOf, resourceCountedBy } from './countings.ts'
export * from './defaults/pod-amounts.ts'
export * from './defaults/service-type.ts'
export { hasHealthPort } from './defaults/service-type.ts'
export { templateGenerationAnnotation } from './defaults/workloads.ts'
export * from './runtime-config.ts'
export { jobLabels, jobTrackingAnnotation } from './validation/job.ts'
