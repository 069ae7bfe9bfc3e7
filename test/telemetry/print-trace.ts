import type { ReceivedSpan } from './collector.ts'

/** Prints a trace as a tree: the begin, duration and service of each span. */
export function printTrace(spans: readonly ReceivedSpan[], traceId: string): string {
  const own = spans.filter((span) => span.traceId === traceId).sort((left, right) => Number(left.startNs - right.startNs))
  const known = new Set(own.map(({ spanId }) => spanId))
  const firstNs = own[0]?.startNs ?? 0n
  const lines: string[] = []
  const print = (span: ReceivedSpan, depth: number) => {
    const what = `${'  '.repeat(depth)}${span.name}`
    const links = span.links.length === 0 ? '' : `  links ${span.links.map(({ spanId }) => spanId).join(' ')}`
    const startMs = toMs(span.startNs - firstNs)
    lines.push(
      `${startMs.padStart(8)} ${toMs(span.endNs - span.startNs).padStart(8)}  ${span.service.padEnd(15)} ${what.padEnd(44)} ${span.spanId}${links}`,
    )
    for (const child of own) if (child.parentSpanId === span.spanId) print(child, depth + 1)
  }
  for (const span of own) if (!known.has(span.parentSpanId)) print(span, 0)
  return `${lines.join('\n')}\n`
}

function toMs(ns: bigint): string {
  return (Number(ns) / 1e6).toFixed(2)
}
