import { defineTypes, field, list, map, object, quantity, ref, string, struct } from '../schema/define.ts'

/** The types of node/v1: one definition each, read by everything that knows a type. */
export const nodeV1 = defineTypes({
  Overhead: () =>
    struct({
      podFixed: field(map(quantity()), { tag: 1 }),
    }),
  RuntimeClass: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), { tag: 1 }),
      handler: field(string(), { tag: 2, required: true }),
      overhead: field(ref('node/v1.Overhead'), { tag: 3, pointer: true }),
      scheduling: field(ref('node/v1.Scheduling'), { tag: 4, pointer: true }),
    }),
  RuntimeClassList: () =>
    object({
      metadata: field(ref('meta/v1.ListMeta'), { tag: 1 }),
      items: field(list(ref('node/v1.RuntimeClass')), { tag: 2, required: true }),
    }),
  Scheduling: () =>
    struct({
      nodeSelector: field(map(string()), { tag: 1, mapType: 'atomic' }),
      tolerations: field(list(ref('core/v1.Toleration')), { tag: 2, listType: 'atomic' }),
    }),
})
