import { defineResource } from '../../../kind/define-resource.ts'
import { ipAddressCells } from '../../../table/cells/network.ts'
import { checkCanonicalIp } from '../../../validation/ip-address.ts'

/** An allocated address of a Service. The name of the object is the address. */
export const ipAddress = defineResource('networking.IPAddress', {
  versions: {
    v1alpha1: { since: 27, until: 30, isOffByDefault: true, deprecated: { since: '1.30', removed: '1.33' } },
    v1beta1: { since: 31, isOffByDefault: true, deprecated: { since: '1.34', removed: '1.37' } },
    v1: { since: 33 },
  },
  shortNames: ['ip'],
  scope: 'Cluster',
  rechecksName: true,
  storageVersion: 'v1alpha1',
  changes: { 31: { storageVersion: 'v1beta1' }, 34: { storageVersion: 'v1' } },
  nameKind: () => checkCanonicalIp,
  table: { cells: ipAddressCells, columns: ['Name', 'ParentRef'] },
})
