import { defineTypes, field, int32, object, pointer, ref, required, string, struct } from '../description/define.ts'
import { metadata, objectList } from './common.ts'

/** The types of networking/v1alpha1. */
export const networkingV1alpha1 = defineTypes({
  ClusterCIDR: object('Networks from which nodes get the addresses of their pods.', () => ({
    metadata,
    spec: field(ref('networking/v1alpha1.ClusterCIDRSpec'), { tag: 2, doc: 'The networks and the nodes.' }),
  })),
  ClusterCIDRList: objectList('networking/v1alpha1.ClusterCIDR'),
  ClusterCIDRSpec: struct('Networks for the pods of nodes. At least one network is set. Cannot be changed.', () => ({
    nodeSelector: pointer(ref('core/v1.NodeSelector'), { tag: 1, doc: 'Nodes that the networks are for. Unset means all.' }),
    perNodeHostBits: required(int32(), {
      tag: 2,
      doc: 'Bits of an address that are left to each node, so that it has 2 to this power addresses. At least 4.',
    }),
    ipv4: field(string(), { tag: 3, keepEmpty: true, doc: 'Network of IPv4 addresses, in CIDR notation.' }),
    ipv6: field(string(), { tag: 4, keepEmpty: true, doc: 'Network of IPv6 addresses, in CIDR notation.' }),
  })),
})
