import { type EventDraft, type InformerEvent, isRefusal, type ObjectReference } from '@orch/client'
import { type ApiObject, parseRevision } from '@orch/core/meta'
import { aborted, createWorkqueue, type TimerOptions, type Workqueue } from '@orch/platform'
import type { Controller, ControllerContext } from '../controller.ts'
import type { ControllerName } from '../controller-names.ts'
import { controllerOf, keyOf } from '../informers/object-keys.ts'
import { type Reader, type SharedInformer, SharedInformers } from '../informers/shared-informers.ts'
import type { Surroundings } from '../surroundings.ts'
import { EventRecorder } from './events/recorder.ts'
import { Expectations, expectationMs } from './expectations.ts'
import type { Caches, Mapped, Own, OwnedBy, Watched } from './watches.ts'
import { done, type Result, World } from './world.ts'

/** One pass over one key. `object` is the cached own object; undefined for reconcilers that watch no own objects. */
interface Pass<T> extends Pick<Surroundings, 'clock' | 'signal'> {
  readonly key: string
  readonly object: T
  readonly world: World
}

/** A controller as a table: the objects that it watches, and its work for one of them. */
export interface ReconcilerSpec<T> {
  readonly watches: readonly (Own<T & ApiObject> | OwnedBy<ApiObject> | Mapped<ApiObject>)[]
  /** Moves the state one step towards the object. Never runs twice at once for one key, nor before all caches are filled. */
  readonly reconcile: (pass: Pass<T>) => Promise<Result>
  /** Called if no own object has the key. `last` is the deleted object; undefined if none was observed. */
  readonly absent?: (pass: Omit<Pass<T>, 'object'> & { readonly last: T | undefined }) => Promise<Result>
  /** True if changes of objects besides those of `watches` also cause passes. */
  readonly watchesMore?: boolean
  /** Keys to reconcile at the start, besides those of events. */
  readonly keys?: readonly string[]
  /** Maximum number of keys processed at once; 16 by default. */
  readonly workersMax?: number
  /**
   * Delays of retries after a failure: the first, which doubles, and the maximum; 20 ms and 30 s by default. After `retriesMax` retries the key waits
   * for the next event; unlimited by default.
   */
  readonly backoff?: { readonly firstMs: number; readonly maxMs: number; readonly retriesMax?: number }
  /** The queue name in metrics; by default the name of the controller. A controller with several loops has several queues. */
  readonly queue?: string
  /** The component in events; by default the name with `-controller`. */
  readonly component?: string
  /** Closes the parts of `open` that the signal does not end. */
  readonly close?: () => Promise<void>
}

/** The loop of a controller, for sources of keys other than watches. */
export interface Waking extends Caches {
  /** Enqueues a key, at once or after a delay. */
  wake(key: string, delayMs?: number, options?: TimerOptions): void
  /** Reports an event outside of a pass. */
  record(about: ObjectReference, draft: EventDraft): void
}

export type Open<T> = (context: ControllerContext, loop: Waking) => ReconcilerSpec<T>

/**
 * More than the 5 of kube-controller-manager: writes that are under way together take each step one after the other, while the code of the step is in
 * the processor's cache.
 */
const workersUsual = 16
/**
 * A key that fails this many times in a row is logged as a warning, and again at each doubling: one or two failures are a race with other writers, and
 * an object with many events may fail often.
 */
const warnedFailures = 4

/** True for 4, 8, 16 and so on. */
function isWarned(failures: number): boolean {
  return failures >= warnedFailures && Number.isInteger(Math.log2(failures))
}

/**
 * A controller as a table. `open` is called once for each run, with the product's names; its closure holds the run's state. The loop around `reconcile`
 * has the queue, caches, retries, metrics, expectations and events, independent of kinds. An error is retried with growing delays; Conflict, NotFound
 * and AlreadyExists too, without a warning, since the cache was outdated.
 *
 *   const sets = own<ReplicaSet>('apps/v1', 'replicasets')
 *   const pods = ownedBy<Pod>('v1', 'pods')
 *   reconciler<ReplicaSet>('replicaset', () => ({ watches: [sets, pods], reconcile: async ({ object, world, clock }) => … }))
 */
export function reconciler<T = ApiObject, Name extends string = ControllerName>(name: Name, open: Open<T>): Controller<Name> {
  return { name, run: (context) => new Loop(name, open, context).run() }
}

