export type SpanKind = 'server' | 'client' | 'internal' | 'producer' | 'consumer'

/** A span, that is traced work. The code that started it ends it. */
export interface Span {
  /** The W3C trace context for calls to other services. */
  readonly traceparent: string
  /** Renames the span, for a name that is known only after the work. */
  rename(name: string): void
  attribute(name: string, value: string | number | boolean): void
  /** Marks the work as failed. The span must still be ended. */
  fail(error: unknown): void
  end(): void
}

/** The parent and the initial attributes of a span. */
export interface SpanOptions {
  readonly kind: SpanKind
  /** The `traceparent` of the caller. Default: the span starts a trace. */
  readonly parent?: string | undefined
  /** `traceparent`s of other traces that caused this work. */
  readonly links?: readonly string[]
  readonly attributes?: Readonly<Record<string, string | number | boolean>>
}

/** Creates spans. Work that is not sampled has no span and costs nothing. */
export interface Tracer {
  start(name: string, options: SpanOptions): Span | undefined
}

/** A tracer that samples nothing. */
export const noTracer: Tracer = { start: () => undefined }

/** The contents of a `traceparent`. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits. */
  readonly spanId: string
  readonly isSampled: boolean
}

const traceparentShape = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/

/** Parses a W3C `traceparent`; undefined for an invalid text. Later versions may append fields. */
export function parseTraceparent(text: string): TraceContext | undefined {
  const match = text.length > traceparentLengthMax ? null : traceparentShape.exec(text)
  if (match === null) return undefined
  const [, traceId = '', spanId = '', flags = ''] = match
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** Longer texts are of no known version and are not parsed. */
const traceparentLengthMax = 256

/** Prints a trace context as a W3C `traceparent`. */
export function printTraceparent({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
}

/** The log fields for the trace of a line. */
export function traceFields(traceparent: string | undefined): { readonly traceId?: string; readonly spanId?: string } {
  if (traceparent === undefined) return noFields
  const context = parseTraceparent(traceparent)
  return context === undefined ? noFields : { traceId: context.traceId, spanId: context.spanId }
}

const noFields = {}
