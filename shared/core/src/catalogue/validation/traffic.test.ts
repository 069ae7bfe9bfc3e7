import { describe, expect, test } from 'vitest'
import { type Body, problemsOf, withChange } from '../testing/rules-testing.ts'

type Row = readonly [name: string, path: string, value: unknown, ...expected: string[]]

/** Names the cells of a row; the last ones are the expected errors. */
const toCase = ([name, path, value, ...expected]: Row) => ({ name, path, value, expected })

const budget: Body = { metadata: { name: 'b', namespace: 'n' }, spec: { minAvailable: '50%', selector: { matchLabels: { a: 'b' } } } }

const ofBudgets: readonly Row[] = [
  ['everything that may be said', 'spec/minAvailable', '50%'],
  [
    'both bounds',
    'spec',
    { minAvailable: 1, maxUnavailable: 1 },
    'spec: Invalid value: policy.PodDisruptionBudgetSpec{MinAvailable:(*intstr.IntOrString)(0xc000000000), Selector:(*v1.LabelSelector)(nil), MaxUnavailable:(*intstr.IntOrString)(0xc000000000)}: minAvailable and maxUnavailable cannot be both set',
  ],
  [
    'more than all',
    'spec/minAvailable',
    '101%',
    'spec.minAvailable: Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:"101%"}: must not be greater than 100%',
  ],
  ['fewer than none', 'spec/minAvailable', -1, 'spec.minAvailable: Invalid value: -1: must be greater than or equal to 0'],
  [
    'no operator',
    'spec/selector',
    { matchExpressions: [{ key: 'a', operator: 'Is' }] },
    'spec.selector.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator',
  ],
]

describe('PodDisruptionBudget', () => {
  test.each(ofBudgets.map(toCase))('has the expected errors: $name', ({ path, value, expected }) => {
    expect(problemsOf('policy/v1.PodDisruptionBudget', withChange(budget, path, value))).toEqual(expected)
  })

  test('its status has valid counts and complete conditions', () => {
    const counts = { disruptionsAllowed: -1, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }
    const status = { ...counts, conditions: [{ type: 'A', status: 'Maybe', reason: '1', message: '' }] }
    expect(problemsOf('policy/v1.PodDisruptionBudget', { ...budget, status }, { live: budget, part: 'status' })).toEqual([
      'status.conditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"',
      'status.conditions[0].lastTransitionTime: Required value: must be set',
      expect.stringMatching(/^status\.conditions\[0\]\.reason: Invalid value: "1": a condition reason must start/),
      'status.disruptionsAllowed: Invalid value: -1: must be greater than or equal to 0',
    ])
  })
})

const service = (name: string, port: Body): Body => ({ service: { name, port } })
const ingress: Body = {
  metadata: { name: 'i', namespace: 'n' },
  spec: {
    ingressClassName: 'c',
    defaultBackend: { resource: { apiGroup: 'example.com', kind: 'K', name: 'k' } },
    tls: [{ hosts: ['a.example.com', '*.b.example.com'], secretName: 's' }],
    rules: [{ host: '*.example.com', http: { paths: [{ path: '/a', pathType: 'Prefix', backend: service('s', { name: 'http' }) }] } }],
  },
}
const noSubdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const path = 'spec/rules/0/http/paths/0'
const at = 'spec.rules[0].http.paths[0]'

