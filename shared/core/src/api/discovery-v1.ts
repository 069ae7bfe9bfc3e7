import { boolean, closed, defineTypes, field, int32, list, map, object, ref, string, struct } from '../schema/define.ts'

/** The types of discovery/v1: one definition each, read by everything that knows a type. */
export const discoveryV1 = defineTypes({
  AddressType: () => closed('IPv4', 'IPv6', 'FQDN'),
  Endpoint: () =>
    struct({
      addresses: field(list(string()), { tag: 1, required: true, listType: 'set' }),
      conditions: field(ref('discovery/v1.EndpointConditions'), { tag: 2 }),
      hostname: field(string(), { tag: 3, pointer: true }),
      targetRef: field(ref('core/v1.ObjectReference'), { tag: 4, pointer: true }),
      deprecatedTopology: field(map(string()), { tag: 5 }),
      nodeName: field(string(), { tag: 6, pointer: true }),
      zone: field(string(), { tag: 7, pointer: true }),
      hints: field(ref('discovery/v1.EndpointHints'), { tag: 8, pointer: true }),
    }),
  EndpointConditions: () =>
    struct({
      ready: field(boolean(), { tag: 1, pointer: true }),
      serving: field(boolean(), { tag: 2, pointer: true }),
      terminating: field(boolean(), { tag: 3, pointer: true }),
    }),
  EndpointHints: () =>
    struct({
      forZones: field(list(ref('discovery/v1.ForZone')), { tag: 1, listType: 'atomic' }),
    }),
  EndpointPort: () =>
    struct(
      {
        name: field(string(), { tag: 1, pointer: true }),
        protocol: field(ref('core/v1.Protocol'), { tag: 2, pointer: true }),
        port: field(int32(), { tag: 3, pointer: true }),
        appProtocol: field(string(), { tag: 4, pointer: true }),
      },
      { structType: 'atomic' },
    ),
  EndpointSlice: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), { tag: 1 }),
      addressType: field(ref('discovery/v1.AddressType'), { tag: 4, required: true }),
      endpoints: field(list(ref('discovery/v1.Endpoint')), { tag: 2, required: true, listType: 'atomic' }),
      ports: field(list(ref('discovery/v1.EndpointPort')), { tag: 3, keepEmpty: true, listType: 'atomic' }),
    }),
  EndpointSliceList: () =>
    object({
      metadata: field(ref('meta/v1.ListMeta'), { tag: 1 }),
      items: field(list(ref('discovery/v1.EndpointSlice')), { tag: 2, required: true }),
    }),
  ForZone: () =>
    struct({
      name: field(string(), { tag: 1, required: true }),
    }),
})
