import { type NodesService, nodesContract } from '@orch/core/contracts'
import type { Values } from '@orch/platform'
import { dialContract } from '@orch/platform/rpc'
import type { TrustOptions } from '../certificates/service-trust.ts'
import type { Assembly } from './replica.ts'
import { type nodesAddressSettings, readServiceAddresses } from './settings.ts'

/** The addresses of simulated nodes; empty if no node can be reached. */
export function readNodesAddresses({ nodesAddress }: Values<typeof nodesAddressSettings>, trust: TrustOptions): readonly string[] {
  return nodesAddress.length === 0 ? [] : readServiceAddresses('--nodes-address', nodesAddress, trust)
}

/** Simulated nodes in another process; undefined without an address. Readiness does not depend on them. */
export function dialNodes(addresses: readonly string[] | undefined, { rpc, lifecycle }: Assembly): NodesService | undefined {
  if (addresses === undefined || addresses.length === 0) return undefined
  return lifecycle.opened('connections to nodes', dialContract(nodesContract, { ...rpc, addresses })).service
}
