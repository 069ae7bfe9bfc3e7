import { admissionContract } from '@orch/core/contracts'
import { serveContract } from '@orch/platform/rpc'
import { openAdmission } from '../admission/open.ts'
import type { AdmissionSettings } from '../admission/options.ts'
import type { Surroundings } from '../surroundings.ts'
import { dialStorage } from './remote-storage.ts'
import { assemble, type Replica, type ReplicaOptions } from './replica.ts'
import { serve } from './serve.ts'

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
