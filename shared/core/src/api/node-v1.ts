import { atomic, checked, field, pointer } from '../description/fields.ts'
import { defineTypes, object, struct } from '../description/structs.ts'
import { string, text } from '../description/texts.ts'
import { list, map, quantity, ref } from '../description/values.ts'
import { metadata, objectList } from './common.ts'

/** The types of node/v1. */
export const nodeV1 = defineTypes({
  Overhead: struct('Resources that running a pod needs on top of those of its containers.', () => ({
    podFixed: field(map(quantity()), 1, 'Fixed amounts per pod, by resource.'),
  })),
  RuntimeClass: object('A way of running pods, for instance in a sandbox. A pod chooses one by the name in runtimeClassName.', () => ({
    metadata,
    handler: checked(text('label'), 2, {
      declaredSince: 37,
      isImmutable: true,
      required: true,
      doc: 'Name under which the container runtime of each node knows this way of running. A lower-case DNS label; cannot be changed.',
    }),
    overhead: pointer(ref('node/v1.Overhead'), 3, {
      doc: 'Resources that each pod of this class needs beyond its containers. They are added when the pod is scheduled and counted.',
    }),
    scheduling: pointer(ref('node/v1.Scheduling'), 4, 'Nodes for pods of this class. Unset: every node.'),
  })),
  RuntimeClassList: objectList('node/v1.RuntimeClass'),
  Scheduling: struct('Keeps the pods of a runtime class on nodes that support it.', () => ({
    nodeSelector: field(map(string()), 1, {
      mapType: 'atomic',
      doc: "Labels that a node must have. They are joined with the pod's own selector; a contradiction refuses the pod.",
    }),
    tolerations: atomic(list(ref('core/v1.Toleration')), 2, "Tolerations that are added to the pod's own, leaving out repetitions."),
  })),
})
