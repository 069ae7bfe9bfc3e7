import { createHash } from 'node:crypto'
import { type Client, type Informer, type InformerEvent, startInformer } from '@orch/client'
import { type ApiObject, parseRevision, StatusError } from '@orch/core/meta'
import { type Names, subdomainLabel } from '@orch/core/names'
import { PodLife, scriptOf, statusPatch } from '@orch/core/pod-life'
import { isFinishedPod, type Node, type Pod } from '@orch/core/workloads'
import { type Chance, type Clock, createWorkqueue, type Log, sleep, type Workqueue, type WorkqueueMetrics } from '@orch/platform'
import { type NodeSettings, nodesMax } from './node-object.ts'
import { SimulatedNode } from './simulated-node.ts'

export interface NodesOptions {
  readonly names: Names
  /** Minor number of the release. */
  readonly level: number
  /** A client that reads all Pods. */
  readonly client: Client
  /** A client that acts as this node. */
  readonly clientFor: (node: string) => Client
  readonly clock: Clock
  readonly chance: Pick<Chance, 'fraction' | 'bytes'>
  readonly log: Log
  readonly queues: WorkqueueMetrics
  /** No controller of the nodes' lifecycle runs, so that the taint which new nodes get is taken off here. */
  readonly isUntainting: boolean
}

/** The simulated nodes of a server. */
export interface SimulatedNodes {
  /** Registers a node; resolves when it is there. */
  add(settings: NodeSettings): Promise<void>
  stop(): Promise<void>
}

/** Pods that are worked on at once: bounds the requests of all nodes. */
const workersMax = 32
/** Longest timer of Node. */
const timerMsMax = 2 ** 31 - 1
const pods = { group: '', version: 'v1', plural: 'pods', namespaced: true } as const

/** A Pod that a node runs. */
interface PodOnNode {
  readonly uid: string
  readonly node: SimulatedNode
  readonly life: PodLife
  /** The Pod after the last write of its node: the watch may show it later. */
  written: Pod | undefined
  isDeleted: boolean
}

/** Runs simulated nodes: one watch on Pods for all of them, one queue of Pods whose next change is due. */
export function startNodes(options: NodesOptions): SimulatedNodes {
  return new StandIn(options)
}

class StandIn implements SimulatedNodes {
  readonly #options: NodesOptions
  readonly #ending = new AbortController()
  readonly #nodes = new Map<string, SimulatedNode>()
  readonly #running = new Map<string, PodOnNode>()
  readonly #queue: Workqueue
  readonly #informer: Informer<Pod>
  readonly #digests = new Map<string, string>()

