import { admissionContract } from '@orch/core/contracts'
import { serveContract } from '@orch/platform/rpc'
import { openAdmission } from '../admission/open.ts'
import { type AdmissionSettings, admissionSettings, readAdmission } from '../admission/settings.ts'
import { everythingServedWith, gateSettings } from '../api/settings.ts'
import { readTrust, trustSettings } from '../certificates/service-trust.ts'
import { printComplaint, type Terminal } from '../process/terminal.ts'
import { generalSettings, readCommandSettings } from '../settings/general.ts'
import type { Surroundings } from '../surroundings.ts'
import { dialStorage } from './remote-storage.ts'
import { assemble, type Replica, type ReplicaOptions, serve } from './replica.ts'
import { runService } from './run-service.ts'
import {
  listenSettings,
  probeSettings,
  readListenAddress,
  readServiceAddresses,
  shutdownSettings,
  storageAddressSettings,
} from './settings.ts'

/** All settings of `orch admission`. */
export const admissionCommandSettings = {
  ...generalSettings,
  ...listenSettings('127.0.0.1:7300'),
  ...storageAddressSettings,
  ...trustSettings,
  ...gateSettings,
  ...admissionSettings,
  ...probeSettings('127.0.0.1:7301'),
  ...shutdownSettings,
}

/** `orch admission`: what is allowed to be, for gateways. */
export async function admission(terminal: Terminal, flags: readonly string[]): Promise<undefined> {
  const { values: settings } = await readCommandSettings(admissionCommandSettings, terminal, flags)
  const { listen, shutdownDelayMs } = settings
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
    probes: { address: readListenAddress('--probe-address', settings.probeAddress), tls: trust.tls },
    shutdownDelayMs,
    open: (world) => openAdmissionReplica({ trust, hasProcessMetrics: true, listen, storageAddresses, admission: options }, world),
  })
}

export interface AdmissionReplicaOptions extends ReplicaOptions {
  /** Host and port for calls; port 0 takes any free one. */
  readonly listen: string
  readonly storageAddresses: readonly string[]
  readonly admission: AdmissionSettings
}

/** Admission for other processes. */
export function openAdmissionReplica(options: AdmissionReplicaOptions, world: Omit<Surroundings, 'lifecycle'>): Promise<Replica> {
  return assemble(options, world, async (assembly) => {
    const storage = await dialStorage(options.storageAddresses, assembly)
    await storage.met
    const admission = await openAdmission({ ...options, storage: storage.service, metrics: assembly.metrics }, assembly)
    const { address } = await serve(options.listen, [serveContract(admissionContract, admission)], assembly)
    return { address, checks: [storage.check, storage.profileCheck] }
  })
}
