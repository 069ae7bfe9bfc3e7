import type { InformerEvent } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { domainGroup } from '@orch/core/names'
import {
  type ClusterChange,
  type ClusterObjects,
  type DeviceClass,
  type DeviceRules,
  type DeviceTaintRule,
  type ResourceSlice,
  withRuleTaints,
} from '@orch/core/scheduling'
import type { ResourceClaim } from '@orch/core/workloads'
import type { ControllerContext } from '../controller.ts'
import { type SharedInformer, SharedInformers } from '../informers/shared-informers.ts'

/** The device objects that decisions depend on. */
type DeviceObjects = Pick<
  ClusterObjects,
  'resourceClaim' | 'resourceClaims' | 'isBeingAllocated' | 'deviceClass' | 'deviceClasses' | 'deviceSlices'
>

/** The caches of device claims, device classes and devices, with allocations that the server does not show yet. */
export class DeviceInformers implements DeviceObjects {
  readonly #claims: SharedInformer<ResourceClaim>
  readonly #classes: SharedInformer<DeviceClass>
  readonly #slices: SharedInformer<ResourceSlice>
  /** Undefined if rules add no taints. */
  readonly #taintRules: SharedInformer<DeviceTaintRule> | undefined
  readonly all: readonly SharedInformer<ApiObject>[]
  readonly #subscriptions: (() => void)[] = []
  /** Claims with their allocations, by uid. */
  readonly #assumed = new Map<string, ResourceClaim>()
  /** Undefined after a slice or a rule has changed. */
  #listedSlices: readonly ResourceSlice[] | undefined
  /** Undefined after a class has changed. */
  #listedClasses: readonly DeviceClass[] | undefined

  /** `onChange` is called with each change. */
  constructor(
    context: ControllerContext,
    { hasTaintRules, classPrefix }: Pick<DeviceRules, 'hasTaintRules' | 'classPrefix'>,
    onChange: (change: ClusterChange) => void,
  ) {
    const { fail } = context
    const informers = context.informers ?? new SharedInformers(context)
    const group = domainGroup(context.names, 'resource')
    const open = <T extends ApiObject>(plural: string, namespaced: boolean, applyEvent: (event: InformerEvent<T>) => void) => {
      const informer = informers.open<T>({ resource: { group, version: 'v1', plural, namespaced } }, context.client)
      this.#subscriptions.push(informer.subscribe({ applyEvent, fail }))
      return informer
    }
    const changeSlices = () => {
      this.#listedSlices = undefined
      onChange({ kind: 'storage' })
    }
    this.#claims = open<ResourceClaim>('resourceclaims', true, ({ kind, object: { metadata, status } }) => {
      if (kind === 'deleted' || status?.allocation != null) this.#assumed.delete(metadata.uid ?? '')
      onChange({ kind: 'storage' })
    })
    this.#classes = open<DeviceClass>('deviceclasses', false, (event) => {
      this.#listedClasses = undefined
      onChange({ kind: 'deviceClass', resources: resourcesOf(event, classPrefix) })
    })
    this.#slices = open<ResourceSlice>('resourceslices', false, changeSlices)
    this.#taintRules = hasTaintRules ? open<DeviceTaintRule>('devicetaintrules', false, changeSlices) : undefined
    this.all = [this.#claims, this.#classes, this.#slices, ...(this.#taintRules ? [this.#taintRules] : [])]
  }

  close(): void {
    for (const end of this.#subscriptions) end()
  }

  resourceClaim(namespace: string, name: string): ResourceClaim | undefined {
    return this.#claims.get(`${namespace}/${name}`)
  }

  *resourceClaims(): Generator<ResourceClaim> {
    const unseen = new Map(this.#assumed)
    for (const claim of this.#claims.values()) {
      const uid = claim.metadata.uid ?? ''
      yield unseen.get(uid) ?? claim
      unseen.delete(uid)
    }
    yield* unseen.values()
  }

  isBeingAllocated({ metadata }: ResourceClaim): boolean {
    return this.#assumed.has(metadata.uid ?? '')
  }

  deviceClass(name: string): DeviceClass | undefined {
    return this.#classes.get(name)
  }

  deviceClasses(): readonly DeviceClass[] {
    this.#listedClasses ??= [...this.#classes.values()]
    return this.#listedClasses
  }

  deviceSlices(): readonly ResourceSlice[] {
    this.#listedSlices ??= withRuleTaints([...this.#slices.values()], [...(this.#taintRules?.values() ?? [])])
    return this.#listedSlices
  }

  /** Counts the devices of a claim as in use until the server shows its allocation. */
  assume(claim: ResourceClaim): void {
    this.#assumed.set(claim.metadata.uid ?? '', claim)
  }

  forget({ metadata }: ResourceClaim): void {
    this.#assumed.delete(metadata.uid ?? '')
  }
}

/** The extended resources that a class newly provides. */
function resourcesOf(event: InformerEvent<DeviceClass>, classPrefix: string): string[] {
  const { kind, object } = event
  const before = kind === 'updated' ? event.before.spec?.extendedResourceName : undefined
  const named = object.spec?.extendedResourceName
  return [...(kind === 'added' ? [`${classPrefix}${object.metadata.name}`] : []), ...(named && named !== before ? [named] : [])]
}
