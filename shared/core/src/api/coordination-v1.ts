import { field, pointer } from '../description/fields.ts'
import { defineTypes, object, struct } from '../description/structs.ts'
import { known, string } from '../description/texts.ts'
import { int32, microTime, ref } from '../description/values.ts'
import { gated, metadata, objectList } from './common.ts'

/** The types of coordination/v1. */
export const coordinationV1 = defineTypes({
  CoordinatedLeaseStrategy: () => known('OldestEmulationVersion'),
  Lease: object('A claim with a limited time, by which programs elect a leader or show that they are alive.', () => ({
    metadata,
    spec: field(ref('coordination/v1.LeaseSpec'), 2, 'Holder of the lease, and the time of acquisition.'),
  })),
  LeaseList: objectList('coordination/v1.Lease'),
  LeaseSpec: struct('Holder of a lease, and the time of acquisition.', () => ({
    holderIdentity: pointer(string(), 1, 'Name of the holder. Empty: the lease is free.'),
    leaseDurationSeconds: pointer(int32({ min: 1 }), 2, 'Seconds after renewTime at which others may take the lease.'),
    acquireTime: pointer(microTime(), 3, 'Time at which the holder acquired the lease.'),
    renewTime: pointer(microTime(), 4, 'Time of the last renewal by the holder.'),
    leaseTransitions: pointer(int32({ min: 0 }), 5, 'Number of changes of the holder.'),
    strategy: pointer(ref('coordination/v1.CoordinatedLeaseStrategy'), 6, {
      ...gated('CoordinatedLeaderElection'),
      doc: 'Strategy by which a coordinator chooses the holder. Unset: candidates take the lease themselves.',
    }),
    preferredHolder: pointer(string(), 7, {
      ...gated('CoordinatedLeaderElection'),
      doc: 'Candidate to which the holder should hand over the lease. Needs a strategy.',
    }),
  })),
})
