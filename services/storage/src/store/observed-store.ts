import { resourcePrefix, type SharedStore, type Store, type StoreCommit } from '@orch/core/contracts'
import { getOrMake } from '@orch/core/memo'
import { type Clock, type CountedSeries, createCountedHistogram, type Metrics, noTracer, type Tracer } from '@orch/platform'

/** The labels and the tracer for an external store. */
export interface StoreObservation {
  /** `etcd`: the name of the system in spans. */
  readonly system: string
  readonly clock: Clock
  readonly metrics: Metrics
  /** Undefined without tracing. */
  readonly tracer?: Tracer | undefined
}

/** Buckets from an answer from memory to an answer that waits for a disk or a new leader. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.5, 2, 3, 4, 5, 8, 10, 15, 30, 60]

/** Wraps a store: measures requests, and adds spans for commits that belong to a trace. */
export function observeStore(store: Store, { system, clock, metrics, tracer = noTracer }: StoreObservation): Store {
  const durations = createCountedHistogram(metrics, {
    name: 'etcd_request_duration_seconds',
    help: '[ALPHA] Time that a request to the store took, by operation and resource; a write until its change has come back.',
    buckets,
  })
  const series = new Map<string, CountedSeries>()
  const seriesOf = (operation: string, type: string): CountedSeries => {
    const name = `${operation} ${type}`
    return getOrMake(series, name, () => durations.series({ operation, type }))
  }
  const timed = async <T>(operation: string, key: string, ask: () => Promise<T>): Promise<T> => {
    const startMs = clock.monotonic()
    try {
      return await ask()
    } finally {
      seriesOf(operation, resourcePrefix(key)).observe((clock.monotonic() - startMs) / 1_000)
    }
  }
  return {
    commit(commit) {
      const operation = operationOf(commit)
      return timed(operation, commit.key, () => traced(commit, { operation, system, tracer }, () => store.commit(commit)))
    },
    getAt: (key, revision) => timed('get', key, () => store.getAt(key, revision)),
    recordAt: (key, revision) => timed('get', key, () => store.recordAt(key, revision)),
    count: (range) => timed('count', range.prefix, () => store.count(range)),
    range: (range) => timed('list', range.prefix, () => store.range(range)),
    visit: (show) => timed('list', '', () => store.visit(show)),
    history: (after, limit) => timed('history', '', () => store.history(after, limit)),
    listen: (listener) => store.listen(listener),
    compact: (revision) => timed('compact', '', () => store.compact(revision)),
    ...(store.isStale === undefined ? {} : { isStale: (key: string) => store.isStale?.(key) === true }),
    shared: store.shared === undefined ? undefined : observeShared(store.shared, timed),
    renewEpoch: () => store.renewEpoch(),
    status: () => store.status(),
    close: () => store.close(),
  }
}

type Timed = <T>(operation: string, key: string, ask: () => Promise<T>) => Promise<T>

function observeShared(shared: SharedStore, timed: Timed): SharedStore {
  return {
    latest: () => timed('revision', '', () => shared.latest()),
    askPosition: () => shared.askPosition(),
    onReplaced: (listener) => shared.onReplaced(listener),
    onReachable: (listener) => shared.onReachable(listener),
    visitRevisions: (show) => timed('list', '', () => shared.visitRevisions(show)),
    members: () => shared.members(),
    mayLoseChanges: shared.mayLoseChanges,
  }
}

function operationOf({ expected, value }: StoreCommit): string {
  if (value === undefined) return 'delete'
  return expected === 0 ? 'create' : 'update'
}

async function traced<T>(
  { key, traceparent }: StoreCommit,
  { operation, system, tracer }: { readonly operation: string; readonly system: string; readonly tracer: Tracer },
  ask: () => Promise<T>,
): Promise<T> {
  const attributes = { 'db.system.name': system, 'db.operation.name': operation, 'db.collection.name': resourcePrefix(key) }
  const span =
    traceparent === undefined ? undefined : tracer.start(`${system} ${operation}`, { kind: 'client', parent: traceparent, attributes })
  try {
    return await ask()
  } catch (error) {
    span?.fail(error)
    throw error
  } finally {
    span?.end()
  }
}
