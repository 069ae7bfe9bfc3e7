import { field, noTag, required } from '../description/fields.ts'
import { defineTypes, object, struct } from '../description/structs.ts'
import { string } from '../description/texts.ts'
import { list, map, quantity, ref, time } from '../description/values.ts'

const metadata = field(ref('meta/v1.ObjectMeta'), noTag, 'Name and labels of the measured object; created when it was asked for.')
const timestamp = required(time(), noTag, 'The end of the measurement window.')
const window = required(string(), noTag, 'The length of the window, such as 15s.')
const listMetadata = field(ref('meta/v1.ListMeta'), noTag, 'Standard metadata of the list.')

/** The types of metrics/v1beta1, which is served if nodes are simulated. These objects are not stored, and durations have no Protobuf form here. */
export const metricsV1beta1 = defineTypes({
  ContainerMetrics: struct('The measured usage of a container.', () => ({
    name: required(string(), noTag, 'Name of the container.'),
    usage: required(map(quantity()), noTag, 'Its usage, by resource: cpu and memory.'),
  })),
  NodeMetrics: object({ hasNoProtobuf: true, doc: 'The measured usage of a node.' }, () => ({
    metadata,
    timestamp,
    window,
    usage: required(map(quantity()), noTag, 'The usage of the node, by resource: cpu and memory.'),
  })),
  NodeMetricsList: object({ hasNoProtobuf: true, doc: 'The measured usage of nodes.' }, () => ({
    metadata: listMetadata,
    items: required(list(ref('metrics/v1beta1.NodeMetrics')), noTag, 'One for each node.'),
  })),
  PodMetrics: object({ hasNoProtobuf: true, doc: 'The measured usage of a Pod.' }, () => ({
    metadata,
    timestamp,
    window,
    containers: required(list(ref('metrics/v1beta1.ContainerMetrics')), noTag, 'The usage of the running containers.'),
  })),
  PodMetricsList: object({ hasNoProtobuf: true, doc: 'The measured usage of Pods.' }, () => ({
    metadata: listMetadata,
    items: required(list(ref('metrics/v1beta1.PodMetrics')), noTag, 'One for each running Pod.'),
  })),
})
