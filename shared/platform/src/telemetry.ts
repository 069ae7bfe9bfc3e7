/** Which side of which exchange a span stands for. */
export type SpanKind = 'server' | 'client' | 'internal' | 'producer' | 'consumer'

/** Work that is being traced. Whoever started it ends it. */
export interface Span {
  /** W3C trace context for those who are called. */
  readonly traceparent: string
  attribute(name: string, value: string | number | boolean): void
  /** The work has failed; it still has to be ended. */
  fail(error: unknown): void
  end(): void
}

/** Where a span hangs, and what is known when it starts. */
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
