/** The side and kind of a span's exchange. */
export type SpanKind = 'server' | 'client' | 'internal' | 'producer' | 'consumer'

/** Work that is being traced. The caller that started it ends it. */
export interface Span {
  /** W3C trace context for the called services. */
  readonly traceparent: string
  /** For a name that is known only when the work is done. */
  rename(name: string): void
  attribute(name: string, value: string | number | boolean): void
  /** The work has failed; it still has to be ended. */
  fail(error: unknown): void
  end(): void
}

/** The parent of a span, and its attributes at the start. */
export interface SpanOptions {
  readonly kind: SpanKind
  /** `traceparent` of the caller; absent: the span opens a trace. */
  readonly parent?: string | undefined
  /** `traceparent`s of other traces that this work follows from. */
  readonly links?: readonly string[]
  readonly attributes?: Readonly<Record<string, string | number | boolean>>
}

/** Makes spans. What is not sampled has none, so that it costs nothing. */
export interface Tracer {
  start(name: string, options: SpanOptions): Span | undefined
}

/** Samples nothing. */
export const noTracer: Tracer = { start: () => undefined }

/** The contents of a `traceparent`. */
export interface TraceContext {
  /** 32 digits. */
  readonly traceId: string
  /** 16 digits. */
  readonly spanId: string
  readonly isSampled: boolean
}

const traceparentShape = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/

/** Parses a W3C `traceparent`; undefined for another text. Later versions may append fields. */
export function parseTraceparent(text: string): TraceContext | undefined {
  const match = text.length > traceparentLengthMax ? null : traceparentShape.exec(text)
  if (match === null) return undefined
  const [, traceId = '', spanId = '', flags = ''] = match
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** Longer ones are of no version that is known, and are not looked at. */
const traceparentLengthMax = 256

/** Writes a trace context in the form of W3C. */
export function printTraceparent({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
}

/** A log line's fields of the trace that it belongs to. */
export function traceFields(traceparent: string | undefined): { readonly traceId?: string; readonly spanId?: string } {
  if (traceparent === undefined) return noFields
  const context = parseTraceparent(traceparent)
  return context === undefined ? noFields : { traceId: context.traceId, spanId: context.spanId }
}

const noFields = {}
