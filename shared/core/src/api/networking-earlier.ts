import { field, pointer, required } from '../description/fields.ts'
import { inVersion } from '../description/in-version.ts'
import type { Lifetime } from '../description/levels.ts'
import { defineTypes, object, struct } from '../description/structs.ts'
import { string } from '../description/texts.ts'
import { int32, ref } from '../description/values.ts'
import { metadata, objectList } from './common.ts'
import { networkingV1 } from './networking-v1.ts'

const { IPAddress, IPAddressList, IPAddressSpec, ParentReference, ServiceCIDR, ServiceCIDRList, ServiceCIDRSpec, ServiceCIDRStatus } =
  networkingV1
const addresses = { IPAddress, IPAddressList, IPAddressSpec, ParentReference }
const ranges = { ServiceCIDR, ServiceCIDRList, ServiceCIDRSpec, ServiceCIDRStatus }

/** The types of addresses and of their ranges in an earlier version, which equal those of v1. */
const earlier = (version: string, ofAddresses: Lifetime, ofRanges: Lifetime): typeof addresses & typeof ranges =>
  inVersion(
    { ...addresses, ...ranges },
    {
      from: 'networking/v1',
      to: `networking/${version}`,
      lifetimeOf: (type) => (type.startsWith('ServiceCIDR') ? ofRanges : ofAddresses),
    },
  )

/** The types of networking/v1beta1. */
export const networkingV1beta1 = defineTypes(earlier('v1beta1', { since: 31 }, { since: 31 }))

/** The types of networking/v1alpha1. */
export const networkingV1alpha1 = defineTypes({
  ...earlier('v1alpha1', { since: 27, until: 33 }, { since: 29, until: 33 }),
  ClusterCIDR: object('Networks from which nodes get the addresses of their pods.', () => ({
    metadata,
    spec: field(ref('networking/v1alpha1.ClusterCIDRSpec'), 2, 'The networks and the nodes.'),
  })),
  ClusterCIDRList: objectList('networking/v1alpha1.ClusterCIDR'),
  ClusterCIDRSpec: struct('Networks for the pods of nodes. At least one network is set. Cannot be changed.', () => ({
    nodeSelector: pointer(ref('core/v1.NodeSelector'), 1, 'Nodes that the networks are for. Unset means all.'),
    perNodeHostBits: required(int32(), 2, {
      doc: 'Bits of an address that are left to each node, so that it has 2 to this power addresses. At least 4.',
    }),
    ipv4: field(string(), 3, { keepEmpty: true, doc: 'Network of IPv4 addresses, in CIDR notation.' }),
    ipv6: field(string(), 4, { keepEmpty: true, doc: 'Network of IPv6 addresses, in CIDR notation.' }),
  })),
})
