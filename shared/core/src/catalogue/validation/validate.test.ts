import { expect, test } from 'vitest'
import { namesOf } from '../../names.ts'
import { decoderOf } from '../../schema/decode.ts'
import { applyDefaults, validateObject } from '../testing/readers-testing.ts'

type Body = Record<string, unknown>

const names = namesOf('orch')

const prepare = (type: string, body: Body): Body => {
  const decoded = decoderOf(type)(body, { trackUnknown: false })
  if (decoded.kind !== 'decoded') throw new Error(decoded.message)
  applyDefaults(type, decoded.object, names)
  return decoded.object
}

const problems = (type: string, body: Body, { live, part = 'main' }: { live?: Body; part?: 'main' | 'status' } = {}): string[] => {
  const request = { type, body, object: prepare(type, body), part, names, ...(live === undefined ? {} : { live: prepare(type, live) }) }
  return validateObject(request).map(({ field, message }) => `${field}: ${message.split(': ')[0]}`)
}

const node = (spec: Body): Body => ({ spec })
const nodeStatus = (status: Body): Body => ({ spec: {}, status })
const quota = (term: Body): Body => ({ spec: { scopeSelector: { matchExpressions: [term] } } })
const drivers = (...list: Body[]): Body => ({ spec: { drivers: list } })
const driver = { name: 'a.example', nodeID: 'n' }
const attachment = (spec: Body): Body => ({
  spec: { attacher: 'a.example', nodeName: 'n', source: { persistentVolumeName: 'v' }, ...spec },
})
const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
const controller = (spec: Body): Body => ({ spec: { template, ...spec } })
const configMap = { kubeletConfigKey: 'k', name: 'n', namespace: 's' }

