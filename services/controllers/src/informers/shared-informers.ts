import type { Client, Informer, InformerEvent } from '@orch/client'
import { getOrMake } from '@orch/core/memo'
import type { ApiObject } from '@orch/core/meta'
import type { Surroundings } from '../surroundings.ts'
import { type Selection, startCollectionInformer } from './collection-informer.ts'
import { controllerOf, keyOf } from './object-keys.ts'

/** The cached objects of a watch. They are shared and must not be changed. */
export interface Reader<T extends ApiObject> {
  get(key: string): T | undefined
  values(): Iterable<T>
  /** Objects of one namespace, by index. */
  inNamespace(namespace: string | undefined): Iterable<T>
  /** Objects whose controller reference has this uid, by index. */
  controlledBy(uid: string | undefined): Iterable<T>
  /** Objects of one namespace without a controller reference, by index. */
  uncontrolled(namespace: string | undefined): Iterable<T>
}

/** A listener to the changes of a cache. */
interface Listener<T extends ApiObject> {
  applyEvent(event: InformerEvent<T>, key: string): void
  /** The cache has been listed at this version, so that some earlier events may be missing. */
  applyList?(version: string): void
  /** Called with an exception of the listener, which then does not reach the others. */
  readonly fail?: ((error: unknown) => void) | undefined
}

/** Informers by selection, so that controllers that watch the same objects share one cache and one watch. */
export class SharedInformers {
  readonly #context: Omit<Surroundings, 'client'>
  readonly #opened: SharedInformer<ApiObject>[] = []

  constructor(context: Omit<Surroundings, 'client'>) {
    this.#context = context
  }

  /** The informer of the selection. The client of its first user makes its requests. */
  open<T extends ApiObject>(selection: Selection<T>, client: Client): SharedInformer<T> {
    const known = this.#opened.find((informer) => informer.isOf(selection))
    // Equal selections hold objects of one type.
    if (known !== undefined) return known as SharedInformer<T>
    const informer = new SharedInformer<T>(selection, { ...this.#context, client })
    this.#opened.push(informer)
    return informer
  }

  /** Resolves when all informers have ended after their signal. */
  async done(): Promise<void> {
    await Promise.all(this.#opened.map((informer) => informer.done))
  }
}

/** One cached selection with its indexes and listeners. */
export class SharedInformer<T extends ApiObject> implements Reader<T> {
  readonly #selection: Selection<T>
  readonly #key: string
  readonly #informer: Informer<T>
  readonly #listeners = new Set<Listener<T>>()
  /** Indexes are built when they are first read. */
  #byNamespace: Index<T> | undefined
  #byController: Index<T> | undefined
  #isSynced = false

  constructor(selection: Selection<T>, context: Surroundings) {
    this.#selection = selection
    this.#key = printSelection(selection)
    this.#informer = startCollectionInformer(context, {
      ...selection,
      onEvent: (event, key) => this.#applyEvent(event, key),
      onListed: () => this.#reportTo(this.#listeners, (listener) => listener.applyList?.(this.#informer.resourceVersion)),
    })
    void this.synced.then(() => {
      this.#isSynced = true
    })
  }

  /** Resolves when the first list is cached. */
  get synced(): Promise<void> {
    return this.#informer.synced
  }

  get done(): Promise<void> {
    return this.#informer.done
  }

  get isSynced(): boolean {
    return this.#isSynced
  }

  isOf(selection: Selection<ApiObject>): boolean {
    return selection.keep === this.#selection.keep && printSelection(selection) === this.#key
  }

  /** Reports each cached object as `added`, then each event. The returned function removes the listener. */
  subscribe(listener: Listener<T>): () => void {
    this.#listeners.add(listener)
    this.#reportTo([listener], () => {
      for (const object of this.values()) listener.applyEvent({ kind: 'added', object }, keyOf(object))
    })
    return () => void this.#listeners.delete(listener)
  }

  get(key: string): T | undefined {
    return this.#informer.find(key)
  }

  values(): Iterable<T> {
    return this.#informer.values()
  }

  inNamespace(namespace = ''): Iterable<T> {
    this.#byNamespace ??= new Index<T>(({ metadata }) => metadata.namespace ?? '', this.values())
    return this.#byNamespace.get(namespace)
  }

  controlledBy(uid: string | undefined): Iterable<T> {
    return uid === undefined ? [] : this.#controllerIndex().get(uid)
  }

  uncontrolled(namespace = ''): Iterable<T> {
    return this.#controllerIndex().get(withoutController(namespace))
  }

  #controllerIndex(): Index<T> {
    const textOf = (object: ApiObject) => controllerOf(object)?.uid ?? withoutController(object.metadata.namespace)
    this.#byController ??= new Index<T>(textOf, this.values())
    return this.#byController
  }

  #applyEvent(event: InformerEvent<T>, key: string): void {
    this.#byNamespace?.applyEvent(event, key)
    this.#byController?.applyEvent(event, key)
    this.#reportTo(this.#listeners, (listener) => listener.applyEvent(event, key))
  }

  #reportTo(listeners: Iterable<Listener<T>>, report: (listener: Listener<T>) => void): void {
    for (const listener of listeners) {
      try {
        report(listener)
      } catch (error) {
        if (listener.fail === undefined) throw error
        listener.fail(error)
      }
    }
  }
}

/** Objects by a derived text, such as the uid of the owner. */
class Index<T extends ApiObject> {
  readonly #textOf: (object: ApiObject) => string
  readonly #objects = new Map<string, Map<string, T>>()

  constructor(textOf: (object: ApiObject) => string, objects: Iterable<T>) {
    this.#textOf = textOf
    for (const object of objects) this.#addObject(textOf(object), object, keyOf(object))
  }

  get(text: string): Iterable<T> {
    return this.#objects.get(text)?.values() ?? []
  }

  applyEvent(event: InformerEvent<T>, key: string): void {
    const text = this.#textOf(event.object)
    const before = event.kind === 'added' ? text : this.#textOf(event.before)
    if (event.kind === 'deleted' || before !== text) this.#removeKey(before, key)
    if (event.kind !== 'deleted') this.#addObject(text, event.object, key)
  }

  #addObject(text: string, object: T, key: string): void {
    getOrMake(this.#objects, text, () => new Map()).set(key, object)
  }

  #removeKey(text: string, key: string): void {
    const objects = this.#objects.get(text)
    objects?.delete(key)
    if (objects?.size === 0) this.#objects.delete(text)
  }
}

/** No uid has a slash. */
function withoutController(namespace = ''): string {
  return `/${namespace}`
}

function printSelection({ resource, select = {}, isMetadataOnly = false }: Selection<ApiObject>): string {
  const { group, version, plural } = resource
  const { namespace, labelSelector, fieldSelector } = select
  return JSON.stringify([group, version, plural, namespace, labelSelector, fieldSelector, isMetadataOnly])
}
