import { EventEmitter } from 'node:events'
import type { Server } from 'node:net'
import { type Client, unlessRefused } from '@orch/client'
import type { NodesService, Stream } from '@orch/core/contracts'
import { lazily } from '@orch/core/memo'
import { type ApiObject, notFound } from '@orch/core/meta'
import { domainGroup } from '@orch/core/names'
import { simulatedStorage } from '@orch/core/workloads'
import type {
  CodeScript,
  CommandProgram,
  ContainerProgram,
  Measurements,
  NodeHandle,
  NodeSettings,
  PodMatch,
  PortHandler,
  SimulatedNodes,
} from '@orch/nodes'
import { type CidrPair, failedStream, type Metrics, PushStream, workqueueMetricsOf } from '@orch/platform'
import { type Identity, nodeUserPrefix } from '../controllers/open.ts'
import type { Surroundings } from '../surroundings.ts'

/** Connects a gateway to nodes that open later, because nodes are clients of the gateway. */
export interface NodesDoor {
  readonly service: NodesService
  open(nodes: NodesService): void
}

/** No node is known before `open`. */
export function createNodesDoor(): NodesDoor {
  let opened: NodesService | undefined
  const unknown = (node: string) => notFound({ group: '', resource: 'nodes' }, node)
  const failed = (node: string) => failedStream(unknown(node))
  return {
    service: {
      logs: (request, context) => opened?.logs(request, context) ?? failed(request.pod.node),
      exec: (request, context) => opened?.exec(request, context) ?? failed(request.pod.node),
      attach: (request, context) => opened?.attach(request, context) ?? failed(request.pod.node),
      forward: (request, context) => opened?.forward(request, context) ?? failed(request.pod?.node ?? ''),
      metrics: (request, context) => opened?.metrics(request, context) ?? nothing(),
      input: async (request, context) => opened?.input(request, context) ?? {},
      async request(request, context) {
        if (opened === undefined) throw unknown(request.node)
        return opened.request(request, context)
      },
    },
    open(nodes) {
      opened = nodes
    },
  }
}

function nothing(): Stream<never> {
  const parts = new PushStream<never>()
  parts.end()
  return parts
}

export interface SimulatedNodeState {
  readonly settings: NodeSettings
  /** The node is off and sends no heartbeats. */
  readonly isOff?: boolean
}

/** Nodes with default settings. */
export function usualNodes(count: number): SimulatedNodeState[] {
  return Array.from({ length: count }, (_, index) => ({ settings: { name: `node-${index + 1}` } }))
}

export interface NodesParts {
  readonly simulated: readonly SimulatedNodeState[]
  /** True if simulated volumes are available; then their storage class exists. */
  readonly hasVolumes: boolean
  /** True if `makeNodeObjects` has run. */
  readonly hasObjects: boolean
  /** The address ranges of Services. Nodes have an address of each of their families. */
  readonly serviceRanges: CidrPair
  /** The groups of nodes besides `system:nodes`. */
  readonly nodeGroups: readonly string[]
  /** A client that acts as this identity. */
  clientAs(identity: Identity): Client
  readonly metrics: Metrics
  /** Opened for the gateway together with the first node. */
  readonly door: NodesDoor
}

/** The identity that simulates all nodes and reads all their Pods. */
export const standIn: Identity = { name: 'system:simulated-nodes', groups: ['system:masters'] }

/** Registers the functions of a script. */
interface ContainerCode {
  /** Sets the program of the container; each run calls it. */
  onStart(program: ContainerProgram): void
  /** Answers commands that match a pattern. `*` matches one word; as the last word it matches any number of words. The first match counts. */
  exec(command: readonly string[], program: CommandProgram): void
  /** Handles the connections to a port, by a function or by a server of Node.js, such as one of `https.createServer`, which need not listen. */
  port(port: number, handler: PortHandler | Server): void
}

