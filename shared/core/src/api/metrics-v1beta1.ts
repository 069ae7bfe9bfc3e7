import { defineTypes, field, list, map, object, quantity, ref, required, string, struct, time } from '../description/define.ts'

const metadata = field(ref('meta/v1.ObjectMeta'), { doc: 'Name and labels of the measured object; created when it was asked for.' })
const timestamp = required(time(), { doc: 'The end of the measurement window.' })
const window = required(string(), { doc: 'The length of the window, such as 15s.' })
const listMetadata = field(ref('meta/v1.ListMeta'), { doc: 'Standard metadata of the list.' })

/** The types of metrics/v1beta1, which is served if nodes are simulated. These objects are not stored, and durations have no Protobuf form here. */
export const metricsV1beta1 = defineTypes({
  ContainerMetrics: struct('The measured usage of a container.', () => ({
    name: required(string(), { doc: 'Name of the container.' }),
    usage: required(map(quantity()), { doc: 'Its usage, by resource: cpu and memory.' }),
  })),
  NodeMetrics: object({ noProtobuf: true, doc: 'The measured usage of a node.' }, () => ({
    metadata,
    timestamp,
    window,
    usage: required(map(quantity()), { doc: 'The usage of the node, by resource: cpu and memory.' }),
  })),
  NodeMetricsList: object({ noProtobuf: true, doc: 'The measured usage of nodes.' }, () => ({
    metadata: listMetadata,
    items: required(list(ref('metrics/v1beta1.NodeMetrics')), { doc: 'One for each node.' }),
  })),
  PodMetrics: object({ noProtobuf: true, doc: 'The measured usage of a Pod.' }, () => ({
    metadata,
    timestamp,
    window,
    containers: required(list(ref('metrics/v1beta1.ContainerMetrics')), { doc: 'The usage of the running containers.' }),
  })),
  PodMetricsList: object({ noProtobuf: true, doc: 'The measured usage of Pods.' }, () => ({
    metadata: listMetadata,
    items: required(list(ref('metrics/v1beta1.PodMetrics')), { doc: 'One for each running Pod.' }),
  })),
})
