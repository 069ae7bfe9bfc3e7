import { type InformerEvent, unlessGone } from '@orch/client'
import { subdomainLabel } from '@orch/core/names'
import {
  type CollectionOptions,
  collectPods,
  failedStatus,
  isOutOfService,
  type Quarantine,
  stepQuarantine,
} from '@orch/core/node-lifecycle'
import { isFinishedPod, type Node, type Pod } from '@orch/core/workloads'
import type { Controller, ControllerContext } from '../controller.ts'
import { keyOf } from '../informers/object-keys.ts'
import { done, mapped, type ReconcilerSpec, type Result, reconciler, requeueAfter, type Waking, type World } from '../reconciler/index.ts'
import type { ServedLevel } from '../workloads/replica-controllers.ts'
import { nodeNameOf } from './pods-by-node.ts'
import { settleAll } from './settle-all.ts'

export interface PodCollectorOptions {
  /** Number of finished Pods to keep; 0 for all. */
  readonly terminatedPodsMax: number
}

/** Interval of passes after the start, as upstream. */
const periodMs = 20_000
/** The only key: a pass covers all Pods. */
const everything = 'pods'

/** Deletes Pods that no kubelet will delete. A pass runs only after an event with work for it. */
export function podCollector(served: ServedLevel, options: PodCollectorOptions): Controller {
  return reconciler('podgc', (context, loop) => new PodCollector(served, options, context, loop).spec)
}

/** One run of the controller. */
class PodCollector {
  readonly #isGateOn: ServedLevel['isGateOn']
  readonly #options: CollectionOptions
  readonly #context: ControllerContext
  readonly #loop: Waking
  readonly #startMs: number
  readonly #pods = mapped<Pod>('v1', 'pods', (event) => this.#showPod(event))
  readonly #nodes = mapped<Node>('v1', 'nodes', (event) => this.#showNode(event))
  readonly #finished = new Set<string>()
  #quarantine: Quarantine = new Map()
  /** The first pass sees the filled caches. */
  #isFollowing = false

  constructor({ level, isGateOn }: ServedLevel, { terminatedPodsMax }: PodCollectorOptions, context: ControllerContext, loop: Waking) {
    const outOfServiceTaint = isGateOn('NodeOutOfServiceVolumeDetach') ? subdomainLabel(context.names, 'node', 'out-of-service') : undefined
    this.#isGateOn = isGateOn
    this.#options = { terminatedMax: terminatedPodsMax, level, outOfServiceTaint }
    this.#context = context
    this.#loop = loop
    this.#startMs = context.clock.monotonic()
  }

  get spec(): ReconcilerSpec<undefined> {
    return { watches: [this.#pods, this.#nodes], keys: [everything], reconcile: ({ world }) => this.#runPass(world) }
  }

  async #runPass(world: World): Promise<Result> {
    this.#isFollowing = true
    const [pods, nodes] = [[...world.read(this.#pods).values()], world.read(this.#nodes)]
    const { terminated, outOfService, unscheduled } = collectPods(pods, (name) => nodes.get(name), this.#options)
    const missing = pods.map(nodeNameOf).filter((name) => name !== '' && nodes.get(name) === undefined)
    const { quarantine, ended } = stepQuarantine(this.#quarantine, missing, this.#tickMs)
    this.#quarantine = quarantine
    const gone = await this.#findGone(world, ended)
    const orphans = pods.filter((pod) => gone.has(nodeNameOf(pod)))
    const due = new Set([...terminated, ...outOfService, ...orphans, ...unscheduled])
    await settleAll([...due], (pod) => this.#removePod(world, pod, gone.has(nodeNameOf(pod))))
    return quarantine.size === 0 ? done : requeueAfter(this.#untilTickMs())
  }

  /** Asks the server, as the cache may be outdated. */
  async #findGone(world: World, names: readonly string[]): Promise<ReadonlySet<string>> {
    const { signal } = this.#context
    const gone = new Set<string>()
    const asked = names.filter((name) => world.read(this.#nodes).get(name) === undefined)
    await settleAll(asked, async (name) => {
      if ((await unlessGone(() => world.collection(this.#nodes).get(name, { signal }))) === undefined) gone.add(name)
    })
    return gone
  }

  async #removePod(world: World, pod: Pod, isOrphan: boolean): Promise<void> {
    const { clock, signal } = this.#context
    const { name = '', namespace, uid } = pod.metadata
    const collection = world.collection(this.#pods)
    if (this.#isGateOn('PodDisruptionConditions')) {
      const tracksGenerations = this.#isGateOn('PodObservedGenerationTracking')
      const patch = failedStatus(pod, isOrphan, { nowMs: clock.now(), tracksGenerations })
      if (patch !== undefined) await collection.patch(name, patch, { type: 'strategic', subresource: 'status', namespace, signal })
    }
    const preconditions = uid === undefined ? {} : { preconditions: { uid } }
    await collection.delete(name, { namespace, signal }, { gracePeriodSeconds: 0, ...preconditions })
  }

  #showPod({ kind, object: pod }: InformerEvent<Pod>): string[] {
    const isDeleted = kind === 'deleted'
    if (isDeleted || !isFinishedPod(pod)) this.#finished.delete(keyOf(pod))
    else this.#finished.add(keyOf(pod))
    const { terminatedMax } = this.#options
    const isCrowded = terminatedMax > 0 && this.#finished.size > terminatedMax
    if (isCrowded || (!isDeleted && this.#isStranded(pod))) this.#wakeLoop()
    return []
  }

  /** Bound to a missing node, or under deletion without a kubelet. */
  #isStranded(pod: Pod): boolean {
    const name = nodeNameOf(pod)
    const isTerminating = pod.metadata.deletionTimestamp != null
    if (name === '') return isTerminating
    const node = this.#loop.read(this.#nodes).get(name)
    return node === undefined || (isTerminating && this.#isOutOfService(node))
  }

  #showNode({ kind, object: node }: InformerEvent<Node>): string[] {
    if (kind === 'deleted' || this.#isOutOfService(node)) this.#wakeLoop()
    return []
  }

  #isOutOfService(node: Node): boolean {
    const { outOfServiceTaint } = this.#options
    return outOfServiceTaint !== undefined && isOutOfService(node, outOfServiceTaint)
  }

  #wakeLoop(): void {
    if (this.#isFollowing) this.#loop.wake(everything, this.#untilTickMs())
  }

  /** The time of the current tick: a pass begins some milliseconds after it. */
  get #tickMs(): number {
    return Math.floor((this.#context.clock.monotonic() - this.#startMs) / periodMs) * periodMs
  }

  #untilTickMs(): number {
    return periodMs - ((this.#context.clock.monotonic() - this.#startMs) % periodMs)
  }
}
