import { defineTypes, field, int32, list, object, ref, string, struct } from '../schema/define.ts'

/** The types of networking/v1alpha1: one definition each, read by everything that knows a type. */
export const networkingV1alpha1 = defineTypes({
  ClusterCIDR: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), { tag: 1 }),
      spec: field(ref('networking/v1alpha1.ClusterCIDRSpec'), { tag: 2 }),
    }),
  ClusterCIDRList: () =>
    object({
      metadata: field(ref('meta/v1.ListMeta'), { tag: 1 }),
      items: field(list(ref('networking/v1alpha1.ClusterCIDR')), { tag: 2, required: true }),
    }),
  ClusterCIDRSpec: () =>
    struct({
      nodeSelector: field(ref('core/v1.NodeSelector'), { tag: 1, pointer: true }),
      perNodeHostBits: field(int32(), { tag: 2, required: true }),
      ipv4: field(string(), { tag: 3, keepEmpty: true }),
      ipv6: field(string(), { tag: 4, keepEmpty: true }),
    }),
})
