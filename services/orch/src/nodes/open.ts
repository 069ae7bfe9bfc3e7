import type { Client } from '@orch/client'
import { StatusError } from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import { simulatedStorage } from '@orch/core/workloads'
import type { AuthorizationMode } from '@orch/gateway'
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

/** Runs simulated nodes; resolves when they are registered. */
export async function openNodes({ count, controllers, modes, clientAs, metrics }: NodesParts, surroundings: Surroundings): Promise<void> {
  if (count === 0) return
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
  await lifecycle.run({ name: 'nodes', stop: () => nodes.stop() })
  if (controllers.includes('simulated-provisioner')) await createStorage(clientAs(standIn), catalogue.names)
  await Promise.all(Array.from({ length: count }, (_, index) => nodes.add({ name: `node-${index + 1}` })))
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
