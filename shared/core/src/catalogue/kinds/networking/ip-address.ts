import { defineResource } from '../../../kind/define-resource.ts'
import { ipAddressCells } from '../../../table/cells/network.ts'
import { checkCanonicalIp } from '../../../validation/ip-address.ts'

/** An allocated address of a Service. The name of the object is the address. */
export const ipAddress = defineResource({
  versions: [{ type: 'networking/v1.IPAddress', since: 33 }],
  plural: 'ipaddresses',
  shortNames: ['ip'],
  scope: 'Cluster',
  rechecksName: true,
  storageVersionHash: 'O4H8VxQhW5Y=',
  changes: { 34: { storageVersionHash: '3f/plJFChNE=' } },
  nameKind: () => checkCanonicalIp,
  table: { cells: ipAddressCells, columns: ['Name', 'ParentRef'] },
})
