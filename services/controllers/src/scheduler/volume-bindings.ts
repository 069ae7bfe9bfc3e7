import type { ApiObject } from '@orch/core/meta'
import { isBound, type PodInfo, type SchedulingRules, type VolumePlan } from '@orch/core/scheduling'
import { sleep } from '@orch/platform'
import type { ControllerContext } from '../controller.ts'
import type { AssumedObjects, StorageInformers } from './storage-informers.ts'

/** Maximum time that a Pod waits for its volumes, and the interval of checks (SCHED-42). */
const waitMsMax = 600_000
const lookMs = 1_000

/** Binds or provisions the volumes of a Pod before the Pod is bound. */
export class VolumeBindings {
  readonly #context: ControllerContext
  readonly #storage: StorageInformers
  readonly #rules: SchedulingRules

  constructor(context: ControllerContext, storage: StorageInformers, rules: SchedulingRules) {
    this.#context = context
    this.#storage = storage
    this.#rules = rules
  }

  /** Assumes the volumes and claims of the plan. */
  assume(plan: VolumePlan): void {
    this.#storage.assume(assumedBy(plan))
  }

  /** Reverts the assumption. */
  forget(plan: VolumePlan): void {
    this.#storage.forget(assumedBy(plan))
  }

  /** Writes the plan, and waits until every claim is bound. Throws for a claim that is gone or cannot be bound on the node, and at the signal. */
  async bind(pod: PodInfo, node: string, { bindings, provisions }: VolumePlan, signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#context
    const update = (plural: string, object: ApiObject) =>
      client.resource<ApiObject>({ group: '', version: 'v1', plural, namespaced: true }).update(object, { signal })
    for (const { volume } of bindings) await update('persistentvolumes', volume)
    for (const claim of provisions) await update('persistentvolumeclaims', claim)
    const names = [...bindings.map(({ claim }) => claim), ...provisions].map(({ metadata }) => metadata.name ?? '')
    const provisioned = provisions.map(({ metadata }) => metadata.name ?? '')
    const endMs = clock.monotonic() + waitMsMax
    while (!this.#areBound(pod, node, { names, provisioned })) {
      if (clock.monotonic() >= endMs) throw new Error('timed out waiting for the condition')
      await sleep(clock, lookMs, signal, { background: true })
      signal.throwIfAborted()
    }
  }

  /** A claim that lost its selected node will not get a volume there. */
  #areBound({ namespace }: PodInfo, node: string, { names, provisioned }: Awaited): boolean {
    let areAll = true
    for (const name of names) {
      const claim = this.#storage.claim(namespace, name)
      if (claim === undefined) throw new Error(`persistentvolumeclaim ${JSON.stringify(name)} not found`)
      if (isBound(claim, this.#rules)) continue
      areAll = false
      const selected = claim.metadata.annotations?.[this.#rules.volumes.selectedNode]
      if (provisioned.includes(name) && selected !== node) throw new Error(`provisioning failed for PVC ${JSON.stringify(name)}`)
    }
    return areAll
  }
}

interface Awaited {
  readonly names: readonly string[]
  /** The claims whose volumes are to be provisioned. */
  readonly provisioned: readonly string[]
}

function assumedBy({ bindings, provisions }: VolumePlan): AssumedObjects {
  return { claims: provisions, volumes: bindings.map(({ volume }) => volume) }
}
