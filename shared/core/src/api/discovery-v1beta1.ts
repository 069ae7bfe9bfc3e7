import { field, list, map, ref, string, struct } from '../description/define.ts'
import { inVersion } from '../description/in-version.ts'
import { discoveryV1 } from './discovery-v1.ts'

/** The types of discovery/v1beta1: endpoints have topology labels instead of a zone. */
export const discoveryV1beta1 = inVersion(
  {
    ...discoveryV1,
    Endpoint: () =>
      struct(
        {
          addresses: field(list(string()), {
            tag: 1,
            required: true,
            listType: 'set',
            doc: 'Addresses of the backend, of the type of the slice: at least one, at most 100. All of them reach the same backend.',
          }),
          conditions: field(ref('discovery/v1.EndpointConditions'), { tag: 2, doc: 'State of the backend.' }),
          hostname: field(string(), {
            tag: 3,
            pointer: true,
            doc: 'Host name of the backend, by which clients can tell backends apart. A lower-case DNS label.',
          }),
          targetRef: field(ref('core/v1.ObjectReference'), {
            tag: 4,
            pointer: true,
            doc: 'The object behind the endpoint, most often a pod.',
          }),
          topology: field(map(string()), { tag: 5, doc: 'Topology labels of the backend, such as its zone and its node.' }),
          nodeName: field(string(), { tag: 6, pointer: true, doc: 'Node that the backend runs on.' }),
          hints: field(ref('discovery/v1.EndpointHints'), {
            tag: 7,
            pointer: true,
            featureGate: 'TopologyAwareHints',
            doc: 'Hints on the clients that should use the endpoint, to keep traffic local.',
          }),
        },
        { doc: 'A backend of a service.' },
      ),
  },
  { from: 'discovery/v1', to: 'discovery/v1beta1' },
)
