import { field } from '../description/fields.ts'
import { inVersion } from '../description/in-version.ts'
import { string } from '../description/texts.ts'
import { map } from '../description/values.ts'
import { discoveryV1 } from './discovery-v1.ts'

/** The types of discovery/v1beta1: endpoints have topology labels instead of a zone. */
export const discoveryV1beta1 = inVersion(
  {
    ...discoveryV1,
    Endpoint: () => {
      const endpoint = discoveryV1.Endpoint()
      const { addresses, conditions, hostname, targetRef, nodeName, hints } = endpoint.members
      const topology = field(map(string()), 5, 'Topology labels of the backend, such as its zone and its node.')
      return { ...endpoint, members: { addresses, conditions, hostname, targetRef, topology, nodeName, hints: { ...hints, tag: 7 } } }
    },
  },
  { from: 'discovery/v1', to: 'discovery/v1beta1' },
)
