import { expect, test } from 'vitest'
import { type Body, problemsOf, withChange } from '../testing/rules-testing.ts'

const endpoints: Body = {
  metadata: { name: 'a' },
  subsets: [
    {
      addresses: [{ ip: '10.0.0.1', hostname: 'h', nodeName: 'n.example' }],
      notReadyAddresses: [{ ip: 'fd00::1' }],
      ports: [
        { name: 'a', port: 1, protocol: 'TCP', appProtocol: 'x' },
        { name: 'b', port: 2 },
      ],
    },
  ],
}
const wrongIp = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'

test('Endpoints with everything set are valid', () => {
  expect(problemsOf('core/v1.Endpoints', endpoints)).toEqual([])
})

test.each<readonly [string, string, unknown, readonly string[]]>([
  ['no address', 'subsets', [{ ports: [{ port: 1 }] }], ['subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`']],
  [
    'an address that is none',
    'subsets/0/addresses/0/ip',
    'x',
    [
      `subsets[0].addresses[0].ip: Invalid value: "x": ${wrongIp}`,
      'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address',
    ],
  ],
  [
    'a link-local address',
    'subsets/0/notReadyAddresses/0/ip',
    'fe80::1',
    ['subsets[0].notReadyAddresses[0].ip: Invalid value: "fe80::1": may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
  ],
  [
    'a multicast address',
    'subsets/0/notReadyAddresses/0/ip',
    '224.0.0.7',
    [
      'subsets[0].notReadyAddresses[0].ip: Invalid value: "224.0.0.7": may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
    ],
  ],
  [
    'the address of everybody',
    'subsets/0/notReadyAddresses/0/ip',
    '::',
    ['subsets[0].notReadyAddresses[0].ip: Invalid value: "::": may not be unspecified (0.0.0.0 or ::)'],
  ],
  ['two ports, one without a name', 'subsets/0/ports/1/name', '', ['subsets[0].ports[1].name: Required value']],
  ['port 0', 'subsets/0/ports/0/port', 0, ['subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive']],
  [
    'a protocol',
    'subsets/0/ports/0/protocol',
    'X',
    ['subsets[0].ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"'],
  ],
])('Endpoints with %s have the expected errors', (_, path, value, problems) => {
  expect(problemsOf('core/v1.Endpoints', withChange(endpoints, path, value))).toEqual(problems)
})

test('Endpoints with unchanged subsets may keep invalid values', () => {
  const wrong = withChange(endpoints, 'subsets/0/addresses/0/ip', '127.0.0.1')
  expect(problemsOf('core/v1.Endpoints', { ...wrong, metadata: { name: 'a', labels: { a: 'b' } } }, { live: wrong })).toEqual([])
})

const slice: Body = {
  metadata: { name: 'a' },
  addressType: 'IPv4',
  endpoints: [
    {
      addresses: ['10.0.0.1'],
      hostname: 'h',
      nodeName: 'n',
      deprecatedTopology: { a: 'b' },
      hints: { forZones: [{ name: 'z' }] },
      conditions: { ready: true },
    },
  ],
  ports: [{ name: 'a', port: 1, protocol: 'TCP', appProtocol: 'x' }],
}

test('an EndpointSlice with everything set is valid', () => {
  expect(problemsOf('discovery/v1.EndpointSlice', slice)).toEqual([])
})

test.each<readonly [string, string, unknown, readonly string[]]>([
  ['no type', 'addressType', '', ['addressType: Required value']],
  ['a type', 'addressType', 'MAC', ['addressType: Unsupported value: "MAC": supported values: "FQDN", "IPv4", "IPv6"']],
  ['no address', 'endpoints/0/addresses', [], ['endpoints[0].addresses: Required value: must contain at least 1 address']],
  [
    'an address of the other family',
    'endpoints/0/addresses',
    ['fd00::1'],
    ['endpoints[0].addresses[0]: Invalid value: "fd00::1": must be a valid IPv4 address'],
  ],
  [
    'too many addresses',
    'endpoints/0/addresses',
    new Array(101).fill('10.0.0.1'),
    ['endpoints[0].addresses: Too many: 101: must have at most 100 items'],
  ],
  [
    'too many endpoints',
    'endpoints',
    new Array(1001).fill({ addresses: ['10.0.0.1'] }),
    ['endpoints: Too many: 1001: must have at most 1000 items'],
  ],
  [
    'one zone twice',
    'endpoints/0/hints',
    { forZones: [{ name: 'z' }, { name: 'z' }] },
    ['endpoints[0].hints.forZones[1].name: Duplicate value: "z"'],
  ],
  [
    'too many zones',
    'endpoints/0/hints',
    { forZones: new Array(9).fill({ name: 'z' }) },
    ['endpoints[0].hints.forZones: Too many: 9: must have at most 8 items'],
  ],
  ['two ports without names', 'ports', [{ port: 1 }, { port: 2 }], ['ports[1].name: Duplicate value: ""']],
  ['an empty protocol', 'ports/0/protocol', '', ['ports[0].protocol: Unsupported value: "": supported values: "SCTP", "TCP", "UDP"']],
])('an EndpointSlice with %s has the expected errors', (_, path, value, problems) => {
  expect(problemsOf('discovery/v1.EndpointSlice', withChange(slice, path, value))).toEqual(problems)
})

test('addresses of an EndpointSlice of type FQDN contain a dot', () => {
  const named = (address: string): Body => ({ ...slice, addressType: 'FQDN', endpoints: [{ addresses: [address] }] })
  expect(problemsOf('discovery/v1.EndpointSlice', named('a.example.'))).toEqual([])
  expect(problemsOf('discovery/v1.EndpointSlice', named('a'))).toEqual([
    'endpoints[0].addresses[0]: Invalid value: "a": should be a domain with at least two segments separated by dots',
  ])
})

test('an EndpointSlice keeps its address type', () => {
  const changed = { ...slice, addressType: 'IPv6', endpoints: [] }
  expect(problemsOf('discovery/v1.EndpointSlice', changed, { live: slice })).toEqual([
    'addressType: Invalid value: "IPv6": field is immutable',
  ])
})
