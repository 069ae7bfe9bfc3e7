import { createClient, type Transport } from '@orch/client'
import { nodesContract } from '@orch/core/contracts'
import { domainGroup } from '@orch/core/names'
import { aborted, type CidrPair, createLifecycle, retryDelayMs, SettingsError, sleep } from '@orch/platform'
import { type RpcServer, serveContract } from '@orch/platform/rpc'
import { ofProgram, programOf } from '../controllers/client.ts'
import { type Identity, nodeUserPrefix } from '../controllers/open.ts'
import { createNodesDoor, makeNodeObjects, openNodes, standIn, usualNodes } from '../nodes/open.ts'
import { readerOf } from '../settings/general.ts'
import type { Surroundings } from '../surroundings.ts'
import { actingAs, type GatewaysOptions, openGateways, readGateways, runLed } from './gateways.ts'
import { type Assembly, assembleReplica, type InnerReplicaOptions, serve } from './replica.ts'
import { serviceCommand } from './run-service.ts'
import { nodesCommandSettings } from './settings.ts'

/** `orch nodes`: simulated nodes, as clients of the gateways, which request logs from them. */
export const nodes = serviceCommand('nodes', readerOf(nodesCommandSettings), async ({ settings, trust }) => {
  const { listen, leaderElect, simulatedNodes: count, serviceClusterIpRange: serviceRanges } = settings
  if (count === 0) throw new SettingsError('--simulated-nodes=0: must be from 1 to 1000')
  const gateways = await readGateways(settings)
  const replica = { trust, hasProcessMetrics: true, listen, ...gateways, count, serviceRanges, leaderElect }
  return { open: (world) => openNodesReplica(replica, world) }
})

export interface NodesReplicaOptions extends InnerReplicaOptions, GatewaysOptions {
  /** Number of nodes. */
  readonly count: number
  /** The address ranges of Services. Nodes have an address of each of their families. */
  readonly serviceRanges: CidrPair
  /** True for one of several replicas, of which one simulates the nodes. */
  readonly leaderElect: boolean
}

/** Maximum delay between two attempts to register the nodes. */
const startDelayMsMax = 2_000

/** Simulated nodes as clients of the gateways. A replica that does not lead redirects its callers to another one. */
export async function openNodesReplica(options: NodesReplicaOptions, world: Omit<Surroundings, 'lifecycle'>) {
  const { promise: ready, resolve: isReady } = Promise.withResolvers<void>()
  // A standby replica is ready, too.
  if (options.leaderElect) isReady()
  const replica = await assembleReplica(options, world, async (assembly) => {
    const { chance, clock, log, metrics } = assembly
    const gateways = openGateways(options, assembly)
    const shared = gateways.transport()
    const door = createNodesDoor()
    const server = await serve(options.listen, [serveContract(nodesContract, door.service)], assembly)
    server.setServing(false)
    const leading = metrics.gauge({ name: 'nodes_leading', help: '1 while this replica simulates the nodes.' })
    const lead = async (signal: AbortSignal) => {
      for (let attempt = 1; !signal.aborted; attempt += 1) {
        const term = createLifecycle({ log })
        try {
          leading.set(1)
          await run({ ...options, door, shared, server, signal, isReady }, { ...assembly, lifecycle: term })
        } catch (err) {
          log.warn({ err, attempt }, 'the nodes could not be registered yet')
        } finally {
          server.setServing(false)
          leading.set(0)
          await term.stop()
        }
        await sleep(clock, retryDelayMs({ attempt, maxMs: startDelayMsMax, random: chance.fraction() }), signal)
      }
    }
    const { leaderElect } = options
    runLed({ name: 'nodes', lease: 'simulated-nodes', leaderElect, transport: shared, lead }, assembly)
    return { address: server.address, checks: [gateways.check] }
  })
  return { ...replica, ready }
}

interface Term extends Pick<NodesReplicaOptions, 'count' | 'serviceRanges'> {
  readonly door: ReturnType<typeof createNodesDoor>
  /** The transport to the gateways, as the user of the configuration. */
  readonly shared: Transport
  readonly server: RpcServer
  readonly signal: AbortSignal
  /** Called when the nodes are registered. */
  readonly isReady: () => void
}

/** Simulates the nodes until the signal is aborted. */
async function run({ count, serviceRanges, door, shared, server, signal, isReady }: Term, assembly: Assembly): Promise<void> {
  const { catalogue, metrics } = assembly
  const nodeGroup = await groupOfNodes(shared, assembly)
  const clientAs = (identity: Identity) => {
    const program = ofProgram(programOf(identity, catalogue.names), kept(shared))
    return createClient(identity === standIn ? program : actingAs(identity.name, program, nodeGroup))
  }
  await makeNodeObjects({ hasVolumes: true, clientAs }, assembly)
  const simulated = usualNodes(count)
  const parts = { simulated, serviceRanges, hasVolumes: true, hasObjects: true, nodeGroups: [], clientAs, metrics, door }
  await openNodes(parts, assembly)
  server.setServing(true)
  isReady()
  await aborted(signal)
}

/** The group that nodes impersonate: their usual group if the Node authorizer gives it rights, otherwise the group with all rights. */
async function groupOfNodes(shared: Transport, { catalogue: { names } }: Assembly): Promise<string> {
  const group = domainGroup(names, 'authorization')
  const client = createClient(actingAs(`${nodeUserPrefix}node-1`, shared, 'system:nodes'))
  const resourceAttributes = { verb: 'patch', resource: 'nodes', subresource: 'status', name: 'node-1' }
  const body = { apiVersion: `${group}/v1`, kind: 'SelfSubjectAccessReview', spec: { resourceAttributes } }
  const review = await client.request<{ readonly status: { readonly allowed: boolean } }>({
    method: 'POST',
    path: `/apis/${group}/v1/selfsubjectaccessreviews`,
    body,
  })
  return review.status.allowed ? 'system:nodes' : 'system:masters'
}

/** One of several clients that have the same connections. */
function kept(transport: Transport): Transport {
  return { send: (request) => transport.send(request), close() {} }
}