const onMain: readonly (readonly [string, string, Body, readonly string[]])[] = [
  ['KIND-CSI-06: a spec that is required in documents may be absent', 'storage/v1.CSINode', {}, []],
  ['KIND-CSI-07: so may the list of drivers', 'storage/v1.CSINode', { spec: {} }, []],
  ['KIND-CSI-07: the list may be empty', 'storage/v1.CSINode', drivers(), []],
  [
    'KIND-CSI-09: a name',
    'storage/v1.CSINode',
    drivers({ nodeID: 'n' }),
    ['spec.drivers[0].name: Required value', 'spec.drivers[0].name: Invalid value'],
  ],
  [
    'KIND-CSI-15: keys of a topology are names of labels, each once',
    'storage/v1.CSINode',
    drivers({ ...driver, topologyKeys: ['a b', 'z', 'z', ''] }),
    [
      'spec.drivers[0]: Invalid value',
      'spec.drivers[0]: Duplicate value',
      'spec.drivers[0]: Required value',
      ...['', ''].map(() => 'spec.drivers[0]: Invalid value'),
    ],
  ],
  [
    'KIND-NODE-42: key and value of a taint are those of a label',
    'core/v1.Node',
    node({ taints: [{ key: '', value: '--', effect: 'NoExecute' }] }),
    ['metadata.taints[0].key: Invalid value', 'metadata.taints[0].key: Invalid value', 'metadata.taints[0].value: Invalid value'],
  ],
  ['KIND-CSI-09: a name of its own', 'storage/v1.CSINode', drivers(driver, driver), ['spec.drivers[1].name: Duplicate value']],
  ['KIND-CSI-10: an id of the node', 'storage/v1.CSINode', drivers({ name: 'a.example' }), ['spec.drivers[0].nodeID: Required value']],
  ['KIND-CSI-11, KIND-CSI-14: allocatable may be absent', 'storage/v1.CSINode', drivers(driver), []],
  ['KIND-CSI-12: a count', 'storage/v1.CSINode', drivers({ ...driver, allocatable: { count: 5 } }), []],
  [
    'KIND-CSI-12: no negative count',
    'storage/v1.CSINode',
    drivers({ ...driver, allocatable: { count: -1 } }),
    ['spec.drivers[0].allocatable.count: Invalid value'],
  ],
  ['KIND-CSI-15: topology keys may be empty', 'storage/v1.CSINode', drivers({ ...driver, topologyKeys: [] }), []],
  [
    'KIND-RQ-07: a scope name',
    'core/v1.ResourceQuota',
    quota({ operator: 'Exists' }),
    ['spec.scopeSelector.matchExpressions.scopeName: Invalid value'],
  ],
  [
    'KIND-RQ-08: an operator',
    'core/v1.ResourceQuota',
    quota({ scopeName: 'BestEffort' }),
    ['spec.scopeSelector.matchExpressions.operator: Invalid value', 'spec.scopeSelector.matchExpressions.operator: Invalid value'],
  ],
  [
    'KIND-RQ-08: an operator that exists',
    'core/v1.ResourceQuota',
    quota({ scopeName: 'PriorityClass', operator: 'Like' }),
    ['spec.scopeSelector.matchExpressions.operator: Invalid value'],
  ],
  [
    'KIND-RQ-09: values for In',
    'core/v1.ResourceQuota',
    quota({ scopeName: 'PriorityClass', operator: 'In' }),
    ['spec.scopeSelector.matchExpressions.values: Required value'],
  ],
  [
    'KIND-RQ-09: values for NotIn',
    'core/v1.ResourceQuota',
    quota({ scopeName: 'PriorityClass', operator: 'NotIn' }),
    ['spec.scopeSelector.matchExpressions.values: Required value'],
  ],
  [
    'KIND-RQ-10: no values for Exists',
    'core/v1.ResourceQuota',
    quota({ scopeName: 'PriorityClass', operator: 'Exists', values: ['a'] }),
    ['spec.scopeSelector.matchExpressions.values: Invalid value'],
  ],
  ['KIND-RQ-03: amounts', 'core/v1.ResourceQuota', { spec: { hard: { cpu: '-1' } } }, ['spec.hard[cpu]: Invalid value']],
  [
    'KIND-RQ-03: amounts of what is counted are whole',
    'core/v1.ResourceQuota',
    { spec: { hard: { cpu: '1500m', pods: '1500m', 'count/jobs.batch': '500m' } } },
    ['spec.hard[count/jobs.batch]: Invalid value', 'spec.hard[pods]: Invalid value'],
  ],
  [
    'KIND-RQ-15: names of quota resources',
    'core/v1.ResourceQuota',
    {
      spec: {
        hard: {
          ...{ pods: '1', 'requests.cpu': '1', 'limits.memory': '1Gi', 'services.nodeports': '0', 'requests.storage': '1Gi' },
          ...{ 'hugepages-2Mi': '4Mi', 'requests.hugepages-2Mi': '4Mi', 'count/deployments.apps': '1', 'requests.example.com/gpu': '4' },
          'gold.storageclass.storage.orch.io/requests.storage': '3Gi',
        },
      },
    },
    [],
  ],
  [
    'KIND-RQ-15: a name of no quota resource',
    'core/v1.ResourceQuota',
    { spec: { hard: { foo: '1', storage: '1' } } },
    ['spec.hard[foo]: Invalid value', 'spec.hard[foo]: Invalid value', 'spec.hard[storage]: Invalid value'],
  ],
  ['KIND-RQ-04: scopes may be absent', 'core/v1.ResourceQuota', { spec: { hard: { pods: '1' } } }, []],
  [
    'KIND-RQ-15: scopes are about what pods use',
    'core/v1.ResourceQuota',
    { spec: { hard: { services: '1', 'count/services': '1', pods: '1', cpu: '1' }, scopes: ['NotTerminating', 'BestEffort'] } },
    ['spec.scopes: Invalid value', 'spec.scopes: Invalid value', 'spec.scopes: Invalid value'],
  ],
  [
    'KIND-RQ-15: scopes are about nothing that nodes have in large pages',
    'core/v1.ResourceQuota',
    { spec: { hard: { 'requests.hugepages-2Mi': '1' }, scopes: ['NotTerminating'] } },
    ['spec.scopes: Invalid value'],
  ],
  [
    'KIND-RQ-15: scopes of a selector may not contradict each other, and are about what pods use',
    'core/v1.ResourceQuota',
    {
      spec: {
        hard: { secrets: '1', 'requests.cpu': '1' },
        scopeSelector: {
          matchExpressions: [
            { scopeName: 'Terminating', operator: 'Exists' },
            { scopeName: 'NotTerminating', operator: 'Exists' },
          ],
        },
      },
    },
    [
      'spec.scopeSelector.matchExpressions: Invalid value',
      'spec.scopeSelector.matchExpressions: Invalid value',
      'spec.scopeSelector.matchExpressions: Invalid value',
    ],
  ],
  ['KIND-RQ-15: a scope that exists', 'core/v1.ResourceQuota', { spec: { scopes: ['Nope'] } }, ['spec.scopes: Invalid value']],
  ['KIND-NODE-02: a config source', 'core/v1.Node', node({ configSource: { configMap } }), []],
  ['KIND-NODE-03: a config source with something in it', 'core/v1.Node', node({ configSource: {} }), ['spec.configSource: Invalid value']],
  [
    'KIND-NODE-04: its key',
    'core/v1.Node',
    node({ configSource: { configMap: { ...configMap, kubeletConfigKey: '' } } }),
    ['spec.configSource.configMap.kubeletConfigKey: Required value'],
  ],
  [
    'KIND-NODE-05: its name',
    'core/v1.Node',
    node({ configSource: { configMap: { ...configMap, name: '' } } }),
    ['spec.configSource.configMap.name: Required value'],
  ],
  [
    'KIND-NODE-06: its namespace',
    'core/v1.Node',
    node({ configSource: { configMap: { ...configMap, namespace: '' } } }),
    ['spec.configSource.configMap.namespace: Required value'],
  ],
  [
    'KIND-NODE-07: no resourceVersion',
    'core/v1.Node',
    node({ configSource: { configMap: { ...configMap, resourceVersion: '1' } } }),
    ['spec.configSource.configMap.resourceVersion: Forbidden'],
  ],
  [
    'KIND-NODE-09: no uid',
    'core/v1.Node',
    node({ configSource: { configMap: { ...configMap, uid: 'u' } } }),
    ['spec.configSource.configMap.uid: Forbidden'],
  ],
  ['KIND-NODE-11: an external id may be there', 'core/v1.Node', node({ externalID: 'x' }), []],
  ['KIND-NODE-12: a Pod range', 'core/v1.Node', node({ podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24'] }), []],
  [
    'KIND-NODE-14: one range per family',
    'core/v1.Node',
    node({ podCIDRs: ['10.0.0.0/24', '10.1.0.0/24'] }),
    ['spec.podCIDRs: Invalid value'],
  ],
  ['KIND-NODE-14: a range of each family', 'core/v1.Node', node({ podCIDRs: ['10.0.0.0/24', 'fd00::/64'] }), []],
  ['KIND-NODE-15: the id of the provider', 'core/v1.Node', node({ providerID: 'cloud://zone/1' }), []],
  ['KIND-NODE-15: an id without a provider, as in kube-apiserver', 'core/v1.Node', node({ providerID: 'i-1' }), []],
  ['KIND-NODE-16: an effect', 'core/v1.Node', node({ taints: [{ key: 'a' }] }), ['metadata.taints[0].effect: Required value']],
  [
    'KIND-NODE-16: an effect that exists',
    'core/v1.Node',
    node({ taints: [{ key: 'a', effect: 'No' }] }),
    ['metadata.taints[0].effect: Unsupported value'],
  ],
  [
    'KIND-NODE-42: key, value and time of a taint',
    'core/v1.Node',
    node({ taints: [{ key: 'a', value: 'b', effect: 'NoExecute', timeAdded: '2024-01-01T00:00:00Z' }] }),
    [],
  ],
  [
    'KIND-RC-04: a selector that matches the template',
    'core/v1.ReplicationController',
    controller({ selector: { app: 'b' } }),
    ['spec.template.metadata.labels: Invalid value'],
  ],
  ['KIND-RC-05: a template', 'core/v1.ReplicationController', { spec: { selector: { a: 'b' } } }, ['spec.template: Required value']],
  ['KIND-RC-06: no negative replicas', 'core/v1.ReplicationController', controller({ replicas: -1 }), ['spec.replicas: Invalid value']],
  [
    'KIND-VA-02: a spec',
    'storage/v1.VolumeAttachment',
    { spec: {} },
    [
      'spec.attacher: Required value',
      'spec.source: Required value',
      'spec.nodeName: Invalid value',
      'spec.attacher: Required value',
      'spec.attacher: Invalid value',
    ],
  ],
  [
    'KIND-VA-03: an attacher',
    'storage/v1.VolumeAttachment',
    attachment({ attacher: '' }),
    ['spec.attacher: Required value', 'spec.attacher: Required value', 'spec.attacher: Invalid value'],
  ],
  ['KIND-VA-04: a node', 'storage/v1.VolumeAttachment', attachment({ nodeName: '' }), ['spec.nodeName: Invalid value']],
  [
    'KIND-VA-05, KIND-VA-06: a source with a member',
    'storage/v1.VolumeAttachment',
    attachment({ source: {} }),
    ['spec.source: Required value'],
  ],
  [
    'KIND-VA-06: a source with one member only',
    'storage/v1.VolumeAttachment',
    attachment({ source: { persistentVolumeName: 'v', inlineVolumeSpec: {} } }),
    ['spec.source: Forbidden'],
  ],
  ['KIND-VA-07: a volume by name', 'storage/v1.VolumeAttachment', attachment({}), []],
  [
    'KIND-VA-08: a volume in place',
    'storage/v1.VolumeAttachment',
    attachment({ source: { inlineVolumeSpec: { accessModes: ['ReadWriteOnce'], csi: { driver: 'd.example.com', volumeHandle: 'h' } } } }),
    [],
  ],
  [
    'KIND-VA-08: a volume in place without a driver, with what belongs to a PersistentVolume',
    'storage/v1.VolumeAttachment',
    attachment({
      source: {
        inlineVolumeSpec: {
          accessModes: ['ReadWriteOnce'],
          hostPath: { path: '/x' },
          capacity: { storage: '1Gi' },
          claimRef: {},
          nodeAffinity: {},
          persistentVolumeReclaimPolicy: 'Delete',
          storageClassName: 'fast',
          volumeMode: 'Block',
        },
      },
    }),
    [
      ...['claimRef', 'capacity'].map((field) => `spec.source.inlineVolumeSpec.${field}: Forbidden`),
      'spec.source.inlineVolumeSpec.csi: Required value',
      ...['persistentVolumeReclaimPolicy', 'nodeAffinity', 'storageClassName', 'volumeMode'].map(
        (field) => `spec.source.inlineVolumeSpec.${field}: Forbidden`,
      ),
    ],
  ],
  [
    'VAL-03, KIND-GEN-04: a required field of any kind',
    'apps/v1.Deployment',
    { spec: { template } },
    ['spec.selector: Required value', 'spec.template.metadata.labels: Invalid value'],
  ],
  [
    'VAL-03: values of a closed set',
    'core/v1.Pod',
    { spec: { restartPolicy: 'Maybe', containers: [] } },
    ['spec.containers: Required value', 'spec.restartPolicy: Unsupported value'],
  ],
]

test.each(onMain)('%s: the errors of %s are as expected', (_, type, body, expected) => {
  expect(problems(type, body)).toEqual(expected)
})

const onStatus: readonly (readonly [string, string, Body, readonly string[]])[] = [
  [
    'KIND-NODE-08, KIND-NODE-10, KIND-NODE-30: a source in use names version and uid',
    'core/v1.Node',
    nodeStatus({ config: { active: { configMap } } }),
    ['status.config.active.configMap.resourceVersion: Required value', 'status.config.active.configMap.uid: Required value'],
  ],
  ['KIND-NODE-20, KIND-NODE-21: type and address of an address may be absent', 'core/v1.Node', nodeStatus({ addresses: [{}] }), []],
  [
    'KIND-NODE-22: two addresses of one type',
    'core/v1.Node',
    nodeStatus({
      addresses: [
        { type: 'InternalIP', address: '1.1.1.1' },
        { type: 'InternalIP', address: '2.2.2.2' },
      ],
    }),
    [],
  ],
  ['KIND-NODE-26, KIND-NODE-27: type and status of a condition may be absent', 'core/v1.Node', nodeStatus({ conditions: [{}] }), []],
  [
    'KIND-NODE-27: a condition may have a status of its own',
    'core/v1.Node',
    nodeStatus({ conditions: [{ type: 'Ready', status: 'Perhaps' }] }),
    [],
  ],
  ['KIND-NODE-34: the texts of the system may be absent', 'core/v1.Node', nodeStatus({ nodeInfo: {} }), []],
  ['KIND-NODE-36: path and name of an attached volume may be absent', 'core/v1.Node', nodeStatus({ volumesAttached: [{}] }), []],
  ['KIND-RC-10: the number of replicas may be absent', 'core/v1.ReplicationController', { status: {} }, []],
  [
    'KIND-RC-11, KIND-RC-12, KIND-RC-13: no part exceeds the whole',
    'core/v1.ReplicationController',
    { status: { replicas: 1, readyReplicas: 2 } },
    ['status.readyReplicas: Invalid value'],
  ],
  [
    'KIND-RC-16: a condition may have a status of its own',
    'core/v1.ReplicationController',
    { status: { replicas: 1, conditions: [{ type: 'X', status: 'Maybe' }] } },
    [],
  ],
  ['KIND-VA-09: whether it is attached may be absent', 'storage/v1.VolumeAttachment', { status: {} }, []],
  [
    'KIND-VA-10, KIND-VA-11, KIND-GEN-07: errors',
    'storage/v1.VolumeAttachment',
    {
      status: { attached: false, attachError: { time: '2024-01-01T00:00:00Z', message: 'no' }, detachError: { message: 'x'.repeat(1025) } },
    },
    ['status.detachError.message: Too long'],
  ],
]

test.each(onStatus)('%s: the errors of the status of %s are as expected', (_, type, body, expected) => {
  expect(problems(type, body, { part: 'status' })).toEqual(expected)
})

test('a write to the spec does not validate the status', () => {
  expect(problems('storage/v1.VolumeAttachment', { ...attachment({}), status: {} })).toEqual([])
})

test('the spec of a VolumeAttachment is immutable', () => {
  expect(problems('storage/v1.VolumeAttachment', attachment({ nodeName: 'other' }), { live: attachment({}) })).toEqual([
    'spec: Invalid value',
  ])
})

test('the scopes of a ResourceQuota are immutable', () => {
  const live = { spec: { scopes: ['Terminating'] } }
  expect(problems('core/v1.ResourceQuota', { spec: {} }, { live })).toEqual(['spec.scopes: Invalid value'])
})

test('a driver of a CSINode is immutable, and drivers may be added', () => {
  expect(problems('storage/v1.CSINode', drivers({ ...driver, nodeID: 'other' }), { live: drivers(driver) })).toEqual([
    'spec.drivers[0]: Invalid value',
  ])
  expect(problems('storage/v1.CSINode', drivers(driver, { name: 'b.example', nodeID: 'm' }), { live: drivers(driver) })).toEqual([])
})
