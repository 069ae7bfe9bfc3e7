import { describe, expect, test } from 'vitest'
import { namesOf } from '../../names.ts'
import { type Body, withChange } from '../validation/rules-testing.ts'
import { warningsOf } from './warnings.ts'

const names = namesOf('orch')
const template: Body = { metadata: {}, spec: { containers: [{ name: 'c', image: 'i' }] } }
const deployment: Body = { metadata: { name: 'd', generation: 1 }, spec: { template } }

const warned = (type: string, object: Body, live?: Body): string[] => warningsOf(type, object, live, names)

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
  test.each(rows.map(([name, path, value, ...expected]) => ({ name, path, value, expected })))('$name', ({ path, value, expected }) => {
    expect(warned('core/v1.Pod', withChange(template, path, value))).toEqual(expected)
  })

  test('none of profiles that a field names, too', () => {
    const annotations = { 'seccomp.security.alpha.orch.io/pod': 'x', 'container.seccomp.security.alpha.orch.io/c': 'x' }
    const securityContext = { seccompProfile: { type: 'Unconfined' } }
    expect(
      warned('core/v1.Pod', { metadata: { annotations }, spec: { securityContext, containers: [{ name: 'c', securityContext }] } }),
    ).toEqual([])
  })

  test('none on update', () => {
    const pod = withChange(template, 'spec/volumes', [{ name: 'a', gitRepo: {} }])
    expect(warned('core/v1.Pod', pod, template)).toEqual([])
  })
})

const going = withChange(template, 'spec/volumes', [{ name: 'a', gitRepo: {} }])
const message = (path: string): string => `${path}.spec.volumes[0].gitRepo: deprecated in v1.11`

describe('warnings of what makes Pods', () => {
  test.each([
    'core/v1.ReplicationController',
    'apps/v1.Deployment',
    'apps/v1.ReplicaSet',
    'apps/v1.StatefulSet',
    'apps/v1.DaemonSet',
    'batch/v1.Job',
  ])('%s is judged by its template', (type) => {
    expect(warned(type, withChange(deployment, 'spec/template', going))).toEqual([message('spec.template')])
  })

  test('those of a CronJob and a PodTemplate, by the paths of their templates', () => {
    expect(warned('batch/v1.CronJob', { metadata: {}, spec: { jobTemplate: { spec: { template: going } } } })).toEqual([
      message('spec.jobTemplate.spec.template'),
    ])
    expect(warned('core/v1.PodTemplate', { metadata: {}, template: going })).toEqual([message('template')])
  })

  test('an update is judged when it counts', () => {
    const live = withChange(deployment, 'spec/template', going)
    expect(warned('apps/v1.Deployment', live, live)).toEqual([])
    expect(warned('apps/v1.Deployment', withChange(live, 'metadata/generation', 2), live)).toEqual([message('spec.template')])
  })

  test('an update of a DaemonSet is judged when its template is another', () => {
    const counted = (count: string): Body => ({
      metadata: { generation: Number(count) + 5, annotations: { 'deprecated.daemonset.template.generation': count } },
      spec: { template: going },
    })
    const live = counted('1')
    expect(warned('apps/v1.DaemonSet', withChange(live, 'metadata/generation', 9), live)).toEqual([])
    expect(warned('apps/v1.DaemonSet', counted('2'), live)).toEqual([message('spec.template')])
  })
})

test('a zone in the schedule of a CronJob is warned of at every write', () => {
  const cronJob: Body = { metadata: {}, spec: { schedule: 'TZ=UTC * * * * *' } }
  const expected = ['CRON_TZ or TZ used in spec.schedule is not officially supported; use spec.timeZone instead']
  expect(warned('batch/v1.CronJob', cronJob)).toEqual(expected)
  expect(warned('batch/v1.CronJob', cronJob, cronJob)).toEqual(expected)
  expect(warned('batch/v1.CronJob', withChange(cronJob, 'spec/schedule', '* * * * *'))).toEqual([])
})

test('the annotation for the class of an Ingress is warned of in a new one that has no field for it', () => {
  const ingress: Body = { metadata: { annotations: { 'orch.io/ingress.class': 'c' } }, spec: {} }
  expect(warned('networking/v1.Ingress', ingress)).toEqual([
    `annotation "orch.io/ingress.class" is deprecated, please use 'spec.ingressClassName' instead`,
  ])
  expect(warned('networking/v1.Ingress', ingress, ingress)).toEqual([])
  expect(warned('networking/v1.Ingress', withChange(ingress, 'spec/ingressClassName', 'c'))).toEqual([])
  expect(warned('networking/v1.Ingress', { metadata: {}, spec: {} })).toEqual([])
})
