/** Traces by the OpenTelemetry SDK, loaded only if traces are enabled. */
export * from './open-telemetry.ts'
