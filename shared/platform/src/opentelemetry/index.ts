/** Traces by the OpenTelemetry SDK. Loaded only where they are switched on. */
export * from './open-telemetry.ts'
