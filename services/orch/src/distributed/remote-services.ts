import { type NodesService, nodesContract, type StorageService, storageContract } from '@orch/core/contracts'
import { StatusError } from '@orch/core/meta'
import type { Profile } from '@orch/core/names'
import type { HealthCheck } from '@orch/gateway'
import { retryDelayMs, sleep, type Values } from '@orch/platform'
import { type Dialled, dialContract, type Offer } from '@orch/platform/rpc'
import type { TrustOptions } from '../certificates/service-trust.ts'
import { StartError } from '../start-error.ts'
import type { Surroundings } from '../surroundings.ts'
import { type Assembly, assemble, type InnerReplicaOptions, type Replica, serve } from './replica.ts'
import { type nodesAddressSettings, readServiceAddresses } from './settings.ts'

/** Maximum delay between two attempts to ask storage for its identity. */
const askDelayMsMax = 2_000

/** A service over storage in other processes. */
export interface OverStorageOptions extends InnerReplicaOptions {
  readonly storageAddresses: readonly string[]
}

/** Serves a contract over storage, after its first answer. */
export function openOverStorage(
  options: OverStorageOptions,
  world: Omit<Surroundings, 'lifecycle'>,
  open: (storage: StorageService, assembly: Assembly) => Promise<Offer>,
): Promise<Replica> {
  return assemble(options, world, async (assembly) => {
    const storage = dialStorage(options.storageAddresses, assembly)
    await storage.met
    const { address } = await serve(options.listen, [await open(storage.service, assembly)], assembly)
    return { address, checks: [storage.check, storage.profileCheck] }
  })
}

/** Connects to storage, and repeatedly asks for its profile until it answers, as services may start in any order. */
export function dialStorage(addresses: readonly string[], { catalogue, lifecycle, rpc }: Assembly) {
  const dialled = dialContract(storageContract, { ...rpc, addresses })
  const ending = new AbortController()
  let problem: string | undefined = 'storage has not answered yet'
  const meet = async () => {
    for (let attempt = 1; !ending.signal.aborted; attempt += 1) {
      try {
        const { profile } = await dialled.service.status({}, { signal: ending.signal })
        requireProfile(profile, catalogue.names.profile)
        problem = undefined
        return
      } catch (error) {
        if (!(error instanceof StatusError)) throw error
        problem = `storage does not answer: ${error.message}`
        if (attempt % 10 === 1 && attempt > 1) rpc.log.warn({ err: error, addresses }, 'storage does not answer')
      }
      await sleep(rpc.clock, retryDelayMs({ attempt, maxMs: askDelayMsMax, random: rpc.random() }), ending.signal)
    }
    throw new StartError('this process ended before storage answered')
  }
  const met = meet()
  met.catch(() => {})
  lifecycle.onStop('connections to storage', () => {
    ending.abort()
    dialled.close()
  })
  const profileCheck: HealthCheck = { name: 'storage-profile', check: () => problem }
  return {
    service: dialled.service,
    /** Resolves when storage has answered; rejects for another profile. */
    met,
    /** Healthy once storage has answered, with our profile. */
    profileCheck,
    /** Healthy while a replica is reachable. */
    check: reachable('storage', dialled),
  }
}

/** Healthy while a replica of the service is reachable. */
export function reachable(name: string, dialled: Pick<Dialled<unknown>, 'isReady'>): HealthCheck {
  return { name, check: () => (dialled.isReady() ? undefined : `no replica of ${name} can be reached`) }
}

function requireProfile(theirs: string, ours: Profile): void {
  if (theirs === ours) return
  throw new StartError(
    `storage has the profile ${theirs} and this process the profile ${ours}: start all services of a control plane with the same --profile`,
  )
}

/** The addresses of simulated nodes; empty if no node can be reached. */
export function readNodesAddresses({ nodesAddress }: Values<typeof nodesAddressSettings>, trust: TrustOptions): readonly string[] {
  return nodesAddress.length === 0 ? [] : readServiceAddresses('--nodes-address', nodesAddress, trust)
}

/** Simulated nodes in another process; undefined without an address. Readiness does not depend on them. */
export function dialNodes(addresses: readonly string[] | undefined, { rpc, lifecycle }: Assembly): NodesService | undefined {
  if (addresses === undefined || addresses.length === 0) return undefined
  return lifecycle.opened('connections to nodes', dialContract(nodesContract, { ...rpc, addresses })).service
}
