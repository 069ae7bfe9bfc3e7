import type { ApiObject, OwnerReference } from '@orch/core/meta'
import {
  type Budget,
  type ClusterChange,
  type ClusterObjects,
  type DeviceClass,
  type DeviceRules,
  fellowTerms,
  type Labels,
  type Node,
  type Pod,
  type ResourceSlice,
} from '@orch/core/scheduling'
import type { LabelSelector } from '@orch/core/selectors'
import type { ControllerContext } from '../controller.ts'
import { type SharedInformer, SharedInformers } from '../informers/shared-informers.ts'
import { DeviceInformers } from './device-informers.ts'
import { StorageInformers } from './storage-informers.ts'

interface Selecting extends ApiObject {
  readonly spec?: { readonly selector?: LabelSelector | null }
}

/** The selector of a Service or of a ReplicationController is a map of labels. */
interface MapSelecting extends ApiObject {
  readonly spec?: { readonly selector?: Labels | null }
}

const noSlices: readonly ResourceSlice[] = []
const noClasses: readonly DeviceClass[] = []

/** The caches of the objects that the scheduler decides by. Other controllers may share them. */
export class ClusterInformers {
  readonly pods: SharedInformer<Pod>
  readonly nodes: SharedInformer<Node>
  readonly budgets: SharedInformer<Budget>
  readonly #namespaces: SharedInformer<ApiObject>
  readonly #services: SharedInformer<MapSelecting>
  readonly #controllers: SharedInformer<MapSelecting>
  /** Owners of Pods with selectors that may have expressions, by kind. */
  readonly #owners: ReadonlyMap<string, SharedInformer<Selecting>>
  readonly #all: readonly SharedInformer<ApiObject>[]
  readonly #context: ControllerContext
  #storage: StorageInformers | undefined
  #devices: DeviceInformers | undefined

  constructor(context: ControllerContext) {
    this.#context = context
    const informers = context.informers ?? new SharedInformers(context)
    const all: SharedInformer<ApiObject>[] = []
    const open = <T extends ApiObject>(group: string, plural: string, namespaced = true) => {
      const informer = informers.open<T>({ resource: { group, version: 'v1', plural, namespaced } }, context.client)
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

  /** Caches of storage objects, opened for the first Pod with a claim. `onChange` is called with each of their events. */
  openStorage(level: number, onChange: () => void): StorageInformers {
    this.#storage ??= new StorageInformers(this.#context, level, onChange)
    return this.#storage
  }

  /** Caches of devices, opened for the first Pod that may use devices. `onChange` is called with each of their changes. */
  openDevices(rules: DeviceRules, onChange: (change: ClusterChange) => void): void {
    this.#devices ??= new DeviceInformers(this.#context, rules, onChange)
  }

  get devices(): DeviceInformers | undefined {
    return this.#devices
  }

  get storage(): StorageInformers | undefined {
    return this.#storage
  }

  /** True if all first lists are cached. */
  get isSynced(): boolean {
    return this.#opened.every(({ isSynced }) => isSynced)
  }

  /** Resolves when all first lists are cached. */
  async synced(): Promise<void> {
    await Promise.all(this.#opened.map((informer) => informer.synced))
  }

  /** Removes the listeners; resolves when the informers have ended, unless other controllers share them. */
  async close(): Promise<void> {
    this.#storage?.close()
    this.#devices?.close()
    if (this.#context.informers === undefined) await Promise.all(this.#opened.map((informer) => informer.done))
  }

  get #opened(): readonly SharedInformer<ApiObject>[] {
    return [...this.#all, ...(this.#storage?.all ?? []), ...(this.#devices?.all ?? [])]
  }

  get objects(): ClusterObjects {
    return {
      namespaceLabels: (name) => {
        const found = this.#namespaces.get(name)
        return found && (found.metadata.labels ?? {})
      },
      claim: (namespace, name) => this.#storage?.claim(namespace, name),
      volume: (name) => this.#storage?.volume(name),
      volumes: () => this.#storage?.volumes() ?? [],
      storageClass: (name) => this.#storage?.classes.get(name),
      csiNode: (name) => this.#storage?.nodes.get(name),
      csiDriver: (name) => this.#storage?.drivers.get(name),
      capacities: () => this.#storage?.capacities.values() ?? [],
      attachments: () => this.#storage?.attachments?.values() ?? [],
      resourceClaim: (namespace, name) => this.#devices?.resourceClaim(namespace, name),
      resourceClaims: () => this.#devices?.resourceClaims() ?? [],
      isBeingAllocated: (claim) => this.#devices?.isBeingAllocated(claim) === true,
      deviceClass: (name) => this.#devices?.deviceClass(name),
      deviceClasses: () => this.#devices?.deviceClasses() ?? noClasses,
      deviceSlices: () => this.#devices?.deviceSlices() ?? noSlices,
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
