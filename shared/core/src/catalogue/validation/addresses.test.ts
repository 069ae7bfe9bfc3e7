import { describe, expect, test } from 'vitest'
import { namesOf } from '../../names.ts'
import { createCatalogue } from '../catalogue.ts'
import { warningsAt } from '../testing/readers-testing.ts'
import { type Body, problemsOf } from '../testing/rules-testing.ts'

const names = namesOf('kubernetes')
const ports = [{ port: 80, name: 'a' }]
const aService = (spec: Body): Body => ({ metadata: { name: 'a', namespace: 'n' }, spec: { ports, ...spec } })

interface Row {
  readonly type: string
  readonly object: Body
  readonly field: string
  readonly value: string
  readonly problem: string
  /** The warning at levels up to 1.35. */
  readonly warning: string
}

const zeros = 'must not have leading 0s'
const rows: readonly Row[] = [
  {
    type: 'core/v1.Service',
    object: aService({ externalIPs: ['010.1.1.1'] }),
    field: 'spec.externalIPs[0]',
    value: '010.1.1.1',
    problem: zeros,
    warning: 'non-standard IP address "010.1.1.1" will be considered invalid in a future Kubernetes release: use "10.1.1.1"',
  },
  {
    type: 'core/v1.Service',
    object: aService({ externalIPs: ['::ffff:1.2.3.4'] }),
    field: 'spec.externalIPs[0]',
    value: '::ffff:1.2.3.4',
    problem: 'must not be an IPv4-mapped IPv6 address',
    warning: 'non-standard IP address "::ffff:1.2.3.4" will be considered invalid in a future Kubernetes release: use "1.2.3.4"',
  },
  {
    type: 'core/v1.Endpoints',
    object: { metadata: { name: 'a', namespace: 'n' }, subsets: [{ addresses: [{ ip: '10.1.1.01' }], ports }] },
    field: 'subsets[0].addresses[0].ip',
    value: '10.1.1.01',
    problem: zeros,
    warning: 'non-standard IP address "10.1.1.01" will be considered invalid in a future Kubernetes release: use "10.1.1.1"',
  },
  {
    type: 'discovery/v1.EndpointSlice',
    object: { metadata: { name: 'a', namespace: 'n' }, addressType: 'IPv4', endpoints: [{ addresses: ['10.01.1.1'] }] },
    field: 'endpoints[0].addresses[0]',
    value: '10.01.1.1',
    problem: zeros,
    warning: 'non-standard IP address "10.01.1.1" will be considered invalid in a future Kubernetes release: use "10.1.1.1"',
  },
  {
    type: 'networking/v1.NetworkPolicy',
    object: {
      metadata: { name: 'a', namespace: 'n' },
      spec: { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: 'fd00::1/64' } }] }] },
    },
    field: 'spec.ingress[0].from[0].ipBlock.cidr',
    value: 'fd00::1/64',
    problem: 'must not have bits set beyond the prefix length',
    warning: 'CIDR value "fd00::1/64" is ambiguous in this context (should be "fd00::/64" or "fd00::1/128"?)',
  },
]

describe('TODAY-ALL-09: an ambiguous address', () => {
  test.each(rows)('$value in $field is refused since 1.36, unless it is unchanged, and warned about since 1.33', (row) => {
    const { type, object, field, value, problem, warning } = row
    const refusal = `${field}: Invalid value: ${JSON.stringify(value)}: ${problem}`
    expect([32, 35].map((level) => problemsOf(type, object, { level }))).toEqual([[], []])
    expect(problemsOf(type, object, { level: 36 })).toEqual([refusal])
    expect(problemsOf(type, object, { level: 36, isGateOn: (gate) => gate !== 'StrictIPCIDRValidation' })).toEqual([])
    expect(problemsOf(type, object, { level: 36, live: object })).toEqual([])
    expect(warningsAt(33, { type: type, names }, object)).toEqual([`${field}: ${warning}`])
    const since36 = warning.replace('will be considered invalid in a future Kubernetes release:', 'is invalid:')
    expect(warningsAt(36, { type: type, names }, object)).toContain(`${field}: ${since36}`)
  })

  test.each([
    [
      32,
      'spec.externalIPs[0]: IPv6 address "FD00:0::1" is not in RFC 5952 canonical format ("fd00::1"), which may cause controller apply-loops',
    ],
    [33, 'spec.externalIPs[0]: IPv6 address "FD00:0::1" should be in RFC 5952 canonical format ("fd00::1")'],
  ])('has the warning of 1.%i if only its spelling is unusual', (level, warning) => {
    const service = aService({ externalIPs: ['FD00:0::1'] })
    expect(warningsAt(level, { type: 'core/v1.Service', names }, service)).toEqual([warning])
    expect(problemsOf('core/v1.Service', service, { level: 37 })).toEqual([])
  })

  test.each([
    [
      '10.0.0.0/024',
      ['non-standard CIDR value "10.0.0.0/024" will be considered invalid in a future Kubernetes release: use "10.0.0.0/24"'],
    ],
    ['FD00::/64', ['IPv6 CIDR value "FD00::/64" should be in RFC 5952 canonical format ("fd00::/64")']],
    ['10.0.0.0/8', []],
  ])('is warned about in loadBalancerSourceRanges: %s', (range, warnings) => {
    const service = aService({ type: 'LoadBalancer', loadBalancerSourceRanges: [range] })
    const expected = warnings.map((text) => `spec.loadBalancerSourceRanges[0]: ${text}`)
    expect(warningsAt(35, { type: 'core/v1.Service', names }, service)).toEqual(expected)
  })
})