const ofIngresses: readonly Row[] = [
  ['everything that may be said', path, { pathType: 'ImplementationSpecific', backend: service('s', { number: 80 }) }],
  ['nothing', 'spec', {}, 'spec: Invalid value: []networking.IngressRule(nil): either `defaultBackend` or `rules` must be specified'],
  ['an address', 'spec/rules/0/host', '10.0.0.1', 'spec.rules[0].host: Invalid value: "10.0.0.1": must be a DNS name, not an IP address'],
  ['no path', 'spec/rules/0/http/paths', [], 'spec.rules[0].http.paths: Required value'],
  ['no type of path', `${path}/pathType`, undefined, `${at}.pathType: Required value: pathType must be specified`],
  [
    'no such type',
    `${path}/pathType`,
    'X',
    `${at}.pathType: Unsupported value: "X": supported values: "Exact", "ImplementationSpecific", "Prefix"`,
  ],
  ['a path from nowhere', `${path}/path`, 'a', `${at}.path: Invalid value: "a": must be an absolute path`],
  ['a path that climbs', `${path}/path`, '/a/..', `${at}.path: Invalid value: "/a/..": cannot end with '/..'`],
  ['two slashes', `${path}/path`, '/a//b', `${at}.path: Invalid value: "/a//b": must not contain '//'`],
  ['no backend', `${path}/backend`, {}, `${at}.backend: Invalid value: "": resource or service backend is required`],
  [
    'two backends',
    `${path}/backend`,
    { ...service('s', { number: 1 }), resource: { kind: 'K', name: 'k' } },
    `${at}.backend: Invalid value: "": cannot set both resource and service backends`,
  ],
  ['no port', `${path}/backend`, service('s', {}), `${at}.backend: Required value: port name or number is required`],
  [
    'two ports',
    `${path}/backend`,
    service('s', { name: 'a', number: 1 }),
    `${at}.backend: Invalid value: "": cannot set both port name & port number`,
  ],
  [
    'a port out of range',
    `${path}/backend`,
    service('s', { number: 70_000 }),
    `${at}.backend.service.port.number: Invalid value: 70000: must be between 1 and 65535, inclusive`,
  ],
  [
    'the class twice',
    'metadata/annotations',
    { 'orch.io/ingress.class': 'x' },
    'annotations.orch.io/ingress.class: Invalid value: "x": can not be set when the class field is also set',
  ],
  ['an empty class', 'spec/ingressClassName', '', `spec.ingressClassName: Invalid value: "": ${noSubdomain}`],
  [
    'an empty group',
    'spec/defaultBackend/resource/apiGroup',
    '',
    `spec.defaultBackend.resource.apiGroup: Invalid value: "": ${noSubdomain}`,
  ],
  ['a host of TLS', 'spec/tls/0/hosts', ['a.b', '_'], `spec.tls[0].hosts[1]: Invalid value: "_": ${noSubdomain}`],
  [
    'faults in the order of the fields, the annotation last',
    '',
    {
      ...withChange(ingress, 'metadata/annotations', { 'orch.io/ingress.class': 'x' }),
      spec: { ingressClassName: '_', defaultBackend: {}, rules: [{ http: { paths: [] } }], tls: [{ secretName: '_' }] },
    },
    'spec.defaultBackend: Invalid value: "": resource or service backend is required',
    'spec.rules[0].http.paths: Required value',
    `spec.tls[0].secretName: Invalid value: "_": ${noSubdomain}`,
    `spec.ingressClassName: Invalid value: "_": ${noSubdomain}`,
    'annotations.orch.io/ingress.class: Invalid value: "x": can not be set when the class field is also set',
  ],
]

describe('Ingress', () => {
  test.each(ofIngresses.map(toCase))('has the expected errors: $name', ({ path: where, value, expected }) => {
    const body = where === '' ? (value as Body) : withChange(ingress, where, value)
    expect(problemsOf('networking/v1.Ingress', body)).toEqual(expected)
  })

  test('a wildcard host has the star in front', () => {
    const [problem, ...others] = problemsOf('networking/v1.Ingress', withChange(ingress, 'spec/rules/0/host', 'a.*.com'))
    expect(problem).toMatch(/^spec\.rules\[0\]\.host: Invalid value: "a\.\*\.com": a wildcard DNS-1123 subdomain must start with '\*\.'/)
    expect(others).toEqual([])
  })

  test('its status has valid addresses', () => {
    const status = { loadBalancer: { ingress: [{ ip: 'x' }, { hostname: '10.0.0.1' }] } }
    expect(problemsOf('networking/v1.Ingress', { ...ingress, status }, { live: ingress, part: 'status' })).toEqual([
      'status.loadBalancer.ingress[0].ip: Invalid value: "x": must be a valid IP address',
      'status.loadBalancer.ingress[1].hostname: Invalid value: "10.0.0.1": must be a DNS name, not an IP address',
    ])
  })
})

const ingressClass: Body = {
  metadata: { name: 'c' },
  spec: { controller: 'example.com/c', parameters: { apiGroup: 'example.com', kind: 'K', name: 'k', scope: 'Namespace', namespace: 'n' } },
}

const ofClasses: readonly Row[] = [
  ['everything that may be said', 'spec/controller', 'example.com/c'],
  ['no controller', 'spec/controller', '', 'spec.controller: Required value'],
  ['no domain', 'spec/controller', 'c', 'spec.controller: Invalid value: "c": must be a domain-prefixed path (such as "acme.io/foo")'],
  ['a long controller', 'spec/controller', `a.b/${'c'.repeat(250)}`, 'spec.controller: Too long: must have at most 250 bytes'],
  [
    'parameters of nothing',
    'spec/parameters',
    {},
    'spec.parameters.kind: Required value: kind is required',
    'spec.parameters.name: Required value: name is required',
  ],
  [
    'a namespace for all',
    'spec/parameters/scope',
    'Cluster',
    "spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'",
  ],
  [
    'no namespace',
    'spec/parameters/namespace',
    undefined,
    "spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'",
  ],
  ['an empty scope', 'spec/parameters/scope', '', 'spec.parameters.scope: Unsupported value: "": supported values: "Cluster", "Namespace"'],
  [
    'an empty namespace',
    'spec/parameters/namespace',
    '',
    "spec.parameters.namespace: Invalid value: \"\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
  ],
]

