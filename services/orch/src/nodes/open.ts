import type { Client, ResourceClient } from '@orch/client'
import type { NodesService, Stream } from '@orch/core/contracts'
import { type ApiObject, notFound, StatusError } from '@orch/core/meta'
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
import { type Metrics, PushStream, workqueueMetricsOf } from '@orch/platform'
import { type Identity, nodeUserPrefix } from '../controllers/open.ts'
import type { Surroundings } from '../surroundings.ts'

/** The way into nodes, for a gateway that is there before them, as they are its clients. */
export interface NodesDoor {
  readonly service: NodesService
  open(nodes: NodesService): void
}

/** Until it is opened no node is known. */
export function createNodesDoor(): NodesDoor {
  let opened: NodesService | undefined
  const unknown = (node: string) => notFound({ group: '', resource: 'nodes' }, node)
  const failed = (node: string): Stream<never> => {
    const parts = new PushStream<never>()
    parts.fail(unknown(node))
    return parts
  }
  return {
    service: {
      logs: (request, context) => opened?.logs(request, context) ?? failed(request.pod.node),
      exec: (request, context) => opened?.exec(request, context) ?? failed(request.pod.node),
      attach: (request, context) => opened?.attach(request, context) ?? failed(request.pod.node),
      forward: (request, context) => opened?.forward(request, context) ?? failed(request.pod.node),
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

/** A node that is to be simulated. */
export interface SimulatedNodeState {
  readonly settings: NodeSettings
  /** Switched off: it gives no sign of life. */
  readonly isOff?: boolean
}

/** Nodes with usual settings. */
export function usualNodes(count: number): SimulatedNodeState[] {
  return Array.from({ length: count }, (_, index) => ({ settings: { name: `node-${index + 1}` } }))
}

export interface NodesParts {
  readonly simulated: readonly SimulatedNodeState[]
  /** True if simulated volumes are to be had, so that their class is there. */
  readonly hasVolumes: boolean
  /** True if `makeNodeObjects` has run. */
  readonly hasObjects: boolean
  /** The groups of nodes besides `system:nodes`. */
  readonly nodeGroups: readonly string[]
  /** A client that acts as this identity. */
  clientAs(identity: Identity): Client
  readonly metrics: Metrics
  /** Opened for the gateway with the first node. */
  readonly door: NodesDoor
}

/** The program that runs all nodes: it reads the Pods of all. */
export const standIn: Identity = { name: 'system:simulated-nodes', groups: ['system:masters'] }

/** The functions of a script in code. */
interface ContainerCode {
  /** The program of the container, for each of its runs. */
  onStart(program: ContainerProgram): void
  /** Answers commands by a pattern with `*` for each word; a last word `*` is any number of words. The first that matches counts. */
  exec(command: readonly string[], program: CommandProgram): void
  /** Serves the connections to a port. */
  port(port: number, handler: PortHandler): void
}

/** The simulated nodes of a server. */
export interface ServerNodes {
  /** Registers a node; resolves when it is there. A name that is simulated already is an error. */
  add(settings: NodeSettings): Promise<NodeHandle>
  /** Throws if no such node is simulated. */
  get(name: string): NodeHandle
  /**
   * Says in code what containers of Pods do that begin from now on. The first script that matches a container is the one that it has, before
   * all objects and annotations. It is for no further Pods when it is disposed of.
   */
  script(match: PodMatch, define: (container: ContainerCode) => void): Disposable
  readonly names: readonly string[]
}

/** The nodes of a server, as another server can simulate them. */
export interface OpenNodes extends ServerNodes {
  readonly simulated: readonly SimulatedNodeState[]
  /** The use of Pods, as the server serves it. Undefined: it serves no metrics.k8s.io of its own. */
  readonly measurements: Measurements | undefined
  /** The state of the server is that of another moment: nodes that were added since are simulated no longer, and the kinds of scripts are there. */
  restored(): Promise<void>
}

/** Nodes that run Pods without containers; resolves when the wanted ones are registered. Nothing of it runs before the first node. */
export async function openNodes(parts: NodesParts, surroundings: Surroundings): Promise<OpenNodes> {
  let nodes: SimulatedNodes | undefined
  const codeScripts = new Set<CodeScript>()
  const opened = once(async () => {
    nodes = await startAll({ ...parts, codeScripts }, surroundings)
    return nodes
  })
  const known = new Map<string, NodeSettings>()
  let hasAdded = false
  const add = async (settings: NodeSettings, isOff = false) => {
    const node = await (await opened()).add(settings, isOff)
    known.set(settings.name, settings)
    return node
  }
  if (parts.simulated.length > 0) {
    await Promise.all(parts.simulated.map(({ settings, isOff }) => add(settings, isOff)))
  }
  return {
    add(settings) {
      hasAdded = true
      return add(settings)
    },
    async restored() {
      if (nodes === undefined || !hasAdded) return
      const { installScriptKinds } = await import('@orch/nodes')
      const client = parts.clientAs(standIn)
      await installScriptKinds(client, surroundings.catalogue.names)
      const { items } = await client.resource({ group: '', version: 'v1', plural: 'nodes', namespaced: false }).list()
      client.close()
      await nodes.retain(new Set(items.map(({ metadata: { name = '' } }) => name)))
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
      let onStart: ContainerProgram | undefined
      const commands: CodeScript['commands'][number][] = []
      const ports = new Map<number, PortHandler>()
      define({
        onStart(program) {
          onStart = program
        },
        exec(command, program) {
          commands.push({ command, program })
        },
        port(port, handler) {
          ports.set(port, handler)
        },
      })
      const script = { match, onStart, commands, ports }
      codeScripts.add(script)
      return { [Symbol.dispose]: () => void codeScripts.delete(script) }
    },
  }
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}

interface StartParts extends NodesParts {
  readonly codeScripts: Iterable<CodeScript>
}

async function startAll(
  { nodeGroups, hasVolumes, hasObjects, clientAs, metrics, door, codeScripts }: StartParts,
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
    hasVolumes,
    client,
    clientFor: (name) => clientAs({ name: `${nodeUserPrefix}${name}`, groups: ['system:nodes', ...nodeGroups] }),
    chance: chance.stream('nodes'),
    codeScripts,
  })
  await lifecycle.run({ name: 'nodes', stop: () => nodes.close() })
  door.open(nodes.service)
  const attacher = startAttacher({ ...common, client: clientAs(standIn), random: chance.stream('attacher').fraction })
  await lifecycle.run({ name: 'attacher', stop: () => attacher.stop() })
  return nodes
}

/** Makes the kinds of scripts and the class of simulated volumes, which servers with nodes have from their start. A class that a user has changed stays so. */
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
  const stored = storage.map(([plural, object]) => createOrFind(client.resource<ApiObject>(collection(plural)), object))
  await Promise.all([installScriptKinds(client, names), ...stored])
  client.close()
}

async function createOrFind(collection: ResourceClient, object: ApiObject): Promise<void> {
  try {
    await collection.create(object)
  } catch (error) {
    if (!(error instanceof StatusError) || error.reason !== 'AlreadyExists') throw error
  }
}

/** Groups of nodes besides their own: they have the rights of nodes where the Node authorizer gives them, and all rights elsewhere, as no role holds them. */
export function groupsOfNodes(modes: readonly string[]): readonly string[] {
  return modes.includes('Node') ? [] : ['system:masters']
}
