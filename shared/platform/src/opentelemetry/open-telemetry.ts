import {
  type Context,
  type ContextManager,
  DiagLogLevel,
  diag,
  type Link,
  ROOT_CONTEXT,
  type Tracer as SdkTracer,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import { NodeSDK } from '@opentelemetry/sdk-node'
import { type Clock, sleep } from '../clock.ts'
import { messageOf } from '../error-message.ts'
import type { Log } from '../log.ts'
import { parseTraceparent, printTraceparent, type Span, type Tracer } from '../telemetry.ts'

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

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const

/** A tracer on the SDK. Contexts are passed explicitly; nothing is looked up in the call stack. */
function createTracer(sdk: SdkTracer): Tracer {
  return {
    start(name, { kind, parent, links = [], attributes = {} }) {
      const context = contextOf(parent)
      const span = sdk.startSpan(name, { kind: kinds[kind], attributes, links: links.flatMap(linkTo) }, context)
      return span.isRecording() ? toSpan(span) : undefined
    },
  }
}

function contextOf(parent: string | undefined): Context {
  const context = spanContextOf(parent)
  return context === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, context)
}

function spanContextOf(traceparent: string | undefined) {
  const parsed = traceparent === undefined ? undefined : parseTraceparent(traceparent)
  if (parsed === undefined) return undefined
  const { traceId, spanId, isSampled } = parsed
  return { traceId, spanId, traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote: true }
}

function linkTo(traceparent: string): Link[] {
  const context = spanContextOf(traceparent)
  return context === undefined ? [] : [{ context }]
}

function toSpan(span: ReturnType<SdkTracer['startSpan']>): Span {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return {
    traceparent: printTraceparent({ traceId, spanId, isSampled: (traceFlags & TraceFlags.SAMPLED) !== 0 }),
    rename: (name) => void span.updateName(name),
    attribute: (name, value) => void span.setAttribute(name, value),
    fail(error) {
      const message = messageOf(error)
      span.setAttribute('error.type', error instanceof Error ? error.name : typeof error)
      span.setStatus({ code: SpanStatusCode.ERROR, message })
    },
    end: () => span.end(),
  }
}
