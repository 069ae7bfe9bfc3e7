import type { StorageService } from '@orch/core/contracts'
import { counter, declareMetrics, gauge, histogram, type Metrics } from '@orch/platform'
import { type ChangeSourceLimits, defaultChangeSourceLimits } from './limits.ts'
import { Live, type LiveOptions } from './live.ts'
import { Merged } from './merged.ts'

/** The dependencies of a change source. */
export interface ChangeSourceOptions extends Pick<LiveOptions, 'stream' | 'clock' | 'log' | 'random'> {
  readonly storage: Pick<StorageService, 'changes' | 'status' | 'getAt'>
  readonly metrics: Metrics
  readonly limits?: Partial<ChangeSourceLimits>
}

/** The part of storage that watch uses, until it is closed. */
export interface ChangeSource extends Pick<StorageService, 'changes' | 'status' | 'getAt'> {
  /** Ends every stream of changes. */
  close(): void
}

const table = {
  watch_feed_delay_seconds: histogram(
    'Time from the publishing of changes to their arrival here, as far as the clocks of both agree.',
    [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  ),
  watch_feed_mode: gauge('1 at the source that changes are read from: published (NATS) or storage.', ['source']),
  watch_feed_published_revision: gauge('Revision up to which published changes have come.'),
  watch_feed_gap_fills_total: counter('Times that changes had to be read from storage, by reason: gap, reference, silence, slow, epoch.', [
    'reason',
  ]),
  watch_feed_lag_revisions: gauge('Revisions that published changes were behind storage when it was last asked.'),
}

/**
 * Storage as watch uses it, with changes from the published stream while that is complete and current. The history of single resources comes from
 * storage.
 */
export function createChangeSource(options: ChangeSourceOptions): ChangeSource {
  const { storage, clock, metrics } = options
  const limits = { ...defaultChangeSourceLimits, ...options.limits }
  const open = new Set<Merged>()
  const declared = declareMetrics(metrics, table, {
    watch_feed_mode: (gauge) => {
      const isPublished = open.size > 0 && [...open].every(({ mode }) => mode === 'live')
      gauge.set({ source: 'published' }, Number(isPublished))
      gauge.set({ source: 'storage' }, Number(!isPublished))
    },
    watch_feed_published_revision: (gauge) => gauge.set(live.revision),
  })
  const live: Live = new Live({ ...options, limits, onDelay: (delayMs) => declared.watch_feed_delay_seconds.observe(delayMs / 1000) })
  const tailCheck = watchTail({ ...options, limits }, live, (lag) => declared.watch_feed_lag_revisions.set(lag))
  return {
    changes(request, context = {}) {
      if (request.resources.length > 0) return storage.changes(request, context)
      const onDeparture = (reason: string) => declared.watch_feed_gap_fills_total.inc({ reason })
      const merged = new Merged(request, context, { storage, live, clock, limits, onDeparture, onClose: (closed) => open.delete(closed) })
      if (!context.signal?.aborted) open.add(merged)
      return merged
    },
    status: storage.status,
    getAt: storage.getAt,
    close() {
      tailCheck.cancel()
      for (const merged of open) merged.close()
      live.close()
    },
  }
}

/** Requests storage's revision at intervals; leaves the stream if the last answer's revision has not arrived. */
function watchTail(
  { storage, clock, log, limits }: ChangeSourceOptions & { readonly limits: ChangeSourceLimits },
  live: Live,
  onLag: (revisions: number) => void,
): { cancel(): void } {
  let said = 0
  let isAsking = false
  const check = async () => {
    const { epoch, revision } = await storage.status({}, { timeoutMs: limits.tailCheckIntervalMs })
    if (!live.isUsable) return
    onLag(Math.max(0, revision - live.revision))
    const isBehind = live.epoch !== epoch || live.revision < said
    if (isBehind) {
      log.warn({ published: live.revision, stored: revision }, 'published changes are behind storage')
      live.require(revision)
    }
    said = revision
  }
  return clock.every(limits.tailCheckIntervalMs, () => {
    if (isAsking) return
    isAsking = true
    check()
      .catch((error: unknown) => log.debug({ err: error }, 'storage does not report its revision'))
      .finally(() => {
        isAsking = false
      })
  })
}
