import { expect, test } from 'vitest'
import { dropFieldsOfFormerType } from '../defaults/service-type.ts'
import { type Body, problemsOf, withChange } from '../testing/rules-testing.ts'

const service: Body = {
  metadata: { name: 'a' },
  spec: {
    type: 'LoadBalancer',
    selector: { app: 'a' },
    clusterIP: '10.0.0.1',
    clusterIPs: ['10.0.0.1', 'fd00::1'],
    ipFamilies: ['IPv4', 'IPv6'],
    ipFamilyPolicy: 'PreferDualStack',
    ports: [
      { name: 'http', port: 80, targetPort: 'web', nodePort: 30080, protocol: 'TCP', appProtocol: 'example.com/http' },
      { name: 'dns', port: 53, targetPort: 5353, protocol: 'UDP' },
    ],
    externalIPs: ['192.0.2.1'],
    sessionAffinity: 'ClientIP',
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 10 } },
    loadBalancerSourceRanges: ['10.0.0.0/8', ' fd00::/64 '],
    loadBalancerClass: 'example.com/lb',
    allocateLoadBalancerNodePorts: false,
    externalTrafficPolicy: 'Local',
    healthCheckNodePort: 30090,
    internalTrafficPolicy: 'Local',
    publishNotReadyAddresses: true,
  },
}
const plain: Body = { metadata: { name: 'a' }, spec: { ports: [{ port: 80 }] } }

test('a Service with everything set, and a minimal Service, are valid', () => {
  expect(problemsOf('core/v1.Service', service)).toEqual([])
  expect(problemsOf('core/v1.Service', plain)).toEqual([])
})

const domainRule =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"