/** The simulated nodes of a server. */
export interface ServerNodes {
  /** Registers a node; resolves when its object exists. Rejects for the name of a simulated node. */
  add(settings: NodeSettings): Promise<NodeHandle>
  /** Throws if no simulated node has this name. */
  get(name: string): NodeHandle
  /**
   * Defines in code the behaviour of matching containers that start from now on. The first matching script applies, and it overrides script objects
   * and annotations. Disposing of it affects later Pods only.
   */
  script(match: PodMatch, define: (container: ContainerCode) => void): Disposable
  readonly names: readonly string[]
}

/** The nodes of a server, in a form that another server can simulate. */
export interface OpenNodes extends ServerNodes {
  readonly simulated: readonly SimulatedNodeState[]
  /** The usage of Pods that the server serves; undefined if it does not serve metrics.k8s.io itself. */
  readonly measurements: Measurements | undefined
  /** Adapts to a restored state, by default that of the start: simulates its nodes alone, and creates the kinds of scripts. */
  restored(state?: Pick<NodesParts, 'simulated' | 'hasObjects'>): Promise<void>
}

/** Simulates nodes, which run Pods without containers; resolves when the requested nodes are registered. Nothing runs before the first node. */
export async function openNodes(parts: NodesParts, surroundings: Surroundings): Promise<OpenNodes> {
  let nodes: SimulatedNodes | undefined
  const codeScripts = new Set<CodeScript>()
  const opened = lazily(async () => {
    nodes = await startAll({ ...parts, codeScripts }, surroundings)
    return nodes
  })
  const known = new Map<string, NodeSettings>()
  const makeKinds = async () => {
    const { installScriptKinds } = await import('@orch/nodes')
    const client = parts.clientAs(standIn)
    await installScriptKinds(client, surroundings.catalogue.names)
    client.close()
  }
  const add = async (settings: NodeSettings, isOff = false) => {
    const node = await (await opened()).add(settings, isOff)
    known.set(settings.name, settings)
    return node
  }
  if (parts.simulated.length > 0) {
    await Promise.all(parts.simulated.map(({ settings, isOff }) => add(settings, isOff)))
  }
  return {
    add: (settings) => add(settings),
    async restored({ simulated, hasObjects } = parts) {
      if (nodes !== undefined && !hasObjects) await makeKinds()
      const unchanged = simulated.filter(({ settings }) => known.get(settings.name) === settings)
      await nodes?.retain(new Set(unchanged.map(({ settings }) => settings.name)))
      for (const { settings, isOff = false } of simulated) {
        const node = nodes?.get(settings.name)
        if (node === undefined) await add(settings, isOff)
        else if (isOff) node.stop()
        else if (!node.isRunning) await node.start()
      }
    },
    get(name) {
      const node = nodes?.get(name)
      if (node === undefined) throw new Error(`no node ${name} is simulated; there are: ${(nodes?.names ?? []).join(', ') || 'none'}`)
      return node
    },
    get names() {
      return nodes?.names ?? []
    },
    get simulated() {
      return [...known.values()].flatMap((settings) => {
        const node = nodes?.get(settings.name)
        return node === undefined ? [] : [{ settings, isOff: !node.isRunning }]
      })
    },
    get measurements() {
      const { catalogue } = surroundings
      const serves = catalogue.group(domainGroup(catalogue.names, 'metrics')) !== undefined
      return serves ? nodes?.measurements : undefined
    },
    script(match, define) {
      const unknown = Object.keys(match ?? {}).find((name) => !matched.has(name))
      requireThat(typeof match === 'object' && match !== null, 'script(match)', 'an object such as { labels: { app: "web" } }')
      requireThat(unknown === undefined, `script({ ${unknown} })`, [...matched].join(', '))
      requireThat(match.images === undefined || Array.isArray(match.images), 'script({ images })', 'a list of patterns')
      const requireFunction = (program: unknown, what: string) => requireThat(typeof program === 'function', what, 'a function')
      let onStart: ContainerProgram | undefined
      const commands: CodeScript['commands'][number][] = []
      const ports = new Map<number, PortHandler | Server>()
      define({
        onStart(program) {
          requireFunction(program, 'onStart()')
          onStart = program
        },
        exec(command, program) {
          requireThat(Array.isArray(command) && command.every((word) => typeof word === 'string'), 'exec(command)', 'a list of words')
          requireFunction(program, `exec(${JSON.stringify(command)})`)
          commands.push({ command, program })
        },
        port(port, handler) {
          requireThat(Number.isInteger(port) && port > 0 && port < 65_536, `port(${port})`, 'between 1 and 65535')
          if (!(handler instanceof EventEmitter)) requireFunction(handler, `port(${port}, handler)`)
          ports.set(port, handler)
        },
      })
      const script = { match, onStart, commands, ports }
      codeScripts.add(script)
      return { [Symbol.dispose]: () => void codeScripts.delete(script) }
    },
  }
}

