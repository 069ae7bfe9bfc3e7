import {
  type Context,
  type Link,
  ROOT_CONTEXT,
  type Tracer as SdkTracer,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import { messageOf } from '../error-message.ts'
import { parseTraceparent, printTraceparent, type Span, type Tracer } from '../telemetry.ts'

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const

/** A tracer on the SDK. Contexts are passed explicitly; nothing is looked up in the call stack. */
export function createTracer(sdk: SdkTracer): Tracer {
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
