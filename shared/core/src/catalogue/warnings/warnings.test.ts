import { describe, expect, test } from 'vitest'
import { namesOf } from '../../names.ts'
import { warningsAt, warningsOf } from '../testing/readers-testing.ts'
import { type Body, withChange } from '../testing/rules-testing.ts'

const names = namesOf('orch')
const template: Body = { metadata: {}, spec: { containers: [{ name: 'c', image: 'i' }] } }
const deployment: Body = { metadata: { name: 'd', generation: 1 }, spec: { template } }

const warned = (type: string, object: Body, live?: Body): readonly string[] => warningsOf(type, object, live, names)
/** The warnings at 1.27. */
const warnedLater = (type: string, object: Body, live?: Body): readonly string[] => warningsAt(27, { type, names }, object, live)

const key = (text: string): Body => ({ matchExpressions: [{ key: text, operator: 'Exists' }] })
const arch = 'deprecated since v1.14; use "orch.io/arch" instead'
const zone = 'deprecated since v1.17; use "topology.orch.io/zone" instead'
const seccomp = 'deprecated since v1.19, non-functional in a future release; use the "seccompProfile" field instead'

const rows: readonly (readonly [name: string, path: string, value: unknown, ...expected: string[]])[] = [
  ['nothing', 'metadata/annotations', { a: 'b' }],
  [
    'a former label of nodes',
    'spec/nodeSelector',
    { 'beta.orch.io/arch': 'a', other: 'b' },
    `spec.nodeSelector[beta.orch.io/arch]: ${arch}`,
  ],
  [
    'a former label in an affinity',
    'spec/affinity',
    {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [key('a'), key('beta.orch.io/arch')] },
        preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: key('failure-domain.beta.orch.io/zone') }],
      },
    },
    `spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[1].matchExpressions[0].key: beta.orch.io/arch is ${arch}`,
    `spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].key: failure-domain.beta.orch.io/zone is ${zone}`,
  ],
  [
    'a former label to spread over',
    'spec/topologySpreadConstraints',
    [{ topologyKey: 'failure-domain.beta.orch.io/zone' }],
    `spec.topologySpreadConstraints[0].topologyKey: failure-domain.beta.orch.io/zone is ${zone}`,
  ],
  [
    'an annotation without effect',
    'metadata/annotations',
    { 'scheduler.alpha.orch.io/critical-pod': '' },
    'metadata.annotations[scheduler.alpha.orch.io/critical-pod]: non-functional in v1.16+; use the "priorityClassName" field instead',
  ],
  [
    'volumes that are going',
    'spec/volumes',
    [
      { name: 'a', gitRepo: {} },
      { name: 'b', storageos: {} },
      { name: 'c', glusterfs: {} },
    ],
    'spec.volumes[0].gitRepo: deprecated in v1.11',
    'spec.volumes[1].storageOS: deprecated in v1.22, support removal is planned in v1.26',
    'spec.volumes[2].glusterfs: deprecated in v1.25, this feature will be removed soon after in a subsequent release',
  ],
  ['an address twice', 'spec/hostAliases', [{ ip: '1.1.1.1' }, { ip: '1.1.1.1' }], 'spec.hostAliases[1].ip: duplicate ip "1.1.1.1"'],
  [
    'secrets twice and without a name',
    'spec/imagePullSecrets',
    [{ name: 'a' }, { name: 'a' }, {}],
    'spec.imagePullSecrets[1].name: duplicate name "a"',
    'spec.imagePullSecrets[2].name: invalid empty name ""',
  ],
  [
    'a part of a byte',
    'spec/overhead',
    { memory: '500m', cpu: '500m' },
    'spec.overhead[memory]: fractional byte value "500m" is invalid, must be an integer',
  ],
  [
    'parts of bytes and a variable twice',
    'spec/initContainers',
    [
      {
        name: 'i',
        resources: { limits: { memory: '1500m', 'ephemeral-storage': '1Gi' }, requests: { memory: '1', 'ephemeral-storage': '1m' } },
        env: [{ name: 'A' }, { name: 'A' }],
      },
    ],
    'spec.initContainers[0].resources.limits[memory]: fractional byte value "1500m" is invalid, must be an integer',
    'spec.initContainers[0].resources.requests[ephemeral-storage]: fractional byte value "1m" is invalid, must be an integer',
    'spec.initContainers[0].env[1].name: duplicate name "A"',
  ],
  [
    'profiles in annotations',
    'metadata/annotations',
    { 'seccomp.security.alpha.orch.io/pod': 'x', 'container.seccomp.security.alpha.orch.io/c': 'x' },
    `metadata.annotations[seccomp.security.alpha.orch.io/pod]: ${seccomp}`,
    `metadata.annotations[container.seccomp.security.alpha.orch.io/c]: ${seccomp}`,
  ],
]

