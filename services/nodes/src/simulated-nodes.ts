import { EventBudget, type Informer, type InformerEvent } from '@orch/client'
import type { NodesService, PodOnNode } from '@orch/core/contracts'
import {
  asksForSimulation,
  type LogEntry,
  logLines,
  PodLife,
  type PodScript,
  refusedStatus,
  scriptOf,
  statusPatch,
} from '@orch/core/pod-life'
import { isFinishedPod, type Node, type Pod } from '@orch/core/workloads'
import { connectToPod, retryDelayMs, sleep, type Workqueue } from '@orch/platform'
import { codePorts, codePrograms, layerOf, programsFor } from './code-scripts.ts'
import { ContainerSessions } from './container-sessions.ts'
import { type Following, follow, queueOf } from './following.ts'
import { KeyedListeners } from './keyed-listeners.ts'
import { Measurements } from './measurements.ts'
import { checkSettings, freeIndex, type NodeSettings } from './node-object.ts'
import { NodeScripts } from './node-scripts.ts'
import { createNodesService } from './nodes-service.ts'
import { askedActions, callAction, type FindRunning, ownCommands, ownPrograms, withOwnCommands } from './own-commands.ts'
import { type LoggedPod, logOf, type PodLogOptions } from './pod-log.ts'
import { PodScripts } from './pod-scripts.ts'
import { SourceReader } from './pod-sources.ts'
import { PodVolumes } from './pod-volumes.ts'
import { PodsOfNodes, placeOf } from './pods-of-nodes.ts'
import { ProgramRuns } from './program-runs.ts'
import { scriptedPorts, scriptedPrograms } from './programs/scripted.ts'
import { deleteNode, deletePod, keyOf, nameAndNamespace, newest, nodes, pods, requestToken, untaint, writePodStatus } from './requests.ts'
import { digestOf, isLeftToWrite, type RunningPod, shutDownPods, type Variables } from './running-pod.ts'
import { SimulatedNode, type SimulatedNodeOptions } from './simulated-node.ts'
import type { NodeHandle, NodesOptions, SimulatedNodes } from './stand-in.ts'
import { nodeTurns } from './turns.ts'
import { WrittenLogs } from './written-logs.ts'

/** Maximum Pods processed in parallel, which limits the requests of all nodes. */
const workersMax = 32
/** A manually bound Pod may exist before its claims. */
const claimRetryMs = 1000
/** Maximum pause between attempts to register a node, as in a kubelet. */
const registrationRetryMsMax = 7_000

/** Runs simulated nodes: one watch on Pods for all of them, one queue of Pods with due changes. */
export function startNodes(options: NodesOptions): SimulatedNodes {
  return new StandIn(options)
}

class StandIn implements SimulatedNodes {
  readonly #options: NodesOptions
  readonly #ending = new AbortController()
  readonly #nodes = new Map<string, SimulatedNode>()
  readonly #running = new Map<string, RunningPod>()
  readonly #podsOfNodes = new PodsOfNodes()
  readonly #queue: Workqueue
  readonly #pods: Informer<Pod>
  readonly #nodeObjects: Informer<Node>
  readonly #scripts: PodScripts
  readonly #sources: SourceReader
  readonly #nodeScripts: NodeScripts
  readonly service: NodesService
  readonly measurements: Measurements
  readonly #changes = new KeyedListeners()
  readonly #containers: ContainerSessions
  readonly #eventBudget = new EventBudget()
  readonly #ofAllNodes: Following & Pick<SimulatedNodeOptions, 'hasVolumes' | 'turns'>
  readonly #written = new WrittenLogs()

