import { field, map, string, struct } from '../description/define.ts'
import { inVersion } from '../description/in-version.ts'
import { discoveryV1 } from './discovery-v1.ts'

/** The types of discovery/v1beta1: endpoints have topology labels instead of a zone. */
export const discoveryV1beta1 = inVersion(
  {
    ...discoveryV1,
    Endpoint: () => {
      const { members, facets } = discoveryV1.Endpoint()
      const { addresses, conditions, hostname, targetRef, nodeName, hints } = members
      const topology = field(map(string()), { tag: 5, doc: 'Topology labels of the backend, such as its zone and its node.' })
      return struct({ addresses, conditions, hostname, targetRef, topology, nodeName, hints: { ...hints, tag: 7 } }, facets)
    },
  },
  { from: 'discovery/v1', to: 'discovery/v1beta1' },
)
