import { field, pointer, required } from '../description/fields.ts'
import { inVersion } from '../description/in-version.ts'
import { defineTypes, object, struct } from '../description/structs.ts'
import { known, string } from '../description/texts.ts'
import { microTime, ref } from '../description/values.ts'
import { metadata, objectList } from './common.ts'

/** The types of coordination/v1beta1. */
export const coordinationV1beta1 = defineTypes({
  CoordinatedLeaseStrategy: () => known('OldestEmulationVersion'),
  LeaseCandidate: object('A program that wants to hold a Lease, with its own version and the version that it emulates.', () => ({
    metadata,
    spec: field(ref('coordination/v1beta1.LeaseCandidateSpec'), 2, {
      doc: 'The Lease, and the versions of the candidate.',
      changes: { 36: { required: true } },
    }),
  })),
  LeaseCandidateList: objectList('coordination/v1beta1.LeaseCandidate'),
  LeaseCandidateSpec: struct('The Lease for which a program stands, and its versions.', () => ({
    leaseName: required(string(), 1, { needed: true, doc: 'Name of the Lease in the same namespace. Immutable.' }),
    pingTime: pointer(microTime(), 2, 'Time at which the server last asked the candidate to renew.'),
    renewTime: pointer(microTime(), 3, 'Time of the last update by the candidate.'),
    binaryVersion: required(string(), 4, { needed: true, doc: 'Version of the program, as a semantic version without v.' }),
    emulationVersion: field(string(), 5, {
      doc: 'Version that the program emulates, at most its own. Required by the strategy OldestEmulationVersion.',
    }),
    strategy: required(ref('coordination/v1beta1.CoordinatedLeaseStrategy'), 6, {
      needed: true,
      doc: 'Strategy of the election. If candidates differ, the strategy of the one with the newest binary version applies.',
    }),
  })),
})

/** The types of coordination/v1alpha2: those of v1beta1. */
export const coordinationV1alpha2 = defineTypes(
  inVersion(coordinationV1beta1, { from: 'coordination/v1beta1', to: 'coordination/v1alpha2' }),
)
