import type { EventsOrigin, SubscribeRequest } from '@orch/core/contracts'
import type { Clock, Span, Tracer } from '@orch/platform'
import { linkedWatchesMax } from './limits.ts'

/** A client that receives events; `traceparent` if its watch is traced. */
interface Receiver {
  readonly traceparent: string | undefined
}

/**
 * Traces events to the clients: a span in the trace of each write, with links to the watches that receive it, and the
 * time since the first commit. Called before the events are delivered; the returned function, after.
 */
export function deliver(
  { committedMs, traceparents }: EventsOrigin,
  { resource, group }: SubscribeRequest,
  clients: ReadonlySet<Receiver>,
  { tracer, clock, onDelay }: { readonly tracer: Tracer; readonly clock: Clock; readonly onDelay: (delayMs: number) => void },
): () => void {
  const attributes = { 'watch.resource': group === '' ? resource : `${resource}.${group}`, 'watch.clients': clients.size }
  const links = traceparents.length === 0 ? [] : tracedWatches(clients)
  const spans = traceparents.flatMap((parent): readonly Span[] => {
    const span = tracer.start('deliver a change', { kind: 'producer', parent, links: [parent, ...links], attributes })
    return span === undefined ? [] : [span]
  })
  return () => {
    for (const span of spans) span.end()
    if (clients.size > 0) onDelay(Math.max(0, clock.now() - committedMs))
  }
}

function tracedWatches(clients: ReadonlySet<Receiver>): string[] {
  const found: string[] = []
  for (const { traceparent } of clients) {
    if (traceparent !== undefined) found.push(traceparent)
    if (found.length === linkedWatchesMax) break
  }
  return found
}
