import { type AdmissionService, admissionContract, type NodesService, type StorageService } from '@orch/core/contracts'
import { printRelease } from '@orch/core/feature-gates'
import { dialContract, serveContract } from '@orch/platform/rpc'
import { openAdmission } from '../admission/open.ts'
import { type AdmissionSettings, readAdmission } from '../admission/settings.ts'
import { everythingServed, everythingServedWith } from '../api/settings.ts'
import { printComplaint } from '../process/terminal.ts'
import { readerOf } from '../settings/general.ts'
import { catalogueOf, type Surroundings } from '../surroundings.ts'
import {
  type Assembly,
  dialNodes,
  type OverStorageOptions,
  openOverStorage,
  type Replica,
  reachable,
  readNodesAddresses,
} from './replica.ts'
import { serviceCommand } from './run-service.ts'
import { admissionCommandSettings, readServiceAddresses } from './settings.ts'

/** `orch admission`: admission for gateways. */
export const admission = serviceCommand('admission', readerOf(admissionCommandSettings), ({ settings, terminal, trust }) => {
  const storageAddresses = readServiceAddresses('--storage-address', settings.storageAddress, trust)
  const nodesAddresses = readNodesAddresses(settings, trust)
  const options = readAdmission(settings)
  const api = everythingServedWith(settings)
  for (const warning of api.featureGates.warnings) terminal.error(printComplaint(settings.logFormat, 'warn', warning))
  const replica = { trust, hasProcessMetrics: true, listen: settings.listen, storageAddresses, nodesAddresses, admission: options }
  return { api, open: (world) => openAdmissionReplica(replica, world) }
})

export interface AdmissionReplicaOptions extends OverStorageOptions {
  readonly admission: AdmissionSettings
  /** Undefined or empty if no node is reachable. */
  readonly nodesAddresses?: readonly string[]
}

/** Admission for other processes. */
export function openAdmissionReplica(options: AdmissionReplicaOptions, world: Omit<Surroundings, 'lifecycle'>): Promise<Replica> {
  return openOverStorage(options, world, async (storage, assembly) => {
    const nodes = dialNodes(options.nodesAddresses, assembly)
    return serveContract(admissionContract, await openAdmission({ ...options, storage, nodes, metrics: assembly.metrics }, assembly))
  })
}

/** The place of a gateway's admission: separate services, or its own process. */
export type AdmissionPlace =
  | { readonly kind: 'service'; readonly addresses: readonly string[] }
  | { readonly kind: 'in-process'; readonly settings: AdmissionSettings }

/** Admission in either place. */
export interface ReachedAdmission {
  readonly service: AdmissionService
  /** Resolves when it was first reachable. */
  readonly reached: Promise<void>
  /** The checks of its readiness. */
  readonly checks: readonly ReturnType<typeof reachable>[]
}

/** Connects to admission; in this process it uses the same contract by direct calls. */
export async function reachAdmission(
  place: AdmissionPlace,
  parts: { readonly storage: StorageService; readonly nodes: NodesService | undefined },
  assembly: Assembly,
): Promise<ReachedAdmission> {
  const { catalogue, lifecycle, metrics, rpc } = assembly
  if (place.kind === 'in-process') {
    // A separate service knows resources that this gateway does not serve, as webhooks may name them.
    const everything = catalogueOf(everythingServed(catalogue.names.profile, [printRelease(catalogue.level)]))
    const admission = await openAdmission({ ...parts, admission: place.settings, metrics }, { ...assembly, catalogue: everything })
    return { service: admission, reached: Promise.resolve(), checks: [] }
  }
  const admission = lifecycle.opened('connections to admission', dialContract(admissionContract, { ...rpc, addresses: place.addresses }))
  return { ...admission, checks: [reachable('admission', admission)] }
}
