/** Calls of the webhooks that convert custom objects between versions. */
export { type ConversionMetrics, conversionMetricsOf } from './conversion-metrics.ts'
export * from './converter.ts'
