/** Calls of the webhooks that convert custom objects between versions. */
export { createConversionMetrics } from './conversion-metrics.ts'
export * from './converter.ts'
