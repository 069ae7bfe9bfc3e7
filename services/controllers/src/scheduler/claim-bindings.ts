import { type ResourceClient, unlessGone } from '@orch/client'
import { type ApiObject, printTime, toInstant } from '@orch/core/meta'
import { domainGroup } from '@orch/core/names'
import { type ClaimUse, deviceBindingOf, hasBindingConditions, type Pod, type SchedulingRules } from '@orch/core/scheduling'
import { deviceClaimNames, isReservedFor, type ResourceClaim } from '@orch/core/workloads'
import { sleep } from '@orch/platform'
import type { ControllerContext } from '../controller.ts'
import type { DeviceInformers } from './device-informers.ts'

/** Maximum time that a Pod waits for its devices, and the interval of checks. */
const waitMsMax = 600_000
const lookMs = 1_000

type Context = Pick<ControllerContext, 'client' | 'clock' | 'log' | 'names' | 'signal'>
type Devices = Pick<DeviceInformers, 'assume' | 'forget' | 'resourceClaim'>

/** The scheduler's writes of device claims. */
export class ClaimBindings {
  readonly #context: Context
  readonly #devices: Devices
  readonly #rules: SchedulingRules
  /** The claim for extended resources that was created for the Pod. */
  #created: ResourceClaim | undefined

  constructor(context: Context, devices: Devices, rules: SchedulingRules) {
    this.#context = context
    this.#devices = devices
    this.#rules = rules
  }

  /** Marks the allocated devices as in use. */
  assume(uses: readonly ClaimUse[]): void {
    for (const { claim, allocation } of uses) {
      if (allocation !== undefined) this.#devices.assume({ ...claim, status: { ...claim.status, allocation } })
    }
  }

