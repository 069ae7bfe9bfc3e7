import { createHash } from 'node:crypto'
import type { Informer, InformerEvent, ResourceClient } from '@orch/client'
import {
  type CompiledScript,
  chooseScript,
  compileScript,
  type PodScript,
  type ScriptLayer,
  type ScriptObject,
  simulationVersion,
} from '@orch/core/pod-life'
import type { Pod } from '@orch/core/workloads'
import { TurnBudget, type Workqueue } from '@orch/platform'
import { type Following, follow, queueOf, unlessOutdated } from './following.ts'
import { keyOf } from './requests.ts'

interface Known {
  readonly object: ScriptObject
  readonly script: CompiledScript
  /** Uids of the Pods that use it. */
  readonly followers: Set<string>
}

/** The scripts of a collection by namespace, '' for cluster scripts, then by name. */
type Collection = Map<string, Map<string, Known>>

/** Maximum scripts evaluated in one turn of the event loop: about ten milliseconds. */
const scriptsPerTurn = 4000

/** The objects that control Pods: one watch for each kind, and a status that counts the Pods of each. */
export class PodScripts {
  readonly #options: Following
  readonly #namespaced: Collection = new Map()
  readonly #ofCluster: Collection = new Map()
  /** The scripts of a Pod, by its uid. */
  readonly #followed = new Map<string, readonly Known[]>()
  readonly #scripts = new WeakMap<Pod, PodScript>()
  readonly #resources: Readonly<Record<'namespaced' | 'ofCluster', ResourceClient<ScriptObject>>>
  readonly #informers: readonly Informer<ScriptObject>[]
  readonly #queue: Workqueue
  readonly #ready = Promise.withResolvers<unknown>()
  #isReady = false
  readonly #budget = new TurnBudget(scriptsPerTurn)

  constructor(options: Following) {
    const { names, client, log } = options
    this.#options = options
    const resource = (plural: string, namespaced: boolean) =>
      client.resource<ScriptObject>({ group: names.simulationDomain, version: simulationVersion, plural, namespaced })
    this.#resources = { namespaced: resource('podscripts', true), ofCluster: resource('clusterpodscripts', false) }
    this.#queue = queueOf(options, {
      name: 'scripts',
      workersMax: 4,
      work: (key) => this.#writeStatus(key),
      problem: 'a script could not be counted yet',
    })
    const followIn = (collection: Collection, its: ResourceClient<ScriptObject>) =>
      follow(options, {
        resource: its,
        onEvent: (event) => this.#apply(collection, event),
        onError: (err) => {
          log.debug({ err }, 'scripts are listed or watched again')
          this.#ready.resolve(undefined)
        },
      })
    const { namespaced, ofCluster } = this.#resources
    this.#informers = [followIn(this.#namespaced, namespaced), followIn(this.#ofCluster, ofCluster)]
    void Promise.all(this.#informers.map(({ synced }) => synced)).then(this.#ready.resolve)
  }

  /** Resolves when a Pod may select scripts: they are loaded, or cannot be, and this turn of the event loop has capacity for evaluating all of them. */
  async turn(): Promise<void> {
    await this.#ready.promise
    this.#isReady = true
    await this.#budget.take(1 + this.#count)
  }

  /** The scripts for a Pod, the strongest last. They stay the same until the Pod is gone. */
  layersFor(pod: Pod): ScriptLayer[] {
    const { uid = '', namespace = '' } = pod.metadata
    const followed = this.#followed.get(uid) ?? this.#choose(pod, uid, namespace)
    return followed.map(({ script }) => script.layer)
  }

  /** The script of one state of a Pod, made once: each of a thousand containers asks for it. */
  scriptFor(pod: Pod, make: (layers: readonly ScriptLayer[]) => PodScript): PodScript {
    const known = this.#scripts.get(pod)
    if (known !== undefined) return known
    const script = make(this.layersFor(pod))
    if (this.#isReady) this.#scripts.set(pod, script)
    return script
  }

  get #count(): number {
    let count = 0
    for (const collection of [this.#namespaced, this.#ofCluster]) for (const list of collection.values()) count += list.size
    return count
  }

  #choose(pod: Pod, uid: string, namespace: string): readonly Known[] {
    const lists = [this.#ofCluster.get(''), this.#namespaced.get(namespace)]
    const chosen = lists.flatMap((list) => {
      if (list === undefined) return []
      const script = chooseScript(scriptsOf(list), pod, (one) => draw(one, uid))
      return (script && list.get(script.name)) ?? []
    })
    if (this.#isReady) this.#followed.set(uid, chosen)
    for (const { object, followers } of chosen) {
      followers.add(uid)
      this.#queue.add(keyOf(object))
    }
    return chosen
  }

  forget(uid: string): void {
    for (const { object, followers } of this.#followed.get(uid) ?? []) {
      followers.delete(uid)
      this.#queue.add(keyOf(object))
    }
    this.#followed.delete(uid)
  }

  async close(): Promise<void> {
    await Promise.all(this.#informers.map(({ done }) => done))
    await this.#queue.close()
  }

  #apply(collection: Collection, { kind, object }: InformerEvent<ScriptObject>): void {
    const { namespace = '', name = '', uid, generation } = object.metadata
    const list = collection.get(namespace) ?? new Map<string, Known>()
    collection.set(namespace, list)
    const before = list.get(name)
    if (kind === 'deleted') {
      list.delete(name)
      if (list.size === 0) collection.delete(namespace)
      return
    }
    const same = before?.object.metadata.uid === uid ? before : undefined
    const script = same !== undefined && same.object.metadata.generation === generation ? same.script : compileScript(object)
    list.set(name, { object, script, followers: same?.followers ?? new Set() })
    this.#queue.add(keyOf(object))
  }

  async #writeStatus(key: string): Promise<void> {
    const slash = key.indexOf('/')
    const [namespace, name] = [key.slice(0, slash), key.slice(slash + 1)]
    const known = (namespace === '' ? this.#ofCluster : this.#namespaced).get(namespace)?.get(name)
    if (known === undefined) return
    const { object, script, followers } = known
    const status = { matchedPods: followers.size, problem: script.problem ?? null }
    if (object.status?.matchedPods === status.matchedPods && object.status.problem === script.problem) return
    const resource = this.#resources[namespace === '' ? 'ofCluster' : 'namespaced']
    const options = { type: 'merge', subresource: 'status', signal: this.#options.signal, ...(namespace !== '' && { namespace }) } as const
    await unlessOutdated(resource.patch(name, { metadata: { uid: object.metadata.uid }, status }, options))
  }
}

function* scriptsOf(list: ReadonlyMap<string, Known>): Generator<CompiledScript> {
  for (const { script } of list.values()) yield script
}

/** A number in [0, 1) derived from the uids, which depend on the seed of the server. */
function draw({ uid }: CompiledScript, podUid: string): number {
  const digest = createHash('sha256').update(`${uid} ${podUid}`).digest()
  return digest.readUIntBE(0, 6) / 2 ** 48
}
