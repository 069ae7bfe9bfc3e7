import type { ApiObject, OwnerReference } from '@orch/core/meta'
import { type Budget, type ClusterObjects, fellowTerms, type Labels, type Node, type Pod } from '@orch/core/scheduling'
import type { LabelSelector } from '@orch/core/selectors'
import type { ControllerContext } from '../controller.ts'
import { type SharedInformer, SharedInformers } from '../informers/shared-informers.ts'

interface Selecting extends ApiObject {
  readonly spec?: { readonly selector?: LabelSelector | null }
}

/** The selector of a Service or of a ReplicationController is a map of labels. */
interface MapSelecting extends ApiObject {
  readonly spec?: { readonly selector?: Labels | null }
}

/** The caches of the objects that the scheduler decides by. Other controllers may share them. */
export class ClusterInformers {
  readonly pods: SharedInformer<Pod>
  readonly nodes: SharedInformer<Node>
  readonly budgets: SharedInformer<Budget>
  readonly #namespaces: SharedInformer<ApiObject>
  readonly #services: SharedInformer<MapSelecting>
  readonly #controllers: SharedInformer<MapSelecting>
  /** Owners of Pods with selectors that have expressions, by kind. */
  readonly #owners: ReadonlyMap<string, SharedInformer<Selecting>>
  readonly #all: readonly SharedInformer<ApiObject>[]

  constructor(context: ControllerContext) {
    const informers = context.informers ?? new SharedInformers(context)
    const all: SharedInformer<ApiObject>[] = []
    const open = <T extends ApiObject>(group: string, plural: string, namespaced = true) => {
      const informer = informers.open<T>({ resource: { group, version: 'v1', plural, namespaced } }, context.client)
      // Its listeners take any object.
      all.push(informer)
      return informer
    }
    this.pods = open<Pod>('', 'pods')
    this.nodes = open<Node>('', 'nodes', false)
    this.budgets = open<Budget>('policy', 'poddisruptionbudgets')
    this.#namespaces = open<ApiObject>('', 'namespaces', false)
    this.#services = open<MapSelecting>('', 'services')
    this.#controllers = open<MapSelecting>('', 'replicationcontrollers')
    this.#owners = new Map([
      ['ReplicaSet', open<Selecting>('apps', 'replicasets')],
      ['StatefulSet', open<Selecting>('apps', 'statefulsets')],
    ])
    this.#all = all
  }

  /** Resolves when all first lists are cached. */
  async synced(): Promise<void> {
    await Promise.all(this.#all.map((informer) => informer.synced))
  }

  /** Resolves when the signal has ended all. */
  async done(): Promise<void> {
    await Promise.all(this.#all.map((informer) => informer.done))
  }

  get objects(): ClusterObjects {
    return {
      namespaceLabels: (name) => {
        const found = this.#namespaces.get(name)
        return found && (found.metadata.labels ?? {})
      },
      fellowsOf: (pod) =>
        fellowTerms(pod, {
          serviceSelectors: (namespace) => this.#serviceSelectors(namespace),
          ownerSelector: (owner, namespace) => this.#ownerSelector(owner, namespace),
        }),
    }
  }

  *#serviceSelectors(namespace: string): Generator<Labels | null | undefined> {
    for (const { spec } of this.#services.inNamespace(namespace)) yield spec?.selector
  }

  #ownerSelector({ kind, name }: OwnerReference, namespace: string): LabelSelector | null | undefined {
    const key = `${namespace}/${name}`
    if (kind !== 'ReplicationController') return this.#owners.get(kind)?.get(key)?.spec?.selector
    const matchLabels = this.#controllers.get(key)?.spec?.selector
    return matchLabels == null ? undefined : { matchLabels }
  }
}
