import type { Informer, InformerEvent, ResourceClient } from '@orch/client'
import {
  type CompiledNodeScript,
  compileNodeScript,
  type NodeScriptObject,
  type NodeStep,
  nodeScriptPatch,
  simulationVersion,
} from '@orch/core/pod-life'
import type { Node } from '@orch/core/workloads'
import { onAbort, type Timer, type Workqueue } from '@orch/platform'
import { type Following, follow, queueOf, unlessOutdated } from './following.ts'
import { nodes } from './requests.ts'

export interface NodeScriptsOptions extends Following {
  nodeNames(): Iterable<string>
  /** The current Node in the API. Undefined if absent. */
  nodeNamed(name: string): Node | undefined
  setCapacity(node: string, capacity: Readonly<Record<string, string>>): Promise<void>
  enter(node: string, step: NodeStep): Promise<void>
}

interface Known {
  readonly object: NodeScriptObject
  readonly script: CompiledNodeScript
  readonly followers: Set<string>
}

/** The script of a node, from one generation of an object. */
interface Followed {
  readonly script: CompiledNodeScript
  readonly timers: readonly Timer[]
}

const begins: NodeStep = { atMs: 0, isRunning: true, health: { pressures: [], problems: [] } }

/** The objects that control simulated nodes: one watch, and a timer for each change of a node. */
export class NodeScripts {
  readonly #options: NodeScriptsOptions
  readonly #known = new Map<string, Known>()
  readonly #followed = new Map<string, Followed>()
  readonly #scripts: ResourceClient<NodeScriptObject>
  readonly #informer: Informer<NodeScriptObject>
  readonly #queue: Workqueue

  constructor(options: NodeScriptsOptions) {
    const { names, client, log, signal } = options
    this.#options = options
    this.#scripts = client.resource({ group: names.simulationDomain, version: simulationVersion, plural: 'nodescripts', namespaced: false })
    this.#queue = queueOf(options, {
      name: 'node scripts',
      workersMax: 4,
      work: (key) => (key.startsWith('node/') ? this.#followAt(key.slice('node/'.length)) : this.#writeStatus(key.slice('script/'.length))),
      problem: 'a script of nodes had no effect yet',
    })
    this.#informer = follow(options, {
      resource: this.#scripts,
      onEvent: (event) => this.#apply(event),
      onError: (err) => log.debug({ err }, 'scripts of nodes are listed or watched again'),
    })
    onAbort(signal, () => {
      for (const { timers } of this.#followed.values()) for (const timer of timers) timer.cancel()
    })
  }

  observe(node: string): void {
    if (this.#known.size > 0 || this.#followed.has(node)) this.#queue.add(`node/${node}`)
  }

  forget(node: string): void {
    for (const timer of this.#followed.get(node)?.timers ?? []) timer.cancel()
    this.#followed.delete(node)
    this.#count(node, undefined)
  }

  async close(): Promise<void> {
    await this.#informer.done
    await this.#queue.close()
  }

  #apply({ kind, object }: InformerEvent<NodeScriptObject>): void {
    const { name = '', uid, generation } = object.metadata
    const before = this.#known.get(name)
    const same = before?.object.metadata.uid === uid ? before : undefined
    if (kind === 'deleted') this.#known.delete(name)
    else if (same !== undefined && same.object.metadata.generation === generation) this.#known.set(name, { ...same, object })
    else this.#known.set(name, { object, script: compileNodeScript(object), followers: same?.followers ?? new Set() })
    if (kind !== 'deleted') this.#queue.add(`script/${name}`)
    if (this.#known.get(name)?.script !== before?.script) for (const node of this.#options.nodeNames()) this.#queue.add(`node/${node}`)
  }

  #scriptFor({ metadata: { labels } }: Node): Known | undefined {
    const matching = [...this.#known.values()].filter(({ script }) => script.matches(labels))
    const rank = (one: Known) => one.object.metadata.name ?? ''
    return matching.sort((one, other) => other.script.specificity - one.script.specificity || (rank(one) < rank(other) ? -1 : 1))[0]
  }

  /** Starts a node's current script, if it has changed. */
  async #followAt(name: string): Promise<void> {
    const { client, clock, log, nodeNamed, setCapacity, enter, signal } = this.#options
    const node = nodeNamed(name)
    if (node === undefined) return
    const found = this.#scriptFor(node)
    const patch = found && nodeScriptPatch(found.object, node)
    if (patch !== undefined) await unlessOutdated(client.resource<Node>(nodes).patch(name, patch, { type: 'merge', signal }))
    const before = this.#followed.get(name)
    if (before?.script === found?.script) return
    for (const timer of before?.timers ?? []) timer.cancel()
    const script = found?.script
    if (script === undefined) this.#followed.delete(name)
    else {
      const fail = (err: unknown) => log.debug({ err, node: name }, 'a node could not follow its script')
      const timers = script.steps.map((step) => clock.after(step.atMs, () => void enter(name, step).catch(fail)))
      this.#followed.set(name, { script, timers })
    }
    this.#count(name, script)
    await setCapacity(name, script?.capacity ?? {})
    if (before !== undefined && script?.steps[0]?.atMs !== 0) await enter(name, begins)
  }

  /** Counts a node for its script. A reread object has the same script. */
  #count(node: string, script: CompiledNodeScript | undefined): void {
    for (const known of this.#known.values()) {
      const isIts = known.script === script
      const hasChanged = isIts ? !known.followers.has(node) : known.followers.delete(node)
      if (isIts) known.followers.add(node)
      if (hasChanged) this.#queue.add(`script/${known.object.metadata.name}`)
    }
  }

  async #writeStatus(name: string): Promise<void> {
    const known = this.#known.get(name)
    if (known === undefined) return
    const { object, script, followers } = known
    const status = { matchedNodes: followers.size, problem: script.problem ?? null }
    if (object.status?.matchedNodes === status.matchedNodes && object.status.problem === script.problem) return
    const patch = { metadata: { uid: object.metadata.uid }, status }
    await unlessOutdated(this.#scripts.patch(name, patch, { type: 'merge', subresource: 'status', signal: this.#options.signal }))
  }
}
