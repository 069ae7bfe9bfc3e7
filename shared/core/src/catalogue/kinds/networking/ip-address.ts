import { defineResource } from '../../../kind/define-resource.ts'
import { ipAddressCells } from '../../../table/cells/network.ts'
import { checkCanonicalIp } from '../../../validation/ip-address.ts'

/** An allocated address of a Service. The name of the object is the address. */
export const ipAddress = defineResource({
  kind: 'IPAddress',
  versions: [{ type: 'networking/v1.IPAddress', since: 33 }],
  storedAs: 'networking/v1.IPAddress',
  plural: 'ipaddresses',
  shortNames: ['ip'],
  scope: 'Cluster',
  rechecksName: true,
  storageVersionHash: 'O4H8VxQhW5Y=',
  changes: { 34: { storageVersionHash: '3f/plJFChNE=' } },
  nameKind: () => checkCanonicalIp,
  table: {
    cells: ipAddressCells,
    columns: [
      { name: 'Name', type: 'string', format: 'name' },
      { name: 'ParentRef', type: 'string' },
    ],
  },
})
