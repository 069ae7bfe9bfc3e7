import type { ApiObject } from '@orch/core/meta'
import { domainGroup } from '@orch/core/names'
import { attachmentsSince, type CsiDriver, type CsiNode, type StorageCapacity } from '@orch/core/scheduling'
import type { Attachment, StorageClass, Volume, VolumeClaim } from '@orch/core/workloads'
import { type SharedInformer, SharedInformers } from '../informers/shared-informers.ts'
import { type ControllerContext, keyOf } from '../reconciler/index.ts'

/** The caches of claims, volumes and related objects, with decided changes that the server does not show yet. */
export class StorageInformers {
  readonly #claims: SharedInformer<VolumeClaim>
  readonly #volumes: SharedInformer<Volume>
  readonly classes: SharedInformer<StorageClass>
  readonly nodes: SharedInformer<CsiNode>
  readonly drivers: SharedInformer<CsiDriver>
  readonly capacities: SharedInformer<StorageCapacity>
  readonly attachments: SharedInformer<Attachment> | undefined
  readonly all: readonly SharedInformer<ApiObject>[]
  readonly #subscriptions: (() => void)[] = []
  readonly #assumedClaims = new Map<string, VolumeClaim>()
  readonly #assumedVolumes = new Map<string, Volume>()

  /** `onChange` is called with each event. */
  constructor(context: ControllerContext, level: number, onChange: () => void) {
    const informers = context.informers ?? new SharedInformers(context)
    const all: SharedInformer<ApiObject>[] = []
    const open = <T extends ApiObject>(group: string, plural: string, namespaced = false) => {
      const informer = informers.open<T>({ resource: { group, version: 'v1', plural, namespaced } }, context.client)
      this.#subscriptions.push(informer.subscribe({ applyEvent: onChange, fail: context.fail }))
      all.push(informer)
      return informer
    }
    const storage = domainGroup(context.names, 'storage')
    this.#claims = open<VolumeClaim>('', 'persistentvolumeclaims', true)
    this.#volumes = open<Volume>('', 'persistentvolumes')
    this.classes = open<StorageClass>(storage, 'storageclasses')
    this.nodes = open<CsiNode>(storage, 'csinodes')
    this.drivers = open<CsiDriver>(storage, 'csidrivers')
    this.capacities = open<StorageCapacity>(storage, 'csistoragecapacities', true)
    if (level >= attachmentsSince) this.attachments = open<Attachment>(storage, 'volumeattachments')
    this.all = all
  }

  close(): void {
    for (const end of this.#subscriptions) end()
  }

  claim(namespace: string, name: string): VolumeClaim | undefined {
    return withAssumed(this.#claims.get(`${namespace}/${name}`), this.#assumedClaims)
  }

  volume(name: string): Volume | undefined {
    return withAssumed(this.#volumes.get(name), this.#assumedVolumes)
  }

  *volumes(): Generator<Volume> {
    for (const volume of this.#volumes.values()) yield withAssumed(volume, this.#assumedVolumes) ?? volume
  }

  /** Assumes objects as changed until the server shows another version of them. */
  assume({ claims, volumes }: AssumedObjects): void {
    for (const claim of claims) this.#assumedClaims.set(keyOf(claim), claim)
    for (const volume of volumes) this.#assumedVolumes.set(keyOf(volume), volume)
  }

  forget({ claims, volumes }: AssumedObjects): void {
    for (const claim of claims) this.#assumedClaims.delete(keyOf(claim))
    for (const volume of volumes) this.#assumedVolumes.delete(keyOf(volume))
  }
}

/** Assumed objects after the scheduler's decisions. */
export interface AssumedObjects {
  readonly claims: readonly VolumeClaim[]
  readonly volumes: readonly Volume[]
}

function withAssumed<T extends VolumeClaim | Volume>(live: T | undefined, assumed: Map<string, T>): T | undefined {
  if (live === undefined) return undefined
  const key = keyOf(live)
  const known = assumed.get(key)
  if (known === undefined || known.metadata.resourceVersion === live.metadata.resourceVersion) return known ?? live
  assumed.delete(key)
  return live
}
