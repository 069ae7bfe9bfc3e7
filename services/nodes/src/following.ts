import {
  type Client,
  type Informer,
  type InformerEvent,
  type InformerOptions,
  type ResourceClient,
  startInformer,
  unlessRefused,
} from '@orch/client'
import { shareWith } from '@orch/core/json'
import type { ApiObject } from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import { type Clock, createWorkqueue, type Log, sleep, type Workqueue, type WorkqueueMetrics } from '@orch/platform'

/** The dependencies of a part of the simulation that follows objects. */
export interface Following {
  readonly names: Names
  /** A client that reads the followed objects, and writes their status. */
  readonly client: Client
  readonly clock: Clock
  /** A number in [0, 1). */
  readonly random: () => number
  readonly log: Log
  readonly queues: WorkqueueMetrics
  readonly signal: AbortSignal
}

interface QueueOptions {
  readonly name: string
  readonly workersMax: number
  readonly work: (key: string) => Promise<void>
  readonly problem: string
}

export function queueOf({ queues, log, clock, random, signal }: Following, { problem, ...rest }: QueueOptions): Workqueue {
  return createWorkqueue({
    ...rest,
    metrics: queues,
    onError: (key, err, failures) => log[failures < 3 ? 'debug' : 'warn']({ key, err, failures }, problem),
    ...{ clock, random, signal },
  })
}

interface FollowOptions<T extends ApiObject> extends Pick<InformerOptions<T>, 'onListed' | 'select'> {
  readonly resource: ResourceClient<T>
  readonly onEvent: (event: InformerEvent<T>) => void
  readonly onError: (err: unknown) => void
}

/** Equal parts of objects are held once: Pods of one template have the same spec. No simulated node reads managedFields. */
export function follow<T extends ApiObject>({ clock, random, signal }: Following, options: FollowOptions<T>): Informer<T> {
  const waiting = { random, signal, sleep: (delayMs: number, ending: AbortSignal) => sleep(clock, delayMs, ending) }
  return startInformer<T>({ ...options, ...waiting, readsOnly: true, keep: shareWith })
}

/** Undefined if the object has changed or is gone: another event follows. */
export function unlessOutdated<T>(request: Promise<T>): Promise<T | undefined> {
  return unlessRefused(['NotFound', 'Conflict'], () => request)
}
