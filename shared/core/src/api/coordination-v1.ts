import { defineTypes, field, int32, known, microTime, object, pointer, ref, string, struct } from '../description/define.ts'
import { gated, metadata, objectList } from './common.ts'

/** The types of coordination/v1. */
export const coordinationV1 = defineTypes({
  CoordinatedLeaseStrategy: () => known('OldestEmulationVersion'),
  Lease: object('A claim with a limited time, by which programs elect a leader or show that they are alive.', () => ({
    metadata,
    spec: field(ref('coordination/v1.LeaseSpec'), { tag: 2, doc: 'Holder of the lease, and the time of acquisition.' }),
  })),
  LeaseList: objectList('coordination/v1.Lease'),
  LeaseSpec: struct('Holder of a lease, and the time of acquisition.', () => ({
    holderIdentity: pointer(string(), { tag: 1, doc: 'Name of the holder. Empty: the lease is free.' }),
    leaseDurationSeconds: pointer(int32({ min: 1 }), { tag: 2, doc: 'Seconds after renewTime at which others may take the lease.' }),
    acquireTime: pointer(microTime(), { tag: 3, doc: 'Time at which the holder acquired the lease.' }),
    renewTime: pointer(microTime(), { tag: 4, doc: 'Time of the last renewal by the holder.' }),
    leaseTransitions: pointer(int32({ min: 0 }), { tag: 5, doc: 'Number of changes of the holder.' }),
    strategy: pointer(ref('coordination/v1.CoordinatedLeaseStrategy'), {
      tag: 6,
      ...gated('CoordinatedLeaderElection'),
      doc: 'Strategy by which a coordinator chooses the holder. Unset: candidates take the lease themselves.',
    }),
    preferredHolder: pointer(string(), {
      tag: 7,
      ...gated('CoordinatedLeaderElection'),
      doc: 'Candidate to which the holder should hand over the lease. Needs a strategy.',
    }),
  })),
})