  /** Reverts the assumption. */
  forget(uses: readonly ClaimUse[]): void {
    for (const { claim } of uses) this.#devices.forget(claim)
    if (this.#created !== undefined) this.#devices.forget(this.#created)
  }

  /** Deletes the claim that was created for a Pod which could not be bound. */
  async deleteCreated(): Promise<void> {
    if (this.#created !== undefined) await this.delete(this.#created)
  }

  /** Writes the allocations, each after the finalizer that protects its claim, and reserves the claims for the Pod. */
  async bind(pod: Pod, uses: readonly ClaimUse[], signal: AbortSignal): Promise<void> {
    const { name = '', uid = '' } = pod.metadata
    const consumer = { resource: 'pods', name, uid }
    for (const use of uses) {
      if (use.mappings !== undefined) await this.#bindExtended(pod, use, consumer, signal)
      else if (!isReservedFor(use.claim, pod)) await this.#bindClaim(use, consumer, signal)
    }
  }

  /** The claims whose devices drivers prepare before the Pod is bound. */
  unprepared(uses: readonly ClaimUse[]): readonly ResourceClaim[] {
    if (!this.#rules.devices.hasBindingConditions) return []
    return uses.filter(({ claim, allocation }) => hasBindingConditions(allocation ?? claim.status?.allocation)).map(({ claim }) => claim)
  }

  /** Waits until drivers have prepared all devices. Throws for a failure, at the signal, and for a claim that takes too long, which is freed. */
  async prepare(claims: readonly ResourceClaim[], signal: AbortSignal): Promise<void> {
    const { clock } = this.#context
    const endMs = clock.monotonic() + waitMsMax
    for (const { metadata } of claims) {
      for (;;) {
        const claim = this.#devices.resourceClaim(metadata.namespace ?? '', metadata.name ?? '')
        if (claim === undefined) throw new Error(`resourceclaim ${JSON.stringify(metadata.name)} not found`)
        const binding = deviceBindingOf(claim)
        if (binding.kind === 'ready') break
        if (binding.kind === 'failed') throw new Error(`device binding failed: ${binding.message}`)
        const allocatedMs = Date.parse(claim.status?.allocation?.allocationTimestamp ?? '')
        if (clock.now() - allocatedMs > waitMsMax) {
          await this.free(claim)
          throw new Error(`device binding timeout: claim=${metadata.name}`)
        }
        // Another client may have deallocated it.
        if (clock.monotonic() > endMs) throw new Error('device binding timeout: context deadline exceeded')
        await sleep(clock, lookMs, signal, { background: true })
        signal.throwIfAborted()
      }
    }
  }

  /** Deallocates a claim, unless it has changed. */
  async free(claim: ResourceClaim): Promise<void> {
    const { log, signal } = this.#context
    try {
      await this.#claims.update({ ...claim, status: {} }, { subresource: 'status', signal })
    } catch (err) {
      // Another change of the claim enqueues the Pod again.
      if (!signal.aborted) log.debug({ claim: claim.metadata.name, err }, 'a claim for devices could not be freed')
    }
  }

  /** Deletes a claim for extended resources, unless it is gone. */
  async delete({ metadata: { namespace, name = '', uid } }: ResourceClaim): Promise<void> {
    const { log, signal } = this.#context
    const collection = this.#claims
    try {
      await unlessGone(async () => {
        const { metadata } = await collection.get(name, { namespace, signal })
        const { finalizer } = deviceClaimNames(this.#context.names)
        const finalizers = (metadata.finalizers ?? []).filter((one) => one !== finalizer)
        await collection.patch(name, { metadata: { uid, finalizers } }, { type: 'merge', namespace, signal })
        await collection.delete(name, { namespace, signal }, { preconditions: { uid } })
      })
    } catch (err) {
      // The next attempt deletes it.
      if (!signal.aborted) log.debug({ claim: name, err }, 'a claim for extended resources could not be deleted')
    }
  }

  /** Creates and allocates the claim for the extended resources of a Pod, whose status then names it. */
  async #bindExtended(pod: Pod, { claim, allocation, mappings }: ClaimUse, consumer: Consumer, signal: AbortSignal): Promise<void> {
    const { name: _name, uid: _uid, ...metadata } = claim.metadata
    const created = await this.#claims.create({ ...claim, metadata }, { signal })
    this.#created = created
    this.#devices.assume({ ...created, status: { allocation } })
    this.#devices.forget(claim)
    await this.#bindClaim({ claim: created, allocation }, consumer, signal)
    const { namespace, name = '' } = pod.metadata
    const extendedResourceClaimStatus = { requestMappings: mappings, resourceClaimName: created.metadata.name }
    const pods = this.#context.client.resource<ApiObject>({ group: '', version: 'v1', plural: 'pods', namespaced: true })
    await pods.patch(name, { status: { extendedResourceClaimStatus } }, { type: 'strategic', subresource: 'status', namespace, signal })
  }

  async #bindClaim({ claim, allocation }: ClaimUse, consumer: Consumer, signal: AbortSignal): Promise<void> {
    const { clock, names } = this.#context
    const { finalizer } = deviceClaimNames(names)
    const { namespace, name = '', uid: claimUid, finalizers = [] } = claim.metadata
    const collection = this.#claims
    if (allocation !== undefined && !finalizers.includes(finalizer)) {
      const patch = { metadata: { uid: claimUid, finalizers: [...finalizers, finalizer] } }
      await collection.patch(name, patch, { type: 'strategic', namespace, signal })
    }
    const { hasBindingConditions: hasTimes } = this.#rules.devices
    const allocationTimestamp = printTime(toInstant(clock.now()))
    const users = [...(claim.status?.reservedFor ?? []), consumer].map(({ uid }) => ({ uid }))
    const status = {
      reservedFor: [consumer],
      '$setElementOrder/reservedFor': users,
      ...(allocation && { allocation: { ...allocation, ...(hasTimes && { allocationTimestamp }) } }),
    }
    // The uid of the evaluated claim.
    await collection.patch(name, { metadata: { uid: claimUid }, status }, { type: 'strategic', subresource: 'status', namespace, signal })
  }

  get #claims(): ResourceClient<ResourceClaim> {
    const { client, names } = this.#context
    return client.resource<ResourceClaim>({
      group: domainGroup(names, 'resource'),
      version: 'v1',
      plural: 'resourceclaims',
      namespaced: true,
    })
  }
}

interface Consumer {
  readonly resource: string
  readonly name: string
  readonly uid: string
}