describe('warnings of Pods', () => {
  test.each(rows.map(([name, path, value, ...expected]) => ({ name, path, value, expected })))(
    'are as expected: $name',
    ({ path, value, expected }) => {
      expect(warned('core/v1.Pod', withChange(template, path, value))).toEqual(expected)
    },
  )

  test('are absent for profiles that a field also sets', () => {
    const annotations = { 'seccomp.security.alpha.orch.io/pod': 'x', 'container.seccomp.security.alpha.orch.io/c': 'x' }
    const securityContext = { seccompProfile: { type: 'Unconfined' } }
    expect(
      warned('core/v1.Pod', { metadata: { annotations }, spec: { securityContext, containers: [{ name: 'c', securityContext }] } }),
    ).toEqual([])
  })

  test('are absent on update', () => {
    const pod = withChange(template, 'spec/volumes', [{ name: 'a', gitRepo: {} }])
    expect(warned('core/v1.Pod', pod, template)).toEqual([])
  })
})

const going = withChange(template, 'spec/volumes', [{ name: 'a', gitRepo: {} }])
const message = (path: string): string => `${path}.spec.volumes[0].gitRepo: deprecated in v1.11`

describe('warnings of Pod templates', () => {
  test.each([
    'core/v1.ReplicationController',
    'apps/v1.Deployment',
    'apps/v1.ReplicaSet',
    'apps/v1.StatefulSet',
    'apps/v1.DaemonSet',
    'batch/v1.Job',
  ])('cover the template of %s', (type) => {
    expect(warned(type, withChange(deployment, 'spec/template', going))).toEqual([message('spec.template')])
  })

  test('use the template paths of a CronJob and a PodTemplate', () => {
    expect(warned('batch/v1.CronJob', { metadata: {}, spec: { jobTemplate: { spec: { template: going } } } })).toEqual([
      message('spec.jobTemplate.spec.template'),
    ])
    expect(warned('core/v1.PodTemplate', { metadata: {}, template: going })).toEqual([message('template')])
  })

  test('cover an update that increases the generation', () => {
    const live = withChange(deployment, 'spec/template', going)
    expect(warned('apps/v1.Deployment', live, live)).toEqual([])
    expect(warned('apps/v1.Deployment', withChange(live, 'metadata/generation', 2), live)).toEqual([message('spec.template')])
  })

  test('cover an update of a DaemonSet that changes its template', () => {
    const counted = (count: string): Body => ({
      metadata: { generation: Number(count) + 5, annotations: { 'deprecated.daemonset.template.generation': count } },
      spec: { template: going },
    })
    const live = counted('1')
    expect(warned('apps/v1.DaemonSet', withChange(live, 'metadata/generation', 9), live)).toEqual([])
    expect(warned('apps/v1.DaemonSet', counted('2'), live)).toEqual([message('spec.template')])
  })
})

test('every write of a CronJob with a time zone in its schedule causes a warning', () => {
  const cronJob: Body = { metadata: {}, spec: { schedule: 'TZ=UTC * * * * *' } }
  const page = 'https://orch.io/docs/concepts/workloads/controllers/cron-jobs/'
  const expected = [`CRON_TZ or TZ used in spec.spec.schedule is not officially supported, see ${page} for more details`]
  expect(warned('batch/v1.CronJob', cronJob)).toEqual(expected)
  expect(warned('batch/v1.CronJob', cronJob, cronJob)).toEqual(expected)
  expect(warned('batch/v1.CronJob', withChange(cronJob, 'spec/schedule', '* * * * *'))).toEqual([])
})

test('the class annotation of a new Ingress without the class field causes a warning', () => {
  const ingress: Body = { metadata: { annotations: { 'orch.io/ingress.class': 'c' } }, spec: {} }
  expect(warnedLater('networking/v1.Ingress', ingress)).toEqual([
    `annotation "orch.io/ingress.class" is deprecated, please use 'spec.ingressClassName' instead`,
  ])
  expect(warnedLater('networking/v1.Ingress', ingress, ingress)).toEqual([])
  expect(warnedLater('networking/v1.Ingress', withChange(ingress, 'spec/ingressClassName', 'c'))).toEqual([])
  expect(warnedLater('networking/v1.Ingress', { metadata: {}, spec: {} })).toEqual([])
})

const expressions = [
  { key: 'a', operator: 'Exists' },
  { key: 'beta.orch.io/arch', operator: 'Exists', values: ['x'] },
]