/** The members of a PodMatch. */
const matched = new Set(['namespace', 'name', 'labels', 'images', 'owner', 'container'])

/** A script is called long after its definition, for Pods of anybody. */
function requireThat(holds: boolean, what: string, expected: string): void {
  if (!holds) throw new TypeError(`${what}: must be ${expected}`)
}

interface StartParts extends NodesParts {
  readonly codeScripts: Iterable<CodeScript>
}

async function startAll(
  { nodeGroups, serviceRanges, hasVolumes, hasObjects, clientAs, metrics, door, codeScripts }: StartParts,
  surroundings: Surroundings,
): Promise<SimulatedNodes> {
  const { catalogue, chance, clock, lifecycle, log } = surroundings
  const { installScriptKinds, startAttacher, startNodes } = await import('@orch/nodes')
  const common = { names: catalogue.names, clock, log: log.child({ service: 'nodes' }), queues: workqueueMetricsOf(metrics, clock) }
  const client = clientAs(standIn)
  if (!hasObjects) await installScriptKinds(client, catalogue.names)
  const nodes = startNodes({
    ...common,
    level: catalogue.level,
    families: serviceRanges.map(({ family }) => family),
    hasVolumes,
    client,
    clientFor: (name) => clientAs({ name: `${nodeUserPrefix}${name}`, groups: ['system:nodes', ...nodeGroups] }),
    chance: chance.stream('nodes'),
    codeScripts,
  })
  lifecycle.opened('nodes', nodes)
  door.open(nodes.service)
  const attacher = startAttacher({ ...common, client: clientAs(standIn), random: chance.stream('attacher').fraction })
  lifecycle.onStop('attacher', () => attacher.stop())
  return nodes
}

/**
 * Creates the kinds of scripts and the class of simulated volumes. Servers with nodes have both from their start. A class that a user has changed is
 * not overwritten.
 */
export async function makeNodeObjects(
  { hasVolumes, clientAs }: Pick<NodesParts, 'hasVolumes' | 'clientAs'>,
  { catalogue: { names } }: Surroundings,
): Promise<void> {
  const { installScriptKinds } = await import('@orch/nodes')
  const client = clientAs(standIn)
  const collection = (plural: string) => ({ group: domainGroup(names, 'storage'), version: 'v1', plural, namespaced: false })
  const [driver, storageClass] = simulatedStorage(names)
  const storage = hasVolumes
    ? ([
        ['csidrivers', driver],
        ['storageclasses', storageClass],
      ] as const)
    : []
  const stored = storage.map(([plural, object]) =>
    unlessRefused(['AlreadyExists'], () => client.resource<ApiObject>(collection(plural)).create(object)),
  )
  await Promise.all([installScriptKinds(client, names), ...stored])
  client.close()
}

/**
 * Additional groups of nodes: those with the rights of nodes if the Node authorizer is on, otherwise the group with all rights, because no role has
 * the rights of nodes.
 */
export function groupsOfNodes(modes: readonly string[]): readonly string[] {
  return modes.includes('Node') ? [] : ['system:masters']
}
