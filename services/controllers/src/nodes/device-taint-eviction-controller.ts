import { type InformerEvent, unlessGone } from '@orch/client'
import { jsonEqual } from '@orch/core/json'
import { type ApiObject, printTime, toInstant } from '@orch/core/meta'
import { domainGroup } from '@orch/core/names'
import { disruptedConditions } from '@orch/core/node-lifecycle'
import {
  countDevices,
  type DeviceEviction,
  type DevicePlace,
  type DeviceTaintRule,
  deviceKey,
  EvictingDevices,
  evictionOf,
  type ResourceSlice,
  ruleReport,
  selectsDevice,
} from '@orch/core/scheduling'
import { deviceClaimsIn, isPodConsumer, isReservedFor, type Pod, podOfClaim, type ResourceClaim } from '@orch/core/workloads'
import type { Controller, ControllerContext } from '../controller.ts'
import { keyOf } from '../informers/object-keys.ts'
import { type ReconcilerSpec, reconciler, type Waking } from '../reconciler/reconciler.ts'
import { type Mapped, mapped } from '../reconciler/watches.ts'
import { done, type Result, requeueAfter, type World } from '../reconciler/world.ts'
import type { ServedLevel } from '../workloads/replica-controllers.ts'
import { nodeNameOf } from './pods-by-node.ts'

const name = 'device-taint-eviction'
const fieldManager = `${name}-controller`
/** Minimum time between two changes of a rule's condition. */
const reportMs = 10_000

/** Deletes Pods that use devices with taints NoExecute, at once or when their tolerations end, and reports the progress in DeviceTaintRules. */
export function deviceTaintEvictionController(served: ServedLevel): Controller {
  return reconciler<undefined>(name, (context, loop) => new DeviceTaintEviction(served, context, loop).spec)
}

/** One run of the controller. Its keys are those of Pods, and the names of rules, which have no slash. */
class DeviceTaintEviction {
  readonly #served: ServedLevel
  readonly #context: ControllerContext
  readonly #loop: Waking
  readonly #devices = new EvictingDevices()
  /** Keys of claims by the keys of their devices. */
  readonly #claimsOfDevices = new Map<string, Set<string>>()
  readonly #pods = mapped<Pod>('v1', 'pods', (event) => keysOfPod(event))
  readonly #claims: Mapped<ResourceClaim>
  readonly #slices: Mapped<ResourceSlice>
  /** Undefined if rules add no taints. */
  readonly #rules: Mapped<DeviceTaintRule> | undefined
  /** Keys of Pods whose eviction is pending. */
  readonly #pending = new Set<string>()
  /** Numbers of evicted Pods, by the uid of the rule. */
  readonly #evicted = new Map<string, number>()

  constructor(served: ServedLevel, context: ControllerContext, loop: Waking) {
    this.#served = served
    this.#context = context
    this.#loop = loop
    const version = `${domainGroup(context.names, 'resource')}/v1`
    this.#claims = mapped(version, 'resourceclaims', (event) => this.#keysOfClaim(event))
    this.#slices = mapped(version, 'resourceslices', (event) => this.#keysOfSlice(event))
    this.#rules = hasRules(served) ? mapped(version, 'devicetaintrules', (event) => this.#keysOfRule(event)) : undefined
  }

  get spec(): ReconcilerSpec<undefined> {
    return {
      watches: [this.#pods, this.#claims, this.#slices, ...(this.#rules === undefined ? [] : [this.#rules])],
      workersMax: 8,
      reconcile: ({ key, world }) => (key.includes('/') ? this.#runPass(key, world) : this.#reportRule(key, world)),
    }
  }

  #usersOf(claim: ResourceClaim | undefined): string[] {
    return (claim?.status?.reservedFor ?? []).filter(isPodConsumer).map((user) => `${claim?.metadata.namespace}/${user.name}`)
  }

  #keysOfClaim(event: InformerEvent<ResourceClaim>): string[] {
    const { kind, object } = event
    for (const before of kind === 'deleted' ? [object] : beforeOf(event)) this.#indexClaim(before, false)
    if (kind !== 'deleted') this.#indexClaim(object, true)
    return [object, ...beforeOf(event)].flatMap((claim) => this.#usersOf(claim))
  }

  /** Adds a claim to its devices, or removes it. */
  #indexClaim(claim: ResourceClaim, isAdded: boolean): void {
    for (const device of claim.status?.allocation?.devices?.results ?? []) {
      const key = deviceKey(device)
      const claims = this.#claimsOfDevices.get(key) ?? new Set()
      if (isAdded) this.#claimsOfDevices.set(key, claims.add(keyOf(claim)))
      else if (claims.delete(keyOf(claim)) && claims.size === 0) this.#claimsOfDevices.delete(key)
    }
  }

