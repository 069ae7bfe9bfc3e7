import { defineTypes, field, int32, list, object, ref, string, struct } from '../description/define.ts'

/** The types of networking/v1alpha1. */
export const networkingV1alpha1 = defineTypes({
  ClusterCIDR: () =>
    object(
      {
        metadata: field(ref('meta/v1.ObjectMeta'), {
          tag: 1,
          doc: 'Standard metadata of the object: its name, labels, annotations and fields that the server maintains.',
        }),
        spec: field(ref('networking/v1alpha1.ClusterCIDRSpec'), { tag: 2, doc: 'The networks and the nodes.' }),
      },
      { doc: 'Networks from which nodes get the addresses of their pods.' },
    ),
  ClusterCIDRList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and the continue token if a limit cut it off.',
        }),
        items: field(list(ref('networking/v1alpha1.ClusterCIDR')), { tag: 2, required: true, doc: 'The ClusterCIDR objects of the list.' }),
      },
      { doc: 'A list of ClusterCIDR objects.' },
    ),
  ClusterCIDRSpec: () =>
    struct(
      {
        nodeSelector: field(ref('core/v1.NodeSelector'), {
          tag: 1,
          pointer: true,
          doc: 'Nodes that the networks are for. Unset means all.',
        }),
        perNodeHostBits: field(int32(), {
          tag: 2,
          required: true,
          doc: 'Bits of an address that are left to each node, so that it has 2 to this power addresses. At least 4.',
        }),
        ipv4: field(string(), { tag: 3, keepEmpty: true, doc: 'Network of IPv4 addresses, in CIDR notation.' }),
        ipv6: field(string(), { tag: 4, keepEmpty: true, doc: 'Network of IPv6 addresses, in CIDR notation.' }),
      },
      { doc: 'Networks for the pods of nodes. At least one network is set. Cannot be changed.' },
    ),
})