describe('IngressClass', () => {
  test.each(ofClasses.map(toCase))('has the expected errors: $name', ({ path: where, value, expected }) => {
    expect(problemsOf('networking/v1.IngressClass', withChange(ingressClass, where, value))).toEqual(expected)
  })

  test('its controller is immutable', () => {
    const body = withChange(ingressClass, 'spec/controller', 'example.com/d')
    expect(problemsOf('networking/v1.IngressClass', body, { live: ingressClass })).toEqual([
      'spec.controller: Invalid value: "example.com/d": field is immutable',
    ])
    expect(problemsOf('networking/v1.IngressClass', withChange(ingressClass, 'spec/controller', ''), { live: ingressClass })).toEqual([
      'spec.controller: Invalid value: "": field is immutable',
      'spec.controller: Required value',
    ])
  })
})

const policy: Body = {
  metadata: { name: 'p', namespace: 'n' },
  spec: {
    podSelector: {},
    policyTypes: ['Ingress', 'Egress'],
    ingress: [{ from: [{ podSelector: {}, namespaceSelector: {} }], ports: [{ port: 80, endPort: 90 }, { port: 'http' }] }],
    egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }] }],
  },
}
const block = 'spec.egress[0].to[0].ipBlock'

const ofPolicies: readonly Row[] = [
  ['everything that may be said', 'spec/podSelector', {}],
  ['IPv6 too', 'spec/egress/0/to/0/ipBlock', { cidr: 'fd00::/8', except: ['fd01::/16'] }],
  ['nobody', 'spec/ingress/0/from/0', {}, 'spec.ingress[0].from[0]: Required value: must specify a peer'],
  [
    'a range and Pods',
    'spec/egress/0/to/0/podSelector',
    {},
    'spec.egress[0].to[0]: Forbidden: may not specify both ipBlock and another peer',
  ],
  ['no range', 'spec/egress/0/to/0/ipBlock', { cidr: '10.0.0.0' }, `${block}.cidr: Invalid value: "10.0.0.0": not a valid CIDR`],
  [
    'a hole outside',
    'spec/egress/0/to/0/ipBlock/except/0',
    '11.0.0.0/16',
    `${block}.except[0]: Invalid value: "11.0.0.0/16": must be a strict subset of \`cidr\``,
  ],
  [
    'a hole as large',
    'spec/egress/0/to/0/ipBlock/except/0',
    '10.0.0.0/8',
    `${block}.except[0]: Invalid value: "10.0.0.0/8": must be a strict subset of \`cidr\``,
  ],
  [
    'a hole that is no range hides the ones after it',
    'spec/egress/0/to/0/ipBlock/except',
    ['x', 'y'],
    `${block}.except[0]: Invalid value: "x": not a valid CIDR`,
  ],
  [
    'ports backwards',
    'spec/ingress/0/ports/0/endPort',
    70,
    'spec.ingress[0].ports[0].endPort: Invalid value: 80: must be greater than or equal to `port`',
  ],
  [
    'an end without a beginning',
    'spec/ingress/0/ports/0',
    { endPort: 1 },
    'spec.ingress[0].ports[0].endPort: Invalid value: 1: may not be specified when `port` is not specified',
  ],
  [
    'an end of a name',
    'spec/ingress/0/ports/1/endPort',
    1,
    'spec.ingress[0].ports[1].endPort: Invalid value: 1: may not be specified when `port` is non-numeric',
  ],
  [
    'an end of a name that is none',
    'spec/ingress/0/ports/1',
    { port: '1', endPort: 0 },
    'spec.ingress[0].ports[1].endPort: Invalid value: 0: may not be specified when `port` is non-numeric',
    'spec.ingress[0].ports[1].port: Invalid value: "1": must contain at least one letter (a-z)',
  ],
  [
    'ports out of range',
    'spec/ingress/0/ports/0',
    { port: 0, endPort: 70_000 },
    'spec.ingress[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
    'spec.ingress[0].ports[0].endPort: Invalid value: 70000: must be between 1 and 65535, inclusive',
  ],
  [
    'no such protocol',
    'spec/ingress/0/ports/1/protocol',
    'X',
    'spec.ingress[0].ports[1].protocol: Unsupported value: "X": supported values: "TCP", "UDP", "SCTP"',
  ],
  ['no such direction', 'spec/policyTypes/0', 'Up', 'spec.policyTypes[0]: Unsupported value: "Up": supported values: "Ingress", "Egress"'],
  [
    'more directions than there are',
    'spec/policyTypes',
    ['Ingress', 'Egress', 'Up'],
    'spec.policyTypes: Invalid value: []networking.PolicyType{"Ingress", "Egress", "Up"}: may not specify more than two policyTypes',
  ],
]

describe('NetworkPolicy', () => {
  test.each(ofPolicies.map(toCase))('has the expected errors: $name', ({ path: where, value, expected }) => {
    expect(problemsOf('networking/v1.NetworkPolicy', withChange(policy, where, value))).toEqual(expected)
  })
})