/** One run of a controller. */
class Loop<T> implements Waking {
  readonly #spec: ReconcilerSpec<T>
  readonly #context: ControllerContext
  readonly #informers: SharedInformers
  readonly #opened = new Map<Watched<ApiObject>, SharedInformer<ApiObject>>()
  readonly #own: Own<T & ApiObject> | undefined
  readonly #expectations = new Expectations()
  readonly #recorder: EventRecorder
  readonly #queue: Workqueue
  /** Deleted own objects, by key, until `absent` has processed them. */
  readonly #deleted = new Map<string, T>()
  readonly #subscriptions: (() => void)[] = []
  readonly #ended: Promise<unknown>

  constructor(name: string, open: Open<T>, context: ControllerContext) {
    const spec = open(context, this)
    const { queues, clock, random, log, signal } = context
    this.#spec = spec
    this.#context = context
    this.#informers = context.informers ?? new SharedInformers(context)
    this.#own = spec.watches.find((watch) => watch.kind === 'own')
    this.#recorder = new EventRecorder(spec.component ?? `${name}-controller`, context)
    this.#ended = aborted(signal)
    this.#queue = createWorkqueue({
      name: spec.queue ?? name,
      metrics: queues,
      work: (key) => this.#workOnKey(key),
      onError: (key, err, failures) => {
        const level = !isRefusal(err, outdated) && isWarned(failures) ? 'warn' : 'debug'
        log[level]({ key, err, failures }, 'an object could not be reconciled yet')
      },
      clock,
      random,
      signal,
      workersMax: spec.workersMax ?? workersUsual,
      backoffFirstMs: spec.backoff?.firstMs,
      backoffMaxMs: spec.backoff?.maxMs,
      retriesMax: spec.backoff?.retriesMax,
    })
  }

  async run(): Promise<void> {
    const { watches, watchesMore = false, keys = [] } = this.#spec
    const need = { kind: 'objects', own: this.#own?.resource, watched: watchesMore ? undefined : watches } as const
    await this.#context.untilNeeded?.(need, this.#context.signal)
    if (!this.#context.signal.aborted) {
      this.#openWatches(watches.filter((watch) => watch.kind === 'own' || !watch.isLazy))
      for (const key of keys) this.#queue.add(key)
    }
    await this.#ended
    for (const end of this.#subscriptions) end()
    if (this.#context.informers === undefined) await this.#informers.done()
    await this.#spec.close?.()
    await this.#queue.close()
    await this.#recorder.settled()
  }

  read<O extends ApiObject>(watch: Watched<O>): Reader<O> {
    // True if the informer was opened for this watch.
    return this.#informerOf(watch) as Reader<ApiObject> as Reader<O>
  }

  wake(key: string, delayMs = 0, options: TimerOptions = {}): void {
    if (delayMs > 0) this.#queue.addAfter(key, delayMs, options)
    else this.#queue.add(key)
  }

  record(about: ObjectReference, draft: EventDraft): void {
    this.#recorder.record(about, draft)
  }

  async #workOnKey(key: string): Promise<void> {
    await this.#whenSynced()
    if (this.#context.signal.aborted) return
    const result = await this.#runPass(key)
    if (result.kind === 'requeue') this.#queue.addAfter(key, result.delayMs, result)
    else if (this.#expectations.isPending(uidOf(this.#ownObject(key)), this.#context.clock.monotonic()))
      this.#queue.addAfter(key, expectationMs, { background: true })
  }

  /** Lazy watches may have been opened since the last pass. */
  async #whenSynced(): Promise<void> {
    const unsynced = [...this.#opened.values()].filter((informer) => !informer.isSynced)
    if (unsynced.length > 0) await Promise.race([Promise.all(unsynced.map((informer) => informer.synced)), this.#ended])
  }

  async #runPass(key: string): Promise<Result> {
    const { client, names, clock, signal } = this.#context
    const [own, expectations, recorder] = [this.#own, this.#expectations, this.#recorder]
    const object = this.#ownObject(key)
    const world = new World(uidOf(object), { client, names, clock, signal, own, caches: this, expectations, recorder })
    const common = { key, world, clock, signal }
    // Without own objects T is undefined.
    if (this.#own === undefined) return this.#spec.reconcile({ ...common, object: undefined as T })
    if (object !== undefined) return this.#spec.reconcile({ ...common, object })
    const result = await this.#spec.absent?.({ ...common, last: this.#deleted.get(key) })
    this.#deleted.delete(key)
    return result ?? done
  }

  #ownObject(key: string): (T & ApiObject) | undefined {
    return this.#own && this.read(this.#own).get(key)
  }

  #informerOf(watch: Watched<ApiObject>): SharedInformer<ApiObject> {
    const informer = this.#opened.get(watch)
    if (informer === undefined) throw new Error(`${watch.resource.plural} are read and not watched`)
    return informer
  }

  /** A shared cache that is filled reports its objects at once, and a mapping may read each other cache: all are opened before the first report. */
  #openWatches(watches: ReconcilerSpec<T>['watches']): void {
    const reports = watches.filter((watch) => !this.#opened.has(watch)).map((watch) => this.#openWatch(watch))
    for (const report of reports) report()
  }

  /** The returned function reports the cached objects, and then each event. */
  #openWatch(watch: ReconcilerSpec<T>['watches'][number]): () => void {
    const { client } = this.#context
    switch (watch.kind) {
      case 'own':
        return this.#followInformer(watch, this.#informers.open(watch, client), (event, key) => this.#applyOwn(watch, event, key))
      case 'ownedBy':
        return this.#followInformer(watch, this.#informers.open(watch, client), (event, key) => this.#applyOwned(watch, event, key))
      case 'mapped':
        return this.#followInformer(watch, this.#informers.open(watch, client), (event) => {
          // A lazy cache opens later, so its initial events enqueue passes.
          if (watch.isLazy || this.#isWaking(watch)) for (const key of watch.toKeys(event, this)) this.wake(key, watch.delayMs)
        })
    }
  }

  #followInformer<O extends ApiObject>(
    watch: Watched<O>,
    informer: SharedInformer<O>,
    applyEvent: (event: InformerEvent<O>, key: string) => void,
  ): () => void {
    this.#opened.set(watch, informer)
    const { fail } = this.#context
    const applyList = (version: string) => this.#applyList(watch, version)
    return () => this.#subscriptions.push(informer.subscribe({ applyEvent, applyList, fail }))
  }

  #applyOwn(watch: Own<T & ApiObject>, event: InformerEvent<T & ApiObject>, key: string): void {
    const { kind, object } = event
    if (kind === 'deleted') this.#expectations.forget(uidOf(object))
    if (kind === 'deleted' && this.#spec.absent !== undefined) this.#deleted.set(key, object)
    if (!watch.isDue(event)) return
    this.#openWatches(this.#spec.watches)
    this.wake(key, watch.delayMs(event))
  }

  /** A list does not show an object that was created and deleted since the last event, so the passes that may have created it run again. */
  #applyList(watch: Watched<ApiObject>, version: string): void {
    if (watch.kind === 'own') return
    const shown = watch.kind === 'ownedBy' ? new Set(this.#expectations.showList(parseRevision(version) ?? 0)) : undefined
    if (this.#own === undefined || !this.#isWaking(watch) || shown?.size === 0) return
    for (const object of this.read(this.#own).values()) if (shown === undefined || shown.has(uidOf(object))) this.wake(keyOf(object))
  }

  /** Enqueues the owner, and lowers its expectations. */
  #applyOwned(watch: OwnedBy<ApiObject>, event: InformerEvent<ApiObject>, objectKey: string): void {
    const { kind, object } = event
    const { uid = '' } = controllerOf(object) ?? {}
    if (kind === 'added') this.#expectations.showCreation(uid)
    if (kind === 'deleted' || object.metadata.deletionTimestamp != null) this.#expectations.showDeletion(uid, objectKey)
    if (!this.#isWaking(watch)) return
    const owner = this.#ownerOf(object)
    const before = event.kind === 'updated' ? this.#ownerOf(event.before) : undefined
    if (owner !== undefined) this.wake(owner, watch.delayMs(event))
    if (before !== undefined && before !== owner) this.wake(before, watch.delayMs(event))
  }

  /** The key of the own object that controls the object, by uid, as a reference may name another kind. */
  #ownerOf(object: ApiObject): string | undefined {
    const reference = controllerOf(object)
    if (this.#own === undefined || reference === undefined) return undefined
    const { namespace } = object.metadata
    const caches = this.read(this.#own)
    const keys = namespace === undefined ? [reference.name] : [`${namespace}/${reference.name}`, reference.name]
    return keys.find((key) => caches.get(key)?.metadata.uid === reference.uid)
  }

  /** Each own object gets a pass when all caches are filled, so the initial events need not enqueue it. */
  #isWaking(watch: Watched<ApiObject>): boolean {
    return this.#own === undefined || (this.#informerOf(watch).isSynced && this.#informerOf(this.#own).isSynced)
  }
}

function uidOf(object: ApiObject | undefined): string {
  return object?.metadata.uid ?? ''
}

/** Another client was faster than the cache. */
const outdated = ['Conflict', 'NotFound', 'AlreadyExists'] as const
