import { atomic, checked, field, needed, pointer, required } from '../description/fields.ts'
import { atomicStruct, defineTypes, object, struct } from '../description/structs.ts'
import { closed, labels, only, string, text } from '../description/texts.ts'
import { boolean, int32, list, ref } from '../description/values.ts'
import { gated, metadata, objectList } from './common.ts'

/** The types of discovery/v1. */
export const discoveryV1 = defineTypes({
  AddressType: () => only(closed('FQDN', 'IPv4', 'IPv6')),
  Endpoint: struct('A backend of a service.', () => ({
    addresses: required(list(string()), 1, {
      listType: 'set',
      doc: 'Addresses of the backend, of the type of the slice: at least one, at most 100. All of them reach the same backend.',
    }),
    conditions: field(ref('discovery/v1.EndpointConditions'), 2, 'State of the backend.'),
    hostname: pointer(text('label'), 3, 'Host name of the backend, by which clients can tell backends apart. A lower-case DNS label.'),
    targetRef: pointer(ref('core/v1.ObjectReference'), 4, 'The object behind the endpoint, most often a pod.'),
    deprecatedTopology: field(labels(), 5, 'Topology labels that the beta version had. Read-only; use nodeName and zone.'),
    nodeName: pointer(text('subdomain'), 6, 'Node that the backend runs on.'),
    zone: pointer(string(), 7, 'Zone that the backend runs in.'),
    hints: pointer(ref('discovery/v1.EndpointHints'), 8, {
      featureGate: 'TopologyAwareHints',
      doc: 'Hints on the clients that should use the endpoint, to keep traffic local.',
    }),
  })),
  EndpointConditions: struct('The state of an endpoint.', () => ({
    ready: pointer(boolean(), 1, 'True if the endpoint accepts traffic. Unset means true. False while the backend is terminating.'),
    serving: pointer(boolean(), 2, {
      featureGate: 'EndpointSliceTerminatingCondition',
      doc: 'Like ready, but also true for a terminating backend that still works.',
    }),
    terminating: pointer(boolean(), 3, {
      featureGate: 'EndpointSliceTerminatingCondition',
      doc: 'True if the backend is terminating. Unset means false.',
    }),
  })),
  EndpointHints: struct('Hints on the clients that should use an endpoint.', () => ({
    forZones: atomic(list(ref('discovery/v1.ForZone'), { itemsMax: 8, uniqueBy: 'name' }), 1, {
      doc: 'Zones whose clients should use the endpoint. At most 8.',
    }),
    forNodes: atomic(list(ref('discovery/v1.ForNode'), { itemsMax: 8, uniqueBy: 'name' }), 2, {
      ...gated('PreferSameTrafficDistribution'),
      doc: 'Nodes whose clients should use the endpoint, at most 8.',
    }),
  })),
  EndpointPort: atomicStruct('A port that the endpoints of a slice listen on.', () => ({
    name: pointer(string(), 1, 'Name of the port, unique in the slice; empty or a lower-case DNS label.'),
    protocol: pointer(ref('core/v1.Protocol'), 2, 'TCP (the default), UDP or SCTP.'),
    port: pointer(int32(), 3, 'Port number. Unset means all ports, if the reader supports that.'),
    appProtocol: pointer(text('qualifiedName'), 4, {
      doc: 'Protocol of the application: a registered service name, or a name with a domain prefix.',
    }),
  })),
  EndpointSlice: object('Part of the backends of a service. The slices of a service are found by their label with its name.', () => ({
    metadata,
    addressType: needed(ref('discovery/v1.AddressType'), 4, {
      isImmutable: true,
      declaredSince: 37,
      required: true,
      doc: 'Type of all addresses in the slice: IPv4, IPv6 or FQDN. Cannot be changed.',
    }),
    endpoints: required(list(ref('discovery/v1.Endpoint'), { itemsMax: 1000 }), 2, {
      listType: 'atomic',
      changes: { 36: { required: false, keepEmpty: true } },
      doc: 'The backends; at most 1000.',
    }),
    ports: atomic(list(ref('discovery/v1.EndpointPort'), { itemsMax: 20_000 }), 3, {
      keepEmpty: true,
      doc: 'Ports that each endpoint listens on; at most 100. Empty means that no ports are defined.',
    }),
  })),
  EndpointSliceList: objectList('discovery/v1.EndpointSlice'),
  ForNode: struct({ since: 33, doc: 'A node that uses an endpoint.' }, () => ({
    name: checked(text('subdomain'), 1, { required: true, doc: 'Name of the node.' }),
  })),
  ForZone: struct('A zone.', () => ({ name: checked(text('labelValue'), 1, { required: true, doc: 'Name of the zone.' }) })),
})
