import type { ApiObject } from '@orch/core/meta'
import { domainGroup } from '@orch/core/names'
import type { ClusterObjects } from '@orch/core/scheduling'
import type { ResourceClaim } from '@orch/core/workloads'
import type { ControllerContext } from '../controller.ts'
import { type SharedInformer, SharedInformers } from '../informers/shared-informers.ts'

/** The caches of claims for devices and of their classes. */
export class DeviceInformers implements Pick<ClusterObjects, 'resourceClaim' | 'hasDeviceClass'> {
  readonly #claims: SharedInformer<ResourceClaim>
  readonly #classes: SharedInformer<ApiObject>
  readonly all: readonly SharedInformer<ApiObject>[]

  /** `onChange` is called with each event. */
  constructor(context: ControllerContext, onChange: () => void) {
    const informers = context.informers ?? new SharedInformers(context)
    const group = domainGroup(context.names, 'resource')
    const open = <T extends ApiObject>(plural: string, namespaced: boolean) => {
      const informer = informers.open<T>({ resource: { group, version: 'v1', plural, namespaced } }, context.client)
      informer.subscribe({ applyEvent: onChange })
      return informer
    }
    this.#claims = open<ResourceClaim>('resourceclaims', true)
    this.#classes = open<ApiObject>('deviceclasses', false)
    this.all = [this.#claims, this.#classes]
  }

  resourceClaim(namespace: string, name: string): ResourceClaim | undefined {
    return this.#claims.get(`${namespace}/${name}`)
  }

  hasDeviceClass(name: string): boolean {
    return this.#classes.get(name) !== undefined
  }
}