test('TODAY-ALL-09: IPv6 addresses of an EndpointSlice are canonical since 1.33', () => {
  const slice = (address: string, addressType = 'IPv6'): Body => ({
    metadata: { name: 'a', namespace: 'n' },
    ...{ addressType, endpoints: [{ addresses: [address] }] },
  })
  const judge = (object: Body, level: number) => problemsOf('discovery/v1.EndpointSlice', object, { level })
  expect(judge(slice('FD00::1'), 32)).toEqual([])
  expect(judge(slice('FD00::1'), 33)).toEqual([
    'endpoints[0].addresses[0]: Invalid value: "FD00::1": must be in canonical form ("fd00::1")',
  ])
  expect(judge(slice('10.1.1.1'), 33)).toEqual(['endpoints[0].addresses: Invalid value: "10.1.1.1": must be an IPv6 address'])
  expect(judge(slice('fd00::1', 'IPv4'), 33)).toEqual(['endpoints[0].addresses: Invalid value: "fd00::1": must be an IPv4 address'])
})

test.each([
  [30, 'PreferClose', []],
  [33, 'PreferSameZone', ['spec.trafficDistribution: Unsupported value: "PreferSameZone": supported values: "PreferClose"']],
  [34, 'PreferSameZone', []],
  [34, '', ['spec.trafficDistribution: Unsupported value: "": supported values: "PreferClose", "PreferSameZone", "PreferSameNode"']],
])('TODAY-SVC-01, TODAY-ALL-05: at 1.%i the preference among endpoints %j follows that release', (level, trafficDistribution, expected) => {
  expect(problemsOf('core/v1.Service', aService({ trafficDistribution }), { level })).toEqual(expected)
})

test('TODAY-SVC-02: names of Services are RFC 1123 labels since 1.36, and RFC 1035 labels before', () => {
  const nameKindAt = (minor: number) => createCatalogue('kubernetes', { minor }).find('', 'v1', 'services')?.nameKind
  expect([25, 35, 36, 37].map(nameKindAt)).toEqual(['label1035', 'label1035', 'label', 'label'])
})

test('TODAY-SVC-03: the status of a Service has the IP mode of a load balancer, for that Service type only', () => {
  const judge = (type: string, ingress: Body, level: number) => {
    const live = aService({ type })
    return problemsOf('core/v1.Service', { ...live, status: { loadBalancer: { ingress: [ingress] } } }, { live, level, part: 'status' })
  }
  const field = 'status.loadBalancer.ingress[0]'
  expect(judge('LoadBalancer', { ip: '192.0.2.1' }, 37)).toEqual([])
  expect(judge('LoadBalancer', { ip: '192.0.2.1', ipMode: 'X' }, 37)).toEqual([
    `${field}.ipMode: Unsupported value: "X": supported values: "Proxy", "VIP"`,
  ])
  expect(judge('LoadBalancer', { hostname: 'a', ipMode: 'VIP' }, 37)).toEqual([
    `${field}.ipMode: Forbidden: may not be specified when \`ip\` is not set`,
  ])
  expect(judge('ClusterIP', { ip: '192.0.2.1' }, 28)).toEqual([])
  expect(judge('ClusterIP', { ip: 'x' }, 29)).toEqual([
    "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'",
  ])
})

test('TODAY-SVC-06: Services can be selected by clusterIP and type since 1.31', () => {
  const labelsAt = (minor: number) => Object.keys(createCatalogue('kubernetes', { minor }).find('', 'v1', 'services')?.fieldLabels ?? {})
  expect(labelsAt(30)).toEqual(['metadata.name', 'metadata.namespace'])
  expect(labelsAt(31)).toEqual(['metadata.name', 'metadata.namespace', 'spec.clusterIP', 'spec.type'])
})

test.each<[string, string, Body, number, string]>([
  [
    'an older name of a preference',
    'core/v1.Service',
    aService({ trafficDistribution: 'PreferClose' }),
    35,
    'is deprecated; use "PreferSameZone"',
  ],
  ['outer addresses', 'core/v1.Service', aService({ externalIPs: ['192.0.2.1'] }), 36, 'externalIPs is deprecated and may no longer'],
  ['a slice of names', 'discovery/v1.EndpointSlice', { metadata: {}, addressType: 'FQDN' }, 27, 'FQDN endpoints are deprecated'],
])('TODAY-SVC-05: %s is warned about from its level on', (_title, type, object, level, text) => {
  expect(warningsAt(level - 1, { type: type, names }, object)).toEqual([])
  expect(warningsAt(level, { type: type, names }, object)).toEqual([expect.stringContaining(text)])
})
