/** catalogue */

export type { ScalePaths } from '../structural/scale.ts'
export { BuiltInReaders } from './built-in-readers.ts'
export * from './catalogue.ts'
export { processorsLast } from './conversion/autoscaler.ts'
export * from './conversion/convert.ts'
export * from './defaults/service-type.ts'
export { templateGenerationAnnotation } from './defaults/workloads.ts'
export type {
  ComparisonTimer,
  KindReaders,
  OpenApiType,
  Preparable,
  ProtobufReaders,
  RuleTimer,
  ValidationCandidate,
} from './kind-readers.ts'
export type { Behaviour, KindTable } from './kinds/define-resource.ts'
export * from './runtime-config.ts'
export { hasHealthPort } from './validation/health-port.ts'
export { ipFamilyOf } from './validation/ip-address.ts'
export { jobNameLabel, jobTrackingAnnotation, jobUidLabel } from './validation/job.ts'
export { isSame } from './validation/part.ts'
