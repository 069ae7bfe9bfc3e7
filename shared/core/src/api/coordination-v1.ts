import { defineTypes, field, int32, known, microTime, object, ref, string, struct } from '../description/define.ts'
import { metadata, objectList } from './common.ts'

/** The types of coordination/v1. */
export const coordinationV1 = defineTypes({
  CoordinatedLeaseStrategy: () => known('OldestEmulationVersion'),
  Lease: () =>
    object(
      {
        metadata,
        spec: field(ref('coordination/v1.LeaseSpec'), { tag: 2, doc: 'Holder of the lease, and the time of acquisition.' }),
      },
      { doc: 'A claim with a limited time, by which programs elect a leader or show that they are alive.' },
    ),
  LeaseList: () => objectList('coordination/v1.Lease'),
  LeaseSpec: () =>
    struct(
      {
        holderIdentity: field(string(), { tag: 1, pointer: true, doc: 'Name of the holder. Empty: the lease is free.' }),
        leaseDurationSeconds: field(int32({ min: 1 }), {
          tag: 2,
          pointer: true,
          doc: 'Seconds after renewTime at which others may take the lease.',
        }),
        acquireTime: field(microTime(), { tag: 3, pointer: true, doc: 'Time at which the holder acquired the lease.' }),
        renewTime: field(microTime(), { tag: 4, pointer: true, doc: 'Time of the last renewal by the holder.' }),
        leaseTransitions: field(int32({ min: 0 }), { tag: 5, pointer: true, doc: 'Number of changes of the holder.' }),
        strategy: field(ref('coordination/v1.CoordinatedLeaseStrategy'), {
          tag: 6,
          pointer: true,
          featureGate: 'CoordinatedLeaderElection',
          since: 31,
          doc: 'Strategy by which a coordinator chooses the holder. Unset: candidates take the lease themselves.',
        }),
        preferredHolder: field(string(), {
          tag: 7,
          pointer: true,
          featureGate: 'CoordinatedLeaderElection',
          since: 31,
          doc: 'Candidate to which the holder should hand over the lease. Needs a strategy.',
        }),
      },
      { doc: 'Holder of a lease, and the time of acquisition.' },
    ),
})
