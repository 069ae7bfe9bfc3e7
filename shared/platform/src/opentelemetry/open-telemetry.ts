import { type Context, type ContextManager, DiagLogLevel, diag, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { NodeSDK } from '@opentelemetry/sdk-node'
import type { Clock } from '../clock.ts'
import { sleep } from '../clock.ts'
import type { Log } from '../log.ts'
import { createTracer } from './tracer.ts'

/** The service of the spans. */
export interface OpenTelemetryOptions {
  /** The service name in spans. Default: from the environment. */
  readonly serviceName: string | undefined
  readonly version: string
  readonly clock: Clock
  /** Receives the SDK's messages, such as an unreachable collector. */
  readonly log: Log
}

/** Maximum time that a process waits for a collector before it ends. */
const flushMsMax = 3_000

/**
 * Starts the SDK for traces, configured by the environment's `OTEL_*` variables. There is one per process. Metrics and logs do not
 * use the SDK, and there is no automatic instrumentation: every span is created explicitly.
 */
export function openTelemetry({ serviceName, version, clock, log }: OpenTelemetryOptions) {
  const sdk = new NodeSDK({
    ...(serviceName === undefined ? {} : { serviceName }),
    instrumentations: [],
    metricReaders: [],
    logRecordProcessors: [],
    contextManager: noContexts,
    textMapPropagator: null,
  })
  diag.setLogger(toDiagnostics(log), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
  sdk.start()
  return {
    tracer: createTracer(trace.getTracer('orch', version)),
    /** Sends the pending spans, or drops them after a moment. */
    async close() {
      const enough = new AbortController()
      const failed = (error: unknown) => log.warn({ err: error }, 'the last spans were not sent')
      await Promise.race([sdk.shutdown().catch(failed), sleep(clock, flushMsMax, enough.signal)])
      enough.abort()
      trace.disable()
      diag.disable()
    },
  }
}

/** A context manager that stores nothing, since contexts are passed explicitly. */
const noContexts: ContextManager = {
  active: (): Context => ROOT_CONTEXT,
  with: (_context, call, self, ...parameters) => call.call(self as ThisParameterType<typeof call>, ...parameters),
  bind: (_context, target) => target,
  enable() {
    return this
  },
  disable() {
    return this
  },
}

function toDiagnostics(log: Log) {
  const write =
    (level: 'error' | 'warn' | 'debug') =>
    (message: string, ...more: unknown[]) =>
      log[level](more.length === 0 ? {} : { more }, `tracing: ${message}`)
  return { error: write('error'), warn: write('warn'), info: write('debug'), debug: write('debug'), verbose: write('debug') }
}
