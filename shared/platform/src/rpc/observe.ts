import type { CallContext } from '@orch/core/contracts'
import { memo } from '@orch/core/memo'
import { StatusError } from '@orch/core/meta'
import { systemClock } from '../clock.ts'
import { type CountedHistogram, type CountedSeries, createCountedHistogram } from '../counted-metrics.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { noTracer, type SpanKind, type Tracer, traceFields } from '../telemetry.ts'
import { wireName } from './path.ts'

/** The tracer, metrics and log for calls. */
export interface RpcTelemetry {
  readonly tracer?: Tracer | undefined
  readonly metrics?: Metrics | undefined
  /** The log of the called side. */
  readonly log?: Log | undefined
}

/** The observation of one call. */
export interface Observation {
  /** The parent of spans for calls that follow from this one. */
  readonly traceparent: string | undefined
  /** Ends the observation, with an error if the call failed. Later calls have no effect. */
  end(error?: unknown): void
}

/** Observes the calls of one method on one side. */
export type Observe = (context: Pick<CallContext, 'traceparent' | 'requestId'>) => Observation

type Side = Extract<SpanKind, 'client' | 'server'>

/** From a call within one machine to a call that waits for a disk or a deadline. */
const buckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/**
 * Observes the calls of a method: a span if the call belongs to a trace, the time until the answer (for streams until the
 * first part), and on the called side a log line. A call that was not caused by a request starts no trace.
 */
export function createObserve({ tracer = noTracer, metrics, log }: RpcTelemetry, side: Side, service: string, method: string): Observe {
  const name = `${service}/${wireName(method)}`
  const attributes = { 'rpc.system': 'grpc', 'rpc.service': service, 'rpc.method': wireName(method) }
  const observe = metrics === undefined ? undefined : durationsOf(histogramOf(metrics, side), { service, method: wireName(method) })
  const lines = side === 'server' ? log : undefined
  if (observe === undefined && tracer === noTracer && lines === undefined) return ({ traceparent }) => ({ traceparent, end: () => {} })
  return ({ traceparent: parent, requestId }) => {
    const span = parent === undefined ? undefined : tracer.start(name, { kind: side, parent, attributes })
    const startMs = systemClock.monotonic()
    let isOpen = true
    return {
      traceparent: span?.traceparent ?? parent,
      end(error) {
        if (!isOpen) return
        isOpen = false
        const durationMs = systemClock.monotonic() - startMs
        const code = codeOf(error)
        observe?.(code, durationMs / 1_000)
        lines?.debug({ call: name, code, durationMs, requestId, ...traceFields(span?.traceparent ?? parent) }, 'call')
        if (error !== undefined) span?.fail(error)
        span?.end()
      },
    }
  }
}

function codeOf(error: unknown): string {
  if (error === undefined) return '200'
  return error instanceof StatusError ? String(error.code) : '500'
}

/** Measures the duration of one method's calls, by code. */
function durationsOf(histogram: CountedHistogram, labels: { readonly service: string; readonly method: string }) {
  const byCode = new Map<string, CountedSeries>()
  return (code: string, seconds: number) => {
    const series = byCode.get(code) ?? histogram.series({ ...labels, code })
    byCode.set(code, series)
    series.observe(seconds)
  }
}

/** One histogram per side, shared by all contracts of a process. */
function histogramOf(metrics: Metrics, side: Side): CountedHistogram {
  return side === 'client' ? clientHistogramOf(metrics) : serverHistogramOf(metrics)
}

/** The histogram of calls that a process makes. */
const clientHistogramOf = memo((metrics: Metrics) =>
  declareHistogram(metrics, 'client', 'Time until a call to another service was answered.'),
)

/** The histogram of calls that a process answers. */
const serverHistogramOf = memo((metrics: Metrics) =>
  declareHistogram(metrics, 'server', 'Time that a call from another service took here.'),
)

function declareHistogram(metrics: Metrics, side: Side, help: string): CountedHistogram {
  return createCountedHistogram(metrics, { name: `orch_rpc_${side}_duration_seconds`, help, buckets })
}