  constructor(options: NodesOptions) {
    const { names, client, clock, chance, log, queues, hasVolumes } = options
    const following: Following = { names, client, clock, random: chance.fraction, log, queues, signal: this.#ending.signal }
    this.#options = options
    this.#ofAllNodes = { ...following, hasVolumes, turns: nodeTurns(clock, following.signal) }
    const scriptFor = (pod: Pod) => this.#scriptOf(pod)
    const hasNode = (name: string) => this.#nodes.get(name)?.isRunning === true
    this.#sources = new SourceReader({
      ...following,
      nodeNamed: (name) => this.#nodeObjects.get(name),
      wake: (pod) => this.#queue.add(keyOf(pod)),
    })
    this.#containers = new ContainerSessions({
      ...{ names, clock, withAddresses: (pod) => this.#withAddresses(pod) },
      envOf: (pod, container) => this.#envOf(pod, container),
      filesOf: (pod, container) => scriptFor(pod).containers.get(container)?.files ?? new Map(),
      volumes: new PodVolumes({
        ...following,
        currentPod: (pod) => this.#withAddresses(this.#pods.get(...nameAndNamespace(keyOf(pod))) ?? pod),
        sources: this.#sources,
        requestToken: (pod, source) => requestToken(this.#nodes.get(pod.spec.nodeName ?? '')?.client ?? client, pod, { source, names }),
      }),
      programs: [codePrograms(options.codeScripts), scriptedPrograms(scriptFor)],
      ports: [codePorts(options.codeScripts), scriptedPorts(scriptFor)],
      endRun: ({ pod, life }, container, exitCode) => {
        life?.container(container)?.endRun({ exitCode }, clock.now())
        this.#queue.add(keyOf(pod))
      },
    })
    this.#queue = queueOf(following, {
      name: 'nodes',
      workersMax,
      work: (key) => this.#syncPod(key),
      problem: 'a node could not run a Pod yet',
    })
    this.#scripts = new PodScripts(following)
    const onError = (resource: string) => (err: unknown) => log.debug({ err, resource }, 'a collection is listed or watched again')
    this.#pods = follow(following, {
      resource: client.resource<Pod>(pods),
      select: { fieldSelector: 'spec.nodeName!=' },
      onEvent: (event) => this.#applyPod(event),
      // A list has one event for a write of a node and the changes before it.
      onListed: () => {
        for (const key of this.#running.keys()) this.#queue.add(key)
      },
      onError: onError('pods'),
    })
    this.#nodeObjects = follow(following, {
      resource: client.resource<Node>(nodes),
      onEvent: (event) => this.#applyNode(event),
      onError: onError('nodes'),
    })
    this.#nodeScripts = new NodeScripts({
      ...following,
      nodeNames: () => this.#nodes.keys(),
      nodeNamed: (name) => this.#nodeObjects.get(name),
      setCapacity: async (name, capacity) => this.#nodes.get(name)?.setCapacity(capacity),
      enter: async (name, { isRunning, health, shutdown }) => {
        const node = this.#nodes.get(name)
        if (node === undefined) return
        if (!isRunning) this.#stopNode(node)
        await node.setHealth(health)
        for (const key of shutdown === undefined ? [] : shutDownPods(this.#running, node, shutdown)) this.#queue.add(key)
        // A later step may switch it off before it is registered.
        if (isRunning && !node.isRunning) void this.#startInsistently(node)
      },
    })
    this.measurements = new Measurements({ names, clock, pods: this.#pods, nodes: this.#nodeObjects, hasNode, scriptFor })
    this.service = createNodesService({
      clock,
      hasNode,
      openPod: (pod, container) => this.#openPod(pod, container),
      findPod: (place) => {
        const pod = this.#findPod(place)
        return pod && { pod, life: this.#findLife(place) }
      },
      placeAt: (address, port) => this.#podsOfNodes.placeAt(address, port),
      measurements: this.measurements,
      containers: this.#containers,
      newName: chance.uuid,
    })
  }

  async add(settings: NodeSettings, isOff = false): Promise<NodeHandle> {
    checkSettings(settings)
    const node = this.#addNode(settings, false)
    if (!isOff) await this.#startNode(node)
    return this.#handleOf(node)
  }

  #addNode(settings: NodeSettings, isAdopted: boolean): SimulatedNode {
    const { names, level, families, clientFor } = this.#options
    const { name } = settings
    if (this.#nodes.has(name)) throw new Error(`a node ${name} is simulated already`)
    const read = () => this.#nodeObjects.get(name)
    const identity = { settings, isAdopted, index: freeIndex(this.#nodes.values(), read()?.spec.podCIDR), names, level, families }
    const retryResizes = (podsOfNode: Iterable<Pod>) => {
      for (const pod of podsOfNode) if (this.#running.get(keyOf(pod))?.life.isResizePending === true) this.#queue.add(keyOf(pod))
    }
    const node = new SimulatedNode({ ...this.#ofAllNodes, ...identity, client: clientFor(name), read, retryResizes })
    this.#nodes.set(name, node)
    return node
  }

  async #adopt({ metadata: { name = '', labels } }: Node): Promise<void> {
    try {
      await this.#startInsistently(this.#addNode({ name, ...(labels && { labels }) }, true))
    } catch (err) {
      this.#options.log.warn({ err, node: name }, 'a Node that asks for it is not simulated yet')
    }
  }

  async #release(node: SimulatedNode): Promise<void> {
    this.#stopNode(node)
    this.#forgetNode(node)
    await node.close()
    node.client.close()
  }

  get(name: string): NodeHandle | undefined {
    const node = this.#nodes.get(name)
    return node === undefined ? undefined : this.#handleOf(node)
  }

  get names(): readonly string[] {
    return [...this.#nodes.keys()]
  }

  #handleOf(node: SimulatedNode): NodeHandle {
    return {
      name: node.name,
      get isRunning() {
        return node.isRunning
      },
      stop: () => this.#stopNode(node),
      start: () => this.#startNode(node),
      delete: () => this.#deleteNode(node),
    }
  }

  async #startNode(node: SimulatedNode): Promise<void> {
    const registered = await node.start()
    if (registered !== undefined) {
      await untaint(registered, this.#options, this.#ending.signal)
      node.announce(registered)
    }
    this.#wakePods(node)
  }

  /** Starts a node for which no caller waits. Like a kubelet, it tries until it is registered or switched off. */
  async #startInsistently(node: SimulatedNode): Promise<void> {
    const { clock, chance, log } = this.#options
    const { signal } = this.#ending
    for (let attempt = 1; attempt === 1 || (node.isRunning && !signal.aborted); attempt++) {
      try {
        return await this.#startNode(node)
      } catch (err) {
        if (!signal.aborted) log.warn({ err, node: node.name }, 'a node is not registered yet')
      }
      await sleep(clock, retryDelayMs({ attempt, maxMs: registrationRetryMsMax, random: chance.fraction() }), signal)
    }
  }

  /** Followers of logs of its Pods are disconnected. */
  #stopNode(node: SimulatedNode): void {
    node.stop()
    this.#changes.notifyAll()
  }

  async #deleteNode(node: SimulatedNode): Promise<void> {
    await this.#release(node)
    await deleteNode(this.#options.client, node.name)
  }

  #forgetNode(node: SimulatedNode): void {
    if (this.#nodes.get(node.name) === node) this.#nodes.delete(node.name)
    this.#nodeScripts.forget(node.name)
    for (const [key, running] of this.#running) if (running.node === node) this.#forgetRunning(key, running)
  }

  async retain(names: ReadonlySet<string>): Promise<void> {
    for (const node of [...this.#nodes.values()]) if (!node.isAdopted && !names.has(node.name)) await this.#release(node)
  }

  async close(): Promise<void> {
    this.#ending.abort()
    for (const node of this.#nodes.values()) this.#stopNode(node)
    await Promise.all([this.#pods.done, this.#nodeObjects.done, this.#sources.done, this.#scripts.close(), this.#nodeScripts.close()])
    await this.#queue.close()
    this.#containers.close()
    for (const { programs } of this.#running.values()) programs?.close()
    for (const node of this.#nodes.values()) {
      await node.close()
      node.client.close()
    }
    this.#options.client.close()
  }

  /** The current Pod with this uid; undefined if it is gone, or bound to another node. */
  #findPod({ node, namespace, name, uid }: PodOnNode): Pod | undefined {
    const cached = this.#pods.get(name, namespace)
    if (cached?.metadata.uid !== uid || cached.spec.nodeName !== node) return undefined
    const running = this.#running.get(`${namespace}/${name}`)
    return newest(running?.uid === uid ? running.written : undefined, cached)
  }

  #findLife({ node, namespace, name, uid }: PodOnNode): PodLife | undefined {
    const running = this.#running.get(`${namespace}/${name}`)
    return running?.uid === uid && running.node.name === node ? running.life : undefined
  }

  #scriptOf(pod: Pod): PodScript {
    const { names } = this.#options
    return this.#scripts.scriptFor(pod, (layers) => scriptOf(pod, names, withOwnCommands(ownCommands(pod, names, layers), layers)))
  }

  #openPod(place: PodOnNode, container: string): Pick<PodLogOptions, 'onChange'> & { read(): LoggedPod } {
    const key = `${place.namespace}/${place.name}`
    const life = this.#findLife(place)
    let entries: readonly LogEntry[] = []
    return {
      read: () => {
        const pod = this.#findPod(place)
        if (pod !== undefined) entries = logOf(pod, container, this.#scriptOf(pod))
        return { pod, entries, written: (id) => this.#written.of(id), exactRun: (id) => life?.container(container)?.runOf(id) }
      },
      onChange: (listener) => this.#changes.listen(key, listener),
    }
  }

  #wakePods(node: SimulatedNode): void {
    const own = this.#podsOfNodes.of(node.name)
    for (const pod of own) node.keepAddress(pod)
    for (const pod of own) this.#queue.add(keyOf(pod))
  }

  /** Pods older than their Node wait for it, and some for its volumes or more of its resources. */
  #applyNode({ kind, object }: InformerEvent<Node>): void {
    const { name = '' } = object.metadata
    const node = this.#nodes.get(name)
    const isWanted = kind !== 'deleted' && asksForSimulation(object, this.#options.names)
    if (node === undefined) {
      if (isWanted) void this.#adopt(object)
      return
    }
    if (node.isAdopted && !isWanted) return void this.#release(node)
    if (kind !== 'deleted') this.#nodeScripts.observe(name)
    if (kind === 'added') this.#wakePods(node)
    else
      for (const key of this.#podsOfNodes.of(name).map(keyOf)) {
        const life = this.#running.get(key)?.life
        if (life?.isAttaching === true || life?.isResizePending === true) this.#queue.add(key)
      }
  }

  #applyPod(event: InformerEvent<Pod>): void {
    this.#podsOfNodes.apply(event)
    const { kind, object: pod } = event
    const { uid = '' } = pod.metadata
    const key = keyOf(pod)
    this.#changes.notify(key)
    const node = this.#nodes.get(pod.spec.nodeName ?? '')
    if (kind === 'deleted') this.#forgetPod(key, uid, pod.spec.nodeName)
    else if (node !== undefined && !isLeftToWrite(this.#running.get(key), pod)) {
      node.keepAddress(pod)
      this.#queue.add(key)
    }
  }

  #forgetPod(key: string, uid: string, nodeName = ''): void {
    const running = this.#running.get(key)
    if (running?.uid === uid) this.#forgetRunning(key, running)
    this.#scripts.forget(uid)
    this.measurements.forget(uid)
    this.#nodes.get(nodeName)?.releaseAddress(uid)
  }

  #forgetRunning(key: string, { node, uid, programs, sources }: RunningPod): void {
    this.#running.delete(key)
    programs?.close()
    sources?.close()
    node.release(uid)
    this.#containers.forget(uid)
  }

  async #syncPod(key: string): Promise<void> {
    const { clock } = this.#options
    const { signal } = this.#ending
    // The Pod is read after the wait: it may be deleted, and made again, meanwhile.
    if (!this.#running.has(key)) await Promise.all([this.#scripts.turn(), this.#sources.ready])
    const pod = this.#pods.get(...nameAndNamespace(key))
    const node = pod === undefined ? undefined : this.#nodes.get(pod.spec.nodeName ?? '')
    if (pod === undefined || node === undefined || !node.isRunning) return
    const running = this.#running.get(key) ?? (await this.#admitPod(key, pod, node))
    if (running === undefined) return
    const { life, sources } = running
    running.programs?.callProbes()
    await sources?.refresh(life.isStarting)
    if (this.#running.get(key) !== running) return
    const current = newest(running.written, pod)
    life.observe(current)
    const nowMs = clock.now()
    const { events, due, isGone } = life.advance(nowMs)
    this.#containers.observe(running.uid, life)
    running.programs?.follow()
    for (const event of events) if (event.type === 'Warning' || this.#eventBudget.take(nowMs)) node.record(current, event)
    const status = life.status(current.status, nowMs)
    // The scheduler may bind another Pod in its place before the answer of the write. A finalizer keeps the object alone.
    if (isGone || isFinishedPod({ ...current, status })) node.release(running.uid)
    const patch = statusPatch(current, status)
    if (patch !== undefined) await this.#writeStatus(key, running, () => writePodStatus(node.client, current, patch, signal))
    this.#changes.notify(key)
    if (isGone) {
      if (!running.isDeleted) await deletePod(node.client, current, signal)
      running.isDeleted = true
      return
    }
    if (sources?.hasUnboundClaims === true) this.#queue.addAfter(key, claimRetryMs, { background: true })
    if (due !== undefined && due.atMs <= nowMs) this.#queue.add(key)
    else if (due !== undefined) this.#queue.addAfter(key, Math.max(0, due.atMs - clock.now()), { background: due.isHopeless })
    else if (isFinishedPod({ ...current, status })) this.#forgetRunning(key, running)
  }

  /** The event of the write needs no pass, and it may be seen before the answer. An event of another writer does, also one before it. */
  async #writeStatus(key: string, running: RunningPod, write: () => Promise<Pod | undefined>): Promise<void> {
    let events = 0
    running.eventsOfWrite = 0
    try {
      running.written = (await write()) ?? running.written
    } finally {
      events = running.eventsOfWrite
      running.eventsOfWrite = undefined
    }
    const seen = this.#pods.get(...nameAndNamespace(key))
    const isOwn = events === 1 && seen?.metadata.resourceVersion === running.written?.metadata.resourceVersion
    if (isOwn) running.written = seen
    else if (events > 0) this.#queue.add(key)
  }

  /** Starts a new Pod of its node. Undefined if the node has nothing to do for it, or refuses it. */
  async #admitPod(key: string, pod: Pod, node: SimulatedNode): Promise<RunningPod | undefined> {
    const { level, clock } = this.#options
    const { uid = '', deletionTimestamp } = pod.metadata
    if (isFinishedPod(pod) && deletionTimestamp == null) {
      // It keeps its address until the object is deleted.
      if (pod.status.podIP) node.takeAddresses(pod)
      return undefined
    }
    const object = this.#nodeObjects.get(node.name)
    if (object === undefined) return undefined
    const isNew = pod.status.startTime == null && deletionTimestamp == null
    const refusal = isNew ? node.refusalOf(pod, object) : undefined
    if (refusal !== undefined) {
      node.record(pod, { type: 'Warning', ...refusal })
      const patch = statusPatch(pod, refusedStatus(pod, refusal, { level, nowMs: clock.now() }))
      await writePodStatus(node.client, pod, patch, this.#ending.signal)
      return undefined
    }
    const running = this.#openLife(pod, node)
    this.#running.set(key, running)
    node.pods.set(uid, running.life.allocatedPod)
    return running
  }

  #openLife(pod: Pod, node: SimulatedNode): RunningPod {
    const { level, names, clock } = this.#options
    const addresses = node.takeAddresses(pod)
    if (addresses === undefined) throw new Error(`node ${node.name} has no address left for the Pod ${keyOf(pod)}`)
    const layers = this.#scripts.layersFor(pod)
    const own = ownCommands(pod, names, layers)
    const code = programsFor(this.#options.codeScripts, pod)
    const find: FindRunning = (container, command) => this.#containers.find({ pod, life }, container, command)
    const all = new Map([...ownPrograms(own, find), ...code])
    const asked = askedActions(pod, own, (port) => this.#containers.portOf(pod, port) !== undefined)
    let programs: ProgramRuns | undefined
    const sources = this.#sources.open(pod)
    const connect = (port: number) => connectToPod(this.service, { pod: placeOf(pod), port })
    const environments = new Map<string, Variables>()
    const life = new PodLife({
      ...{ pod, names, level, addresses, hostAddresses: node.addresses, ...(sources && { sources }) },
      layers: [...withOwnCommands(own, layers), layerOf(code), asked],
      admitResize: (resized) => node.admitResize(resized),
      readLog: (container, run, linesMax) => {
        const { lines } = this.#written.of(run.id)
        if (lines.length > 0) return lines.slice(-linesMax)
        return logLines(logOf(pod, container, this.#scriptOf(pod)), run, { untilMs: clock.now(), linesMax })
      },
      onRun: (container) => {
        environments.delete(container)
        // A restarted container may have other resources than the Pod had at first.
        if (sources !== undefined || life.container(container)?.restartCount)
          environments.set(container, this.#envOf(life.allocatedPod, container))
        programs?.start(container)
      },
      newId: () => Buffer.from(this.#options.chance.bytes(32)).toString('hex'),
      digestOf,
    })
    if (all.size > 0 || asked.size > 0)
      programs = new ProgramRuns({
        ...{ clock, life, programs: all, turns: this.#ofAllNodes.turns.calls },
        call: (container, action) => callAction(container, action, { find, clock, level, address: addresses[0] ?? '', connect }),
        envOf: (name) => this.#envOf(pod, name),
        filesOf: (name) => this.#containers.filesOf({ pod, life }, name),
        log: (run, text, isPartial) => {
          this.#written.add(run, text, clock.now(), isPartial)
          this.#changes.notify(keyOf(pod))
        },
        onChange: () => this.#queue.add(keyOf(pod)),
      })
    const known = { uid: pod.metadata.uid ?? '', node, life, programs, sources, environments }
    return { ...known, written: undefined, eventsOfWrite: undefined, isDeleted: false }
  }

  /** The environment of a container: that of its start, or the current one from its objects. */
  #envOf(pod: Pod, container: string): Variables {
    const running = this.#running.get(keyOf(pod))
    const known = running?.environments.get(container)
    if (known !== undefined) return known
    const startedMs = running?.life.container(container)?.run?.startedMs
    const made = this.#sources.environmentOf(this.#withAddresses(pod), container, { startedMs, find: running?.sources?.find })
    return made.kind === 'environment' ? made.variables : {}
  }

  #withAddresses(pod: Pod): Pod {
    const node = this.#nodes.get(pod.spec.nodeName ?? '')
    const addresses = node?.takeAddresses(pod) ?? []
    const podIPs = addresses.map((ip) => ({ ip }))
    return { ...pod, status: { ...pod.status, hostIP: node?.addresses[0], podIP: addresses[0], ...(podIPs.length > 0 && { podIPs }) } }
  }
}
