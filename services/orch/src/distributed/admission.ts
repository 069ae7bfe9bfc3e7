import { admissionContract } from '@orch/core/contracts'
import { serveContract } from '@orch/platform/rpc'
import { openAdmission } from '../admission/open.ts'
import { type AdmissionSettings, readAdmission } from '../admission/settings.ts'
import { everythingServedWith } from '../api/settings.ts'
import { readTrust } from '../certificates/service-trust.ts'
import { printComplaint, type Terminal } from '../process/terminal.ts'
import { readCommandSettings } from '../settings/general.ts'
import type { Surroundings } from '../surroundings.ts'
import { dialNodes, readNodesAddresses } from './remote-nodes.ts'
import { type OverStorageOptions, openOverStorage } from './remote-storage.ts'
import type { Replica } from './replica.ts'
import { runService } from './run-service.ts'
import { admissionCommandSettings, readListenAddress, readServiceAddresses } from './settings.ts'

/** `orch admission`: admission for gateways. */
export async function admission(terminal: Terminal, flags: readonly string[]): Promise<undefined> {
  const { values: settings } = await readCommandSettings(admissionCommandSettings, terminal, flags)
  const { listen } = settings
  readListenAddress('--listen', listen)
  const trust = readTrust(settings, 'admission')
  const storageAddresses = readServiceAddresses('--storage-address', settings.storageAddress, trust)
  const nodesAddresses = readNodesAddresses(settings, trust)
  const options = readAdmission(settings)
  const api = everythingServedWith(settings)
  for (const warning of api.featureGates.warnings) terminal.error(printComplaint(settings.logFormat, 'warn', warning))
  return runService({
    name: 'admission',
    terminal,
    settings,
    api,
    trust,
    open: (world) =>
      openAdmissionReplica({ trust, hasProcessMetrics: true, listen, storageAddresses, nodesAddresses, admission: options }, world),
  })
}

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