  constructor(options: NodesOptions) {
    const { client, clock, chance, log, queues } = options
    const { signal } = this.#ending
    this.#options = options
    this.#queue = createWorkqueue({
      name: 'nodes',
      metrics: queues,
      work: (key) => this.#syncPod(key),
      onError: (key, err, failures) => log[failures < 3 ? 'debug' : 'warn']({ key, err, failures }, 'a node could not run a Pod yet'),
      clock,
      random: chance.fraction,
      signal,
      workersMax,
    })
    this.#informer = startInformer<Pod>({
      resource: client.resource<Pod>(pods),
      select: { fieldSelector: 'spec.nodeName!=' },
      signal,
      sleep: (delayMs, ending) => sleep(clock, delayMs, ending),
      random: chance.fraction,
      onEvent: (event) => this.#applyEvent(event),
      onError: (err) => log.debug({ err }, 'Pods are listed or watched again'),
    })
  }

  async add(settings: NodeSettings): Promise<void> {
    const { names, level, clientFor, clock, chance, log } = this.#options
    if (this.#nodes.has(settings.name)) throw new Error(`a node ${settings.name} is simulated already`)
    const index = this.#freeIndex()
    const { signal } = this.#ending
    const client = clientFor(settings.name)
    const node = new SimulatedNode({ settings, index, names, level, client, clock, random: chance.fraction, log, signal })
    this.#nodes.set(settings.name, node)
    await node.start()
    if (this.#options.isUntainting) await this.#untaint(settings.name)
    for (const pod of this.#informer.values()) if (pod.spec.nodeName === settings.name) this.#queue.add(keyOf(pod))
  }

  async #untaint(name: string): Promise<void> {
    const { client, names } = this.#options
    const notReady = subdomainLabel(names, 'node', 'not-ready')
    const collection = client.resource<Node>({ group: '', version: 'v1', plural: 'nodes', namespaced: false })
    const { spec } = await collection.get(name)
    if (!spec.taints?.some(({ key }) => key === notReady)) return
    const left = spec.taints.filter(({ key }) => key !== notReady)
    await collection.patch(name, { spec: { taints: left } }, { type: 'merge', signal: this.#ending.signal })
  }

  #freeIndex(): number {
    const taken = new Set([...this.#nodes.values()].map(({ index }) => index))
    let index = 0
    while (taken.has(index)) index += 1
    if (index >= nodesMax) throw new Error(`there are ${nodesMax} simulated nodes, and no address is left for a further one`)
    return index
  }

  async stop(): Promise<void> {
    this.#ending.abort()
    await this.#informer.done
    await this.#queue.close()
    for (const node of this.#nodes.values()) {
      await node.close()
      node.client.close()
    }
    this.#options.client.close()
  }

  #applyEvent({ kind, object: pod }: InformerEvent<Pod>): void {
    const { uid = '' } = pod.metadata
    const key = keyOf(pod)
    if (kind === 'deleted') this.#forgetPod(key, uid, pod.spec.nodeName)
    else if (this.#nodes.has(pod.spec.nodeName ?? '')) this.#queue.add(key)
  }

  #forgetPod(key: string, uid: string, nodeName = ''): void {
    if (this.#running.get(key)?.uid === uid) this.#running.delete(key)
    this.#nodes.get(nodeName)?.releaseAddress(uid)
  }

  /** Makes the changes of a Pod that are due, in one write. */
  async #syncPod(key: string): Promise<void> {
    const { clock } = this.#options
    const pod = this.#informer.get(...nameAndNamespace(key))
    const node = pod === undefined ? undefined : this.#nodes.get(pod.spec.nodeName ?? '')
    if (pod === undefined || node === undefined || !node.isRunning) return
    const running = this.#runPod(key, pod, node)
    if (running === undefined) return
    const { life } = running
    const current = newest(running.written, pod)
    life.observe(current)
    const nowMs = clock.now()
    const { events, due, isGone } = life.advance(nowMs)
    for (const event of events) node.record(current, event)
    const status = life.status(current.status, nowMs)
    await this.#writeStatus(running, current, statusPatch(current, status))
    if (isGone) return this.#deletePod(running, current)
    if (due !== undefined) {
      this.#queue.addAfter(key, Math.min(timerMsMax, Math.max(0, due.atMs - clock.now())), { background: due.isHopeless })
    } else if (isFinishedPod({ ...current, status })) {
      this.#running.delete(key)
    }
  }

  /** The Pod with its life, which begins now if the node has not seen it. Undefined: there is nothing to do for it. */
  #runPod(key: string, pod: Pod, node: SimulatedNode): PodOnNode | undefined {
    const { level, names } = this.#options
    const { uid = '', deletionTimestamp } = pod.metadata
    const known = this.#running.get(key)
    if (known?.uid === uid) return known
    if (isFinishedPod(pod) && deletionTimestamp == null) return undefined
    const address = node.takeAddress(pod)
    if (address === undefined) throw new Error(`node ${node.name} has no address left for the Pod ${key}`)
    const script = scriptOf(pod, names)
    const hostAddress = node.address
    const life = new PodLife({
      ...{ pod, script, level, address, hostAddress },
      newId: this.#newId,
      digestOf: this.#digestOf,
    })
    for (const message of script.problems) node.record(pod, { type: 'Warning', reason: 'InvalidSimulation', message })
    const running = { uid, node, life, written: undefined, isDeleted: false }
    this.#running.set(key, running)
    return running
  }

  async #writeStatus(running: PodOnNode, pod: Pod, patch: object | undefined): Promise<void> {
    if (patch === undefined) return
    const { name = '', namespace } = pod.metadata
    const { signal } = this.#ending
    const collection = running.node.client.resource<Pod>(pods)
    try {
      running.written = await collection.patch(name, patch, { type: 'strategic', subresource: 'status', namespace, signal })
    } catch (error) {
      if (!isOfAnotherPod(error)) throw error
    }
  }

  /** The last step of a graceful deletion. */
  async #deletePod(running: PodOnNode, { metadata: { name = '', namespace, uid } }: Pod): Promise<void> {
    if (running.isDeleted) return
    const { signal } = this.#ending
    const collection = running.node.client.resource<Pod>(pods)
    try {
      await collection.delete(name, { namespace, signal }, { gracePeriodSeconds: 0, preconditions: { uid } })
    } catch (error) {
      if (!isOfAnotherPod(error)) throw error
    }
    running.isDeleted = true
  }

  readonly #newId = (): string => Buffer.from(this.#options.chance.bytes(32)).toString('hex')

  /** Images are few and Pods are many. */
  readonly #digestOf = (image: string): string => {
    const known = this.#digests.get(image)
    if (known !== undefined) return known
    const digest = createHash('sha256').update(image).digest('hex')
    if (this.#digests.size >= imagesMax) this.#digests.clear()
    this.#digests.set(image, digest)
    return digest
  }
}

/** Remembered digests; beyond them all are forgotten. */
const imagesMax = 1000

/** The Pod is gone, or another one has its name. */
function isOfAnotherPod(error: unknown): boolean {
  return error instanceof StatusError && (error.reason === 'NotFound' || error.reason === 'Conflict')
}

function newest(written: Pod | undefined, cached: Pod): Pod {
  return written !== undefined && revisionOf(written) > revisionOf(cached) ? written : cached
}

function revisionOf({ metadata: { resourceVersion = '' } }: ApiObject): number {
  return parseRevision(resourceVersion) ?? 0
}

function keyOf({ metadata: { namespace, name } }: ApiObject): string {
  return `${namespace}/${name}`
}

function nameAndNamespace(key: string): [name: string, namespace: string] {
  const slash = key.indexOf('/')
  return [key.slice(slash + 1), key.slice(0, slash)]
}