test.each<readonly [string, string, unknown, readonly string[]]>([
  ['no ports', 'ports', [], ['ports: Required value']],
  [
    'a port of the node agent',
    'ports/0/port',
    10250,
    ['ports[0]: Invalid value: 10250: may not expose port 10250 externally since it is used by kubelet'],
  ],
  ['two ports without names', 'ports/0/name', '', ['ports[0].name: Required value']],
  ['two ports of one name', 'ports/0/name', 'dns', ['ports[1].name: Duplicate value: "dns"']],
  ['port 0', 'ports/0/port', 0, ['ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive']],
  [
    'a target without letters',
    'ports/0/targetPort',
    '8',
    ['ports[0].targetPort: Invalid value: "8": must contain at least one letter (a-z)'],
  ],
  [
    'a target above all ports',
    'ports/1/targetPort',
    65536,
    ['ports[1].targetPort: Invalid value: 65536: must be between 1 and 65535, inclusive'],
  ],
  ['a protocol', 'ports/0/protocol', 'ICMP', ['ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"']],
  [
    'one port twice',
    'ports/1',
    { name: 'x', port: 80, protocol: 'TCP', nodePort: 30080 },
    [
      'ports[1].nodePort: Duplicate value: 30080',
      'ports[1]: Duplicate value: core.ServicePort{Name:"", Protocol:"TCP", AppProtocol:(*string)(nil), Port:80, TargetPort:intstr.IntOrString{Type:0, IntVal:0, StrVal:""}, NodePort:0}',
    ],
  ],
  [
    'no address',
    'clusterIPs',
    ['None'],
    [
      `clusterIPs[0]: Invalid value: "None": may not be set to 'None' for LoadBalancer services`,
      'clusterIPs: Invalid value: []string{"None"}: first value must match `clusterIP`',
    ],
  ],
  [
    'two addresses of one family',
    'clusterIPs',
    ['10.0.0.1', '10.0.0.2'],
    [
      'clusterIPs: Invalid value: []string{"10.0.0.1", "10.0.0.2"}: may specify no more than one IP for each IP family',
      'clusterIPs[1]: Invalid value: "10.0.0.2": expected an IPv6 value as indicated by `ipFamilies[1]`',
    ],
  ],
  [
    'an address that is none',
    'clusterIPs',
    ['10.0.0.1', 'x'],
    ['clusterIPs[1]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
  ],
  [
    'None among addresses',
    'clusterIPs',
    ['10.0.0.1', 'None'],
    ['clusterIPs[1]: Invalid value: "None": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
  ],
  [
    'one family twice',
    'ipFamilies',
    ['IPv4', 'IPv4'],
    [
      'ipFamilies[1]: Duplicate value: "IPv4"',
      'clusterIPs[1]: Invalid value: "fd00::1": expected an IPv4 value as indicated by `ipFamilies[1]`',
    ],
  ],
  [
    'a family policy',
    'ipFamilyPolicy',
    'Any',
    ['ipFamilyPolicy: Unsupported value: "Any": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"'],
  ],
  [
    'a loopback address outside',
    'externalIPs',
    ['127.0.0.1'],
    ['externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  ],
  [
    'an address outside that is none',
    'externalIPs',
    ['x'],
    ['externalIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
  ],
  ['an affinity', 'sessionAffinity', 'Sticky', ['sessionAffinity: Unsupported value: "Sticky": supported values: "ClientIP", "None"']],
  [
    'an affinity of more than a day',
    'sessionAffinityConfig/clientIP/timeoutSeconds',
    86_401,
    ['sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0 and less than 86400'],
  ],
  [
    'a source that is no range',
    'loadBalancerSourceRanges',
    ['x'],
    ['LoadBalancerSourceRanges: Invalid value: "[x]": must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24 '],
  ],
  [
    'a health port for nothing',
    'externalTrafficPolicy',
    'Cluster',
    ["healthCheckNodePort: Invalid value: 30090: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"],
  ],
])('a Service with %s has the expected errors', (_, path, value, problems) => {
  expect(problemsOf('core/v1.Service', withChange(service, `spec/${path}`, value))).toEqual(problems.map((problem) => `spec.${problem}`))
})

test.each<readonly [string, Body, readonly string[]]>([
  ['an external name without a name', { type: 'ExternalName' }, ['spec.externalName: Required value']],
  ['an external name', { type: 'ExternalName', externalName: 'a.example.com.' }, []],
  ['an external name in capitals', { type: 'ExternalName', externalName: 'A' }, [`spec.externalName: Invalid value: "A": ${domainRule}`]],
  [
    'an external name with an address',
    { type: 'ExternalName', externalName: 'a', clusterIP: '10.0.0.1', ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
    ['clusterIPs', 'ipFamilies', 'ipFamilyPolicy'].map((name) => `spec.${name}: Forbidden: may not be set for ExternalName services`),
  ],
  ['no address and no ports', { clusterIP: 'None' }, []],
  [
    'no address on nodes',
    { type: 'NodePort', clusterIP: 'None', ports: [{ port: 1 }] },
    ['spec.clusterIPs[0]: Invalid value: "None": may not be set to \'None\' for NodePort services'],
  ],
  [
    'what only balancers have',
    {
      ports: [{ port: 1, nodePort: 30000 }],
      loadBalancerSourceRanges: ['10.0.0.0/8'],
      allocateLoadBalancerNodePorts: true,
      loadBalancerClass: 'a/b',
      externalTrafficPolicy: 'Local',
    },
    [
      "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
      "spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'",
      "spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is 'LoadBalancer'",
      "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'",
      "spec.externalTrafficPolicy: Invalid value: \"Local\": may only be set when `type` is 'NodePort' or 'LoadBalancer'",
    ],
  ],
  [
    'addresses but no address',
    { ports: [{ port: 1 }], clusterIPs: ['10.0.0.1'] },
    ['spec.clusterIPs: Invalid value: []string{"10.0.0.1"}: must be empty when `clusterIP` is not specified'],
  ],
])('a Service with %s has the expected errors', (_, spec, problems) => {
  expect(problemsOf('core/v1.Service', { metadata: { name: 'a' }, spec })).toEqual(problems)
})

test('the class of a load balancer is immutable', () => {
  const changed = withChange(service, 'spec/loadBalancerClass', 'example.com/other')
  expect(problemsOf('core/v1.Service', changed, { live: service })).toEqual([
    'spec.loadBalancerClass: Invalid value: "example.com/other": may not change once set',
  ])
})

test('the status of a Service has valid addresses and host names', () => {
  const status = (point: Body): Body => ({ metadata: { name: 'a' }, status: { loadBalancer: { ingress: [point] } } })
  expect(problemsOf('core/v1.Service', status({ ip: '192.0.2.1', hostname: 'a.example.com' }), { part: 'status' })).toEqual([])
  expect(problemsOf('core/v1.Service', status({ ip: 'x', hostname: '192.0.2.1' }), { part: 'status' })).toEqual([
    'status.loadBalancer.ingress[0].ip: Invalid value: "x": must be a valid IP address',
    'status.loadBalancer.ingress[0].hostname: Invalid value: "192.0.2.1": must be a DNS name, not an IP address',
  ])
})

test('a Service with a new type loses the fields of the former type', () => {
  const live = structuredClone(service['spec']) as Body
  const spec: Body = { ...structuredClone(live), type: 'ClusterIP' }
  dropFieldsOfFormerType(spec, live, 25)
  expect(Object.keys(live).filter((name) => !(name in spec))).toEqual([
    'loadBalancerClass',
    'allocateLoadBalancerNodePorts',
    'externalTrafficPolicy',
    'healthCheckNodePort',
  ])
  expect((spec['ports'] as Body[]).some((port) => 'nodePort' in port)).toBe(false)
  const named: Body = { ...structuredClone(live), type: 'ExternalName', externalName: 'a' }
  dropFieldsOfFormerType(named, live, 25)
  expect(named).not.toHaveProperty('clusterIP')
  expect(named).not.toHaveProperty('ipFamilies')
})

test('a new value for a field of the former type is kept', () => {
  const spec: Body = { ports: [{ port: 80, nodePort: 30001 }] }
  dropFieldsOfFormerType(spec, { type: 'NodePort', ports: [{ port: 80, nodePort: 30000 }] }, 25)
  expect(spec).toEqual({ ports: [{ port: 80, nodePort: 30001 }] })
})