  #keysOfSlice(event: InformerEvent<ResourceSlice>): string[] {
    const { kind, object } = event
    const changed = this.#devices.apply({ before: beforeOf(event)[0] ?? object, after: kind === 'deleted' ? undefined : object })
    const claims = new Set([...changed].flatMap((device) => [...(this.#claimsOfDevices.get(device) ?? [])]))
    return [...claims].flatMap((key) => this.#usersOf(this.#loop.read(this.#claims).get(key)))
  }

  /** A rule is reported at its creation and after each change of its spec. */
  #keysOfRule(event: InformerEvent<DeviceTaintRule>): string[] {
    const { kind, object: rule } = event
    const [before] = beforeOf(event)
    if (kind === 'deleted') this.#evicted.delete(rule.metadata.uid ?? '')
    else if (before !== undefined && jsonEqual(before.spec, rule.spec)) return []
    const evicting = [rule, ...beforeOf(event)].filter(({ spec }) => spec.taint.effect === 'NoExecute')
    return [keyOf(rule), ...this.#usersWhere((device) => evicting.some((one) => selectsDevice(one, device)))]
  }

  #usersWhere(isConcerned: (device: DevicePlace) => boolean): string[] {
    const claims = [...this.#loop.read(this.#claims).values()]
    return claims.filter(({ status }) => status?.allocation?.devices?.results?.some(isConcerned)).flatMap((claim) => this.#usersOf(claim))
  }

  async #runPass(key: string, world: World): Promise<Result> {
    const { clock } = this.#context
    const pod = world.read(this.#pods).get(key)
    const eviction = pod && this.#evictionOf(pod, this.#evictingRules(world))
    if (pod === undefined || eviction === undefined) {
      if (this.#pending.delete(key) && pod !== undefined) this.#recordEviction(pod, 'Cancelling deletion', world)
      return done
    }
    if (pod.metadata.deletionTimestamp != null) return done
    for (const { metadata } of eviction.rules) this.#loop.wake(metadata.name ?? '', reportMs)
    const leftMs = eviction.atMs - clock.now()
    this.#pending.add(key)
    if (leftMs > 0) return requeueAfter(leftMs)
    await this.#evictPod(pod, eviction, world)
    this.#pending.delete(key)
    return done
  }

  #evictingRules(world: World): DeviceTaintRule[] {
    const rules = this.#rules === undefined ? [] : world.read(this.#rules).values()
    return [...rules].filter(({ spec }) => spec.taint.effect === 'NoExecute')
  }

  /** The earliest eviction by a claim that the Pod uses. A Pod without a node is not evicted. */
  #evictionOf(pod: Pod, rules: readonly DeviceTaintRule[]): DeviceEviction | undefined {
    if (nodeNameOf(pod) === '') return undefined
    const claims = this.#claimsOf(pod).filter((claim) => isReservedFor(claim, pod))
    const evictions = claims.flatMap((claim) => evictionOf(claim, this.#devices, rules) ?? [])
    if (evictions.length === 0) return undefined
    return { atMs: Math.min(...evictions.map(({ atMs }) => atMs)), rules: [...new Set(evictions.flatMap((one) => one.rules))] }
  }

  #claimsOf(pod: Pod): ResourceClaim[] {
    const { namespace, uid } = pod.metadata
    return deviceClaimsIn(pod).flatMap(({ name: claimName, isMade }) => {
      const claim = this.#loop.read(this.#claims).get(`${namespace}/${claimName}`)
      return claim === undefined || (isMade && podOfClaim(claim)?.uid !== uid) ? [] : [claim]
    })
  }

  async #evictPod({ metadata }: Pod, { rules }: DeviceEviction, world: World): Promise<void> {
    const { clock, signal } = this.#context
    const { name: podName = '', namespace, uid } = metadata
    const collection = world.collection(this.#pods)
    await unlessGone(async () => {
      const pod = await collection.get(podName, { namespace, signal })
      if (pod.metadata.uid !== uid || pod.metadata.deletionTimestamp != null) return
      this.#recordEviction(pod, 'Marking for deletion', world)
      const reason = { reason: 'DeletionByDeviceTaintManager', message: 'Device Taint manager: deleting due to NoExecute taint' }
      const tracksGenerations = this.#served.isGateOn('PodObservedGenerationTracking')
      const status = disruptedConditions(pod, reason, { nowMs: clock.now(), tracksGenerations })
      const patch = { metadata: { uid }, status }
      if (status !== undefined) await collection.patch(podName, patch, { type: 'strategic', subresource: 'status', namespace, signal })
      await collection.delete(podName, { namespace, signal }, uid === undefined ? {} : { preconditions: { uid } })
      for (const rule of rules) {
        const ruleUid = rule.metadata.uid ?? ''
        this.#evicted.set(ruleUid, (this.#evicted.get(ruleUid) ?? 0) + 1)
        this.#loop.wake(rule.metadata.name ?? '', reportMs)
      }
    })
  }

  /** Writes the condition of a rule, not more often than every ten seconds unless its spec has changed. */
  async #reportRule(key: string, world: World): Promise<Result> {
    const { clock, signal } = this.#context
    const rules = this.#rules
    const rule = rules && world.read(rules).get(key)
    if (rules === undefined || rule === undefined) return done
    const { generation, uid = '' } = rule.metadata
    const known = rule.status?.conditions?.find(({ type }) => type === 'EvictionInProgress')
    const waitMs = known === undefined ? 0 : Date.parse(known.lastTransitionTime ?? '') + reportMs - clock.now()
    if (known?.observedGeneration === generation && waitMs > 0) return requeueAfter(waitMs)
    const pending = this.#pendingBy(rule, world)
    const report = ruleReport(rule.spec.taint.effect, {
      pods: pending.length,
      namespaces: new Set(pending.map(({ metadata }) => metadata.namespace)).size,
      evicted: this.#evicted.get(uid) ?? 0,
      devices: () => this.#countDevices(rule, world),
    })
    const condition = { type: 'EvictionInProgress', ...report, observedGeneration: generation }
    const { lastTransitionTime: _before, ...untimed } = known ?? {}
    if (jsonEqual(untimed, condition)) return done
    const timed = { ...condition, lastTransitionTime: printTime(toInstant(clock.now())) }
    const object = { apiVersion: rule.apiVersion, kind: rule.kind, metadata: { name: key, uid }, status: { conditions: [timed] } }
    await unlessGone(() =>
      world.collection(rules).patch(key, object, { type: 'apply', subresource: 'status', fieldManager, force: true, signal }),
    )
    return done
  }

  /** The Pods that a rule evicts; for a rule without an effect those that it would evict. */
  #pendingBy(rule: DeviceTaintRule, world: World): Pod[] {
    const { effect } = rule.spec.taint
    if (effect !== 'NoExecute' && effect !== 'None') return []
    const present = [...world.read(this.#pods).values()].filter((pod) => {
      return pod.metadata.deletionTimestamp == null && deviceClaimsIn(pod).length > 0
    })
    return present.filter((pod) => this.#evictionOf(pod, [rule])?.rules.includes(rule) === true)
  }

  #countDevices(rule: DeviceTaintRule, world: World): { readonly published: number; readonly allocated: number } {
    const isSelected = (device: DevicePlace) => selectsDevice(rule, device)
    const allocated = [...world.read(this.#claims).values()].flatMap(({ status }) => status?.allocation?.devices?.results ?? [])
    return { published: countDevices(world.read(this.#slices).values(), isSelected), allocated: allocated.filter(isSelected).length }
  }

  #recordEviction({ metadata }: Pod, message: string, world: World): void {
    const { namespace, name: podName = '', uid = '' } = metadata
    const about = { apiVersion: 'v1', kind: 'Pod', namespace, name: podName, uid }
    world.record(about, { type: 'Normal', reason: 'DeviceTaintManagerEviction', message })
  }
}

/** True if DeviceTaintRules add taints. */
function hasRules({ level, isGateOn }: ServedLevel): boolean {
  return level >= 37 && isGateOn('DRADeviceTaintRules')
}

function beforeOf<T extends ApiObject>(event: InformerEvent<T>): T[] {
  return event.kind === 'updated' ? [event.before] : []
}

/** A Pod counts again when it gets a node or a claim. */
function keysOfPod(event: InformerEvent<Pod>): string[] {
  const { kind, object: pod } = event
  const claims = deviceClaimsIn(pod)
  if (claims.length === 0) return []
  if (kind === 'updated' && nodeNameOf(event.before) === nodeNameOf(pod) && jsonEqual(deviceClaimsIn(event.before), claims)) return []
  return [keyOf(pod)]
}