describe('warnings of other kinds, on create and on update', () => {
  test.each<readonly [string, string, Body, readonly string[]]>([
    [
      'the nodes of a PersistentVolume',
      'core/v1.PersistentVolume',
      { spec: { nodeAffinity: { required: { nodeSelectorTerms: [{}, { matchExpressions: expressions }] } } } },
      [`spec.nodeAffinity.required.nodeSelectorTerms[1].matchExpressions[1].key: beta.orch.io/arch is ${arch}`],
    ],
    [
      'the nodes of a RuntimeClass',
      'node/v1.RuntimeClass',
      { scheduling: { nodeSelector: { a: 'b', 'beta.orch.io/arch': 'x' } } },
      [`scheduling.nodeSelector: ${arch}`],
    ],
    [
      'the topologies of a StorageClass',
      'storage/v1.StorageClass',
      { allowedTopologies: [{ matchLabelExpressions: expressions }] },
      [`allowedTopologies[0].matchLabelExpressions[1].key: ${arch}`],
    ],
    [
      'the nodes of a CSIStorageCapacity',
      'storage/v1.CSIStorageCapacity',
      { nodeTopology: { matchExpressions: expressions, matchLabels: { 'beta.orch.io/arch': 'x' } } },
      [`nodeTopology.matchExpressions[1].key: beta.orch.io/arch is ${arch}`, `nodeTopology.matchLabels.beta.orch.io/arch: ${arch}`],
    ],
    [
      'fields of a Node',
      'core/v1.Node',
      { spec: { configSource: {}, externalID: 'x' } },
      ['spec.configSource: the feature is removed', 'spec.externalID: this field is deprecated, and is unused by Kubernetes'],
    ],
    ['a plain Node', 'core/v1.Node', { spec: {} }, []],
    ['a plain PersistentVolume', 'core/v1.PersistentVolume', { spec: {} }, []],
  ])('are as expected: %s', (_, type, object, expected) => {
    expect(warnedLater(type, object)).toEqual(expected)
    expect(warnedLater(type, object, object)).toEqual(expected)
  })

  const invalid = (what: string) => `IP ${what} was accepted, but will be invalid in a future Kubernetes release`
  const loops = 'which may cause controller apply-loops'
  test.each<readonly [Body, readonly string[]]>([
    [{ clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], externalIPs: ['2001:db8::1', '::ffff:1.2.3.4'], loadBalancerIP: '1.2.3.4' }, []],
    [
      { clusterIP: '10.0.0.01', clusterIPs: ['10.0.0.01'] },
      [`spec.clusterIPs[0]: ${invalid('address')}: ParseAddr("10.0.0.01"): IPv4 field has octet with leading zero`],
    ],
    [
      { externalIPs: ['2001:DB8:0:0:1:0:0:1', '1:2:3:4:5:6:7:0'] },
      [`spec.externalIPs[0]: IPv6 address "2001:DB8:0:0:1:0:0:1" is not in RFC 5952 canonical format ("2001:db8::1:0:0:1"), ${loops}`],
    ],
    [
      { loadBalancerIP: '2001:db8::0:1' },
      [`spec.loadBalancerIP: IPv6 address "2001:db8::0:1" is not in RFC 5952 canonical format ("2001:db8::1"), ${loops}`],
    ],
    [
      { loadBalancerSourceRanges: ['10.0.0.0/8', '010.0.0.0/8', ' 10.0.0.0/8', '10.0.0.0/08', 'fd00:0::/64', '::/0'] },
      [
        `spec.loadBalancerSourceRanges[1]: ${invalid('prefix')}: netip.ParsePrefix("010.0.0.0/8"): ParseAddr("010.0.0.0"): IPv4 field has octet with leading zero`,
        `spec.loadBalancerSourceRanges[2]: ${invalid('prefix')}: netip.ParsePrefix(" 10.0.0.0/8"): ParseAddr(" 10.0.0.0"): unexpected character (at " 10.0.0.0")`,
        `spec.loadBalancerSourceRanges[3]: ${invalid('prefix')}: netip.ParsePrefix("10.0.0.0/08"): bad bits after slash: "08"`,
        `spec.loadBalancerSourceRanges[4]: IPv6 prefix "fd00:0::/64" is not in RFC 5952 canonical format ("fd00::/64"), ${loops}`,
      ],
    ],
  ])('name addresses of a Service: %j', (spec, expected) => {
    expect(warnedLater('core/v1.Service', { spec })).toEqual(expected)
  })

  test.each<readonly [string, Body, string]>([
    [
      'an annotation that has another in its place',
      { metadata: { annotations: { 'service.orch.io/topology-aware-hints': 'Auto' } } },
      'annotation service.orch.io/topology-aware-hints is deprecated, please use service.orch.io/topology-mode instead',
    ],
  ])('are about a Service with %s', (_, service, expected) => {
    expect(warnedLater('core/v1.Service', service)).toEqual([expected])
    expect(warnedLater('core/v1.Service', service, service)).toEqual([expected])
  })

  test('are absent for a Service whose fields have effect', () => {
    const headless = { type: 'ClusterIP', clusterIP: 'None', sessionAffinity: 'None' }
    expect(warned('core/v1.Service', { metadata: { annotations: { 'service.orch.io/topology-mode': 'Auto' } }, spec: headless })).toEqual(
      [],
    )
    expect(warned('core/v1.Service', { spec: { type: 'ExternalName', externalName: 'a.example' } })).toEqual([])
  })
})

test('LIM-12: the files of a projected volume are compared in bounded time', () => {
  const items = [{ key: 'a', path: `a${'/'.repeat(1_000_000)}b` }, ...Array.from({ length: 20_000 }, () => ({ key: 'a', path: 'b/' }))]
  const spec = { volumes: [{ name: 'v', projected: { sources: [{ secret: { name: 's', items } }] } }], containers: [] }
  const said = warningsAt(30, { type: 'core/v1.Pod', names }, { metadata: { name: 'p' }, spec })
  expect(said.filter((text) => text.includes('overlapping paths'))).toHaveLength(200)
})
