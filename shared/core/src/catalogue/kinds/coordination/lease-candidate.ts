import { defineResource } from '../../../kind/define-resource.ts'
import { leaseCandidateCells } from '../../../table/cells/cluster.ts'
import { checkDataKey } from '../../../validation/texts.ts'

/** A program that wants to hold a Lease, with its own version and the version that it emulates. */
export const leaseCandidate = defineResource('coordination.LeaseCandidate', {
  versions: {
    v1alpha2: { since: 32, isOffByDefault: true, deprecated: { since: '1.35', removed: '1.38' } },
    v1beta1: { since: 33, isOffByDefault: true, deprecated: { since: '1.36', removed: '1.39' } },
  },
  scope: 'Namespaced',
  nameKind: () => checkDataKey,
  createsOnUpdate: true,
  replacesUnconditionally: false,
  table: {
    cells: leaseCandidateCells,
    columns: [
      'Name',
      { name: 'LeaseName', description: 'Name of the Lease in the same namespace.' },
      'BinaryVersion',
      'EmulationVersion',
      'Age',
    ],
  },
})
