import { type InformerEvent, unlessGone } from '@orch/client'
import { jsonEqual } from '@orch/core/json'
import { evictedStatus, noExecuteTaints, planEviction, type Stay, stayBeside } from '@orch/core/node-lifecycle'
import type { Node, Pod } from '@orch/core/workloads'
import type { Controller, ControllerContext } from '../controller.ts'
import { keyOf, parseKey } from '../informers/object-keys.ts'
import { type Caches, done, mapped, type ReconcilerSpec, type Result, reconciler, requeueAfter, type World } from '../reconciler/index.ts'
import type { ServedLevel } from '../workloads/replica-controllers.ts'
import { nodeNameOf, PodsByNode } from './pods-by-node.ts'

/** First level with a separate event source for this controller. */
const ownNameSince = 29

/** Deletes Pods from nodes with NoExecute taints, at once or when their tolerations end. */
export function taintEvictionController(served: ServedLevel): Controller {
  return reconciler('taint-eviction', (context) => new TaintEviction(served, context).spec)
}

/** One run of the controller. Its keys are those of Pods. */
class TaintEviction {
  readonly #served: ServedLevel
  readonly #context: ControllerContext
  readonly #bound = new PodsByNode()
  readonly #pods = mapped<Pod>('v1', 'pods', (event, caches) => this.#keysOfPod(event, caches))
  readonly #nodes = mapped<Node>('v1', 'nodes', (event) => this.#keysOfNode(event))
  /** Times of pending evictions by key, in monotonic milliseconds. Later changes of tolerations and taints do not change them. */
  readonly #waiting = new Map<string, number>()
  /** Keys of evictions with an event that have not succeeded yet. */
  readonly #announced = new Set<string>()

  constructor(served: ServedLevel, context: ControllerContext) {
    this.#served = served
    this.#context = context
  }

  get spec(): ReconcilerSpec<undefined> {
    return {
      watches: [this.#pods, this.#nodes],
      component: this.#served.level < ownNameSince ? 'taint-controller' : 'taint-eviction-controller',
      workersMax: 8,
      reconcile: ({ key, world }) => this.#runPass(key, world),
    }
  }

  /** A Pod on a node without taints needs a pass only if its eviction is pending. The taints of a later node enqueue its Pods. */
  #keysOfPod(event: InformerEvent<Pod>, caches: Caches): string[] {
    this.#bound.showPod(event)
    const { kind, object: pod } = event
    const node = caches.read(this.#nodes).get(nodeNameOf(pod))
    if (noExecuteTaints(node?.spec.taints).length === 0 && !this.#waiting.has(keyOf(pod))) return []
    if (
      kind === 'updated' &&
      nodeNameOf(event.before) === nodeNameOf(pod) &&
      jsonEqual(event.before.spec.tolerations, pod.spec.tolerations)
    )
      return []
    return [keyOf(pod)]
  }

  #keysOfNode(event: InformerEvent<Node>): Iterable<string> {
    const { kind, object: node } = event
    const taints = noExecuteTaints(node.spec.taints)
    if (kind === 'deleted' || (kind === 'added' && taints.length === 0)) return []
    if (kind === 'updated' && jsonEqual(noExecuteTaints(event.before.spec.taints), taints)) return []
    return this.#bound.keysOn(node.metadata.name ?? '')
  }

  async #runPass(key: string, world: World): Promise<Result> {
    const pod = world.read(this.#pods).get(key)
    const node = pod && world.read(this.#nodes).get(nodeNameOf(pod))
    if (pod === undefined) this.#scheduleEviction(key, { kind: 'forever' }, world)
    else if (node !== undefined) this.#scheduleEviction(key, this.#stayOf(pod, node), world)
    const dueMs = this.#waiting.get(key)
    if (dueMs === undefined) return done
    const leftMs = dueMs - this.#context.clock.monotonic()
    if (leftMs > 0) return requeueAfter(leftMs)
    await this.#evictPod(key, world)
    this.#announced.delete(key)
    this.#waiting.delete(key)
    return done
  }

  /** Sets or cancels the time of the eviction. A Pod of a deleted node keeps its time. */
  #scheduleEviction(key: string, stay: Stay, world: World): void {
    const { dueMs, isCancelled } = planEviction(stay, this.#waiting.get(key), this.#context.clock.monotonic())
    if (isCancelled && !this.#announced.delete(key)) this.#recordEvent(key, 'Cancelling deletion of Pod', world)
    if (dueMs === undefined) this.#waiting.delete(key)
    else this.#waiting.set(key, dueMs)
  }

  #stayOf(pod: Pod, node: Node): Stay {
    const hasComparisons = this.#served.isGateOn('TaintTolerationComparisonOperators')
    return stayBeside(noExecuteTaints(node.spec.taints), pod.spec.tolerations ?? [], hasComparisons)
  }

  async #evictPod(key: string, world: World): Promise<void> {
    const { clock, signal } = this.#context
    const { isGateOn } = this.#served
    if (!this.#announced.has(key)) this.#recordEvent(key, 'Marking for deletion Pod', world)
    this.#announced.add(key)
    const { namespace, name } = parseKey(key)
    const collection = world.collection(this.#pods)
    await unlessGone(async () => {
      const pod = await collection.get(name, { namespace, signal })
      const patch = isGateOn('PodDisruptionConditions')
        ? evictedStatus(pod, { nowMs: clock.now(), tracksGenerations: isGateOn('PodObservedGenerationTracking') })
        : undefined
      if (patch !== undefined) await collection.patch(name, patch, { type: 'strategic', subresource: 'status', namespace, signal })
      const { uid } = pod.metadata
      await collection.delete(name, { namespace, signal }, uid === undefined ? {} : { preconditions: { uid } })
    })
  }

  #recordEvent(key: string, what: string, world: World): void {
    const { namespace, name } = parseKey(key)
    const message = `${what} ${key}`
    world.record({ apiVersion: 'v1', kind: 'Pod', namespace, name }, { type: 'Normal', reason: 'TaintManagerEviction', message })
  }
}
