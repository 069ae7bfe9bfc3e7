import type { Client } from '@orch/client'
import { StatusError } from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import { simulatedStorage } from '@orch/core/workloads'
import type { AuthorizationMode } from '@orch/gateway'
import type { NodeHandle, NodeSettings, SimulatedNodes } from '@orch/nodes'
import { type Metrics, workqueueMetricsOf } from '@orch/platform'
import { type Identity, nodeUserPrefix } from '../controllers/open.ts'
import type { Surroundings } from '../surroundings.ts'

export interface NodesParts {
  readonly count: number
  readonly controllers: readonly string[]
  /** The authorizers of the server. */
  readonly modes: readonly AuthorizationMode[]
  /** A client that acts as this identity. */
  clientAs(identity: Identity): Client
  readonly metrics: Metrics
}

/** The program that runs all nodes: it reads the Pods of all. */
const standIn: Identity = { name: 'system:simulated-nodes', groups: ['system:masters'] }

/** The simulated nodes of a server. */
export interface ServerNodes {
  /** Registers a node; resolves when it is there. A name that is simulated already is an error. */
  add(settings: NodeSettings): Promise<NodeHandle>
  /** Throws if no such node is simulated. */
  get(name: string): NodeHandle
  readonly names: readonly string[]
}

/** Nodes that run Pods without containers; resolves when the wanted ones are registered. Nothing of it runs before the first node. */
export async function openNodes(parts: NodesParts, surroundings: Surroundings): Promise<ServerNodes> {
  let nodes: SimulatedNodes | undefined
  const opened = once(async () => {
    nodes = await startAll(parts, surroundings)
    return nodes
  })
  const add = async (settings: NodeSettings) => (await opened()).add(settings)
  await Promise.all(Array.from({ length: parts.count }, (_, index) => add({ name: `node-${index + 1}` })))
  return {
    add,
    get(name) {
      const node = nodes?.get(name)
      if (node === undefined) throw new Error(`no node ${name} is simulated; there are: ${(nodes?.names ?? []).join(', ') || 'none'}`)
      return node
    },
    get names() {
      return nodes?.names ?? []
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

async function startAll({ controllers, modes, clientAs, metrics }: NodesParts, surroundings: Surroundings): Promise<SimulatedNodes> {
  const { catalogue, chance, clock, lifecycle, log } = surroundings
  const { startNodes } = await import('@orch/nodes')
  const nodes = startNodes({
    names: catalogue.names,
    level: catalogue.level,
    client: clientAs(standIn),
    clientFor: (name) => clientAs(nodeIdentity(name, modes)),
    clock,
    chance: chance.stream('nodes'),
    log: log.child({ service: 'nodes' }),
    queues: workqueueMetricsOf(metrics, clock),
    isUntainting: !controllers.includes('nodelifecycle'),
  })
  await lifecycle.run({ name: 'nodes', stop: () => nodes.close() })
  if (controllers.includes('simulated-provisioner')) await createStorage(clientAs(standIn), catalogue.names)
  return nodes
}

/** The class of simulated volumes. One that a user has changed stays so. */
async function createStorage(client: Client, names: Names): Promise<void> {
  for (const object of simulatedStorage(names)) {
    try {
      await client.objects.create(object)
    } catch (error) {
      if (!(error instanceof StatusError) || error.reason !== 'AlreadyExists') throw error
    }
  }
  client.close()
}

/** A node has the rights of nodes where the Node authorizer gives them, and all rights elsewhere: no role holds them. */
function nodeIdentity(name: string, modes: readonly AuthorizationMode[]): Identity {
  const others = modes.includes('Node') ? [] : ['system:masters']
  return { name: `${nodeUserPrefix}${name}`, groups: ['system:nodes', ...others] }
}
