import { defineResource } from '../../../kind/define-resource.ts'
import { ipAddressCells } from '../../../table/cells/network.ts'
import { checkCanonicalIp } from '../../../validation/ip-address.ts'

/** An allocated address of a Service. The name of the object is the address. */
export const ipAddress = defineResource({
  versions: [
    {
      type: 'networking/v1alpha1.IPAddress',
      since: 27,
      until: 30,
      isOffByDefault: true,
      deprecated: { since: '1.30', removed: '1.33' },
    },
    { type: 'networking/v1beta1.IPAddress', since: 31, isOffByDefault: true, deprecated: { since: '1.34', removed: '1.37' } },
    { type: 'networking/v1.IPAddress', since: 33 },
  ],
  plural: 'ipaddresses',
  shortNames: ['ip'],
  scope: 'Cluster',
  rechecksName: true,
  storageVersionHash: '3APLM23DOxw=',
  changes: { 31: { storageVersionHash: 'O4H8VxQhW5Y=' }, 34: { storageVersionHash: '3f/plJFChNE=' } },
  nameKind: () => checkCanonicalIp,
  table: { cells: ipAddressCells, columns: ['Name', 'ParentRef'] },
})
