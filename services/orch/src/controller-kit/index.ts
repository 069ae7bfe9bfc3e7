/** Custom controllers: informer, work queue and reconciler, for any Kubernetes API server. */
import {
  type Client,
  createClient,
  createTransport,
  type Informer,
  type InformerEvent,
  parseConfiguration,
  startInformer,
} from '@orch/client'
import {
  type Controller,
  reconciler as createReconciler,
  type Own,
  type OwnedBy,
  type ReconcilerSpec,
  startControllers,
  type Waking,
} from '@orch/controllers/reconciler'
import type { ApiObject } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import {
  type Clock,
  createLog,
  createMetrics,
  createWorkqueue,
  type Log,
  sleep,
  systemChance,
  systemClock,
  workqueueMetricsOf,
} from '@orch/platform'

export type { Client, Informer, InformerEvent, ResourceClient } from '@orch/client'
export type {
  Action,
  Controller,
  Mapped,
  Own,
  OwnedBy,
  Reader,
  ReconcilerSpec,
  Result,
  Waking,
  Watched,
  World,
} from '@orch/controllers/reconciler'
export { done, mapped, own, ownedBy, requeueAfter } from '@orch/controllers/reconciler'
export { type ApiObject, StatusError } from '@orch/core/meta'
export type { Log } from '@orch/platform'

/** A client of the server in the text of a client configuration, by its current context or the given one. */
export async function connect(kubeconfig: string, { context }: { readonly context?: string } = {}): Promise<Client> {
  const configuration = await parseConfiguration(kubeconfig, context === undefined ? {} : { context })
  const say = (text: string) => void process.stderr.write(text)
  return createClient(createTransport(configuration, { now: systemClock.now, env: process.env, isInteractive: false, say }))
}

/**
 * A controller as a table: its watched objects, and its work for one of them. `open` is called once for each run; its closure holds the state of the
 * run. `reconcile` never runs twice at once for one object, nor before all caches are filled; after an error it is retried with growing delays.
 *
 *   const widgets = own<V1Widget>('example.com/v1', 'widgets')
 *   const pods = ownedBy<ApiObject>('v1', 'pods')
 *   const controller = reconciler<V1Widget>('widget', () => ({
 *     watches: [widgets, pods],
 *     async reconcile({ object, world }) { … return done },
 *   }))
 */
export function reconciler<T extends ApiObject>(name: string, open: (loop: Waking) => ReconcilerSpec<T>): Controller<string> {
  return createReconciler<T, string>(name, (_, loop) => open(loop))
}

/** The server of controllers, with their environment. */
export interface RunOptions {
  /** The text of a client configuration. */
  readonly kubeconfig: string
  /** A context of it; by default the current one. */
  readonly context?: string
  /** By default warnings are written to standard error, such as a pass that has failed four times in a row. */
  readonly log?: Log
  /** A virtual clock of a test; by default the machine's. */
  readonly clock?: Clock
}

/** Controllers that run. */
export interface RunningControllers extends AsyncDisposable {
  /** Resolves when all their work has ended. */
  stop(): Promise<void>
}

/** Runs controllers that share their caches, until they are stopped. */
export async function run(
  controllers: readonly Controller<string>[],
  { kubeconfig, context, log = createLog({ level: 'warn', format: 'text' }), clock = systemClock }: RunOptions,
): Promise<RunningControllers> {
  const client = await connect(kubeconfig, context === undefined ? {} : { context })
  const running = startControllers({
    controllers,
    clientFor: () => client,
    names: namesOf('kubernetes'),
    clock,
    random: systemChance.fraction,
    log,
    queues: workqueueMetricsOf(createMetrics({ process: false }), clock),
  })
  const stop = async () => {
    await running.stop()
    client.close()
  }
  return { stop, [Symbol.asyncDispose]: stop }
}

/** Options of an informer. */
export interface InformerOptions<T extends ApiObject> {
  /** Undefined for all namespaces. */
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** Called for every change, in order. */
  readonly onEvent?: (event: InformerEvent<T>) => void
  /** Called when a list or a watch has failed, before a retry. */
  readonly onError?: (error: unknown) => void
  readonly signal: AbortSignal
}

/** Caches a collection by list and watch, until the signal is aborted: `informer(client, own('v1', 'pods'), { signal })`. */
export function informer<T extends ApiObject>(client: Client, of: Own<T> | OwnedBy<T>, options: InformerOptions<T>): Informer<T> {
  const { signal, onEvent, onError, ...select } = options
  return startInformer({
    resource: client.resource<T>(of.resource),
    select,
    signal,
    sleep: (delayMs, ending) => sleep(systemClock, delayMs, ending),
    random: systemChance.fraction,
    ...(onEvent === undefined ? {} : { onEvent }),
    ...(onError === undefined ? {} : { onError }),
  })
}

/** Options of a work queue. */
export interface WorkQueueOptions {
  /** Processes one key. A failure is retried with growing delays. */
  readonly work: (key: string) => Promise<void>
  readonly signal: AbortSignal
  /** Maximum keys processed in parallel; 1 by default. */
  readonly workersMax?: number
  /** Called at each failure, with the number of consecutive ones. */
  readonly onError?: (key: string, error: unknown, failures: number) => void
}

/** Keys to process. A key is queued at most once and never processed twice at a time; a key added meanwhile is processed again. */
export function workQueue({ work, signal, workersMax = 1, onError = () => {} }: WorkQueueOptions): WorkQueue {
  const metrics = workqueueMetricsOf(createMetrics({ process: false }), systemClock)
  return createWorkqueue({ name: 'queue', metrics, work, onError, clock: systemClock, random: systemChance.fraction, signal, workersMax })
}

/** A work queue. */
export interface WorkQueue {
  add(key: string): void
  addAfter(key: string, delayMs: number): void
  /** Resolves when all its work has ended, after the signal was aborted. */
  close(): Promise<void>
}
