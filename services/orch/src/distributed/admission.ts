import { admissionContract } from '@orch/core/contracts'
import { serveContract } from '@orch/platform/rpc'
import { openAdmission } from '../admission/open.ts'
import { type AdmissionSettings, readAdmission } from '../admission/settings.ts'
import { everythingServedWith } from '../api/settings.ts'
import { readTrust } from '../certificates/service-trust.ts'
import { printComplaint, type Terminal } from '../process/terminal.ts'
import { readCommandSettings } from '../settings/general.ts'
import type { Surroundings } from '../surroundings.ts'
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
  const options = readAdmission(settings)
  const api = everythingServedWith(settings)
  for (const warning of api.featureGates.warnings) terminal.error(printComplaint(settings.logFormat, 'warn', warning))
  return runService({
    name: 'admission',
    terminal,
    settings,
    api,
    trust,
    open: (world) => openAdmissionReplica({ trust, hasProcessMetrics: true, listen, storageAddresses, admission: options }, world),
  })
}

export interface AdmissionReplicaOptions extends OverStorageOptions {
  readonly admission: AdmissionSettings
}

/** Admission for other processes. */
export function openAdmissionReplica(options: AdmissionReplicaOptions, world: Omit<Surroundings, 'lifecycle'>): Promise<Replica> {
  return openOverStorage(options, world, async (storage, assembly) =>
    serveContract(admissionContract, await openAdmission({ ...options, storage, metrics: assembly.metrics }, assembly)),
  )
}
