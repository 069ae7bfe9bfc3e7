import { expect, test } from 'vitest'
import { gatesByDefault } from '../../feature-gates.ts'
import { namesOf } from '../../names.ts'
import { type Body, problemsOf, withChange } from '../testing/rules-testing.ts'
import { createRuleBook } from './rules-by-type.ts'

type Row = readonly [title: string, path: string, value: unknown, problems: readonly string[]]

const affinity = { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] }] } }
const volume: Body = {
  metadata: { name: 'a' },
  spec: {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce', 'ReadOnlyMany'],
    persistentVolumeReclaimPolicy: 'Delete',
    storageClassName: 'fast',
    mountOptions: ['ro'],
    volumeMode: 'Block',
    claimRef: { namespace: 'n', name: 'c' },
    nodeAffinity: affinity,
    csi: { driver: 'd.example', volumeHandle: 'v', nodePublishSecretRef: { name: 's', namespace: 'n' } },
  },
}

test('a PersistentVolume with everything set is valid', () => {
  expect(problemsOf('core/v1.PersistentVolume', volume)).toEqual([])
})

test.each<Row>([
  ['no access', 'accessModes', [], ['spec.accessModes: Required value']],
  [
    'access alone and not alone',
    'accessModes',
    ['ReadWriteOncePod', 'ReadWriteOnce'],
    [
      'spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes',
      'spec.accessModes: Unsupported value: "ReadWriteOncePod": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce"',
    ],
  ],
  [
    'no size',
    'capacity',
    {},
    ['spec.capacity: Required value', 'spec.capacity: Unsupported value: core.ResourceList{}: supported values: "storage"'],
  ],
  [
    'an absent size',
    'capacity',
    undefined,
    ['spec.capacity: Required value', 'spec.capacity: Unsupported value: core.ResourceList(nil): supported values: "storage"'],
  ],
  [
    'another capacity',
    'capacity',
    { cpu: '1' },
    [
      'spec.capacity: Unsupported value: core.ResourceList{"cpu":resource.Quantity{i:resource.int64Amount{value:1, scale:0}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"1", Format:"DecimalSI"}}: supported values: "storage"',
    ],
  ],
  ['a size of nothing', 'capacity', { storage: '0' }, ['spec.capacity[storage]: Invalid value: "0": must be greater than zero']],
  [
    'a size below nothing',
    'capacity',
    { storage: '-1' },
    [
      'spec.capacity[storage]: Invalid value: -1: must be a valid resource quantity',
      'spec.capacity[storage]: Invalid value: "-1": must be greater than zero',
    ],
  ],
  [
    'a policy',
    'persistentVolumeReclaimPolicy',
    'Burn',
    ['spec.persistentVolumeReclaimPolicy: Unsupported value: "Burn": supported values: "Delete", "Recycle", "Retain"'],
  ],
  ['an empty affinity', 'nodeAffinity', {}, ['spec.nodeAffinity.required: Required value: must specify required node constraints']],
  [
    'an affinity to nothing',
    'nodeAffinity',
    { required: { nodeSelectorTerms: [] } },
    ['spec.nodeAffinity.required.nodeSelectorTerms: Required value: must have at least one node selector term'],
  ],
  ['no source', 'csi', undefined, ['spec: Required value: must specify a volume type']],
  ['a second source', 'hostPath', { path: '/x' }, ['spec.csi: Forbidden: may not specify more than 1 volume type']],
  ['a driver without a handle', 'csi', { driver: 'd.example' }, ['spec.csi.volumeHandle: Required value']],
  ['a secret of no namespace', 'csi/nodePublishSecretRef', { name: 's' }, ['spec.csi.nodePublishSecretRef.namespace: Required value']],
])('a PersistentVolume with %s has the expected errors', (_, path, value, problems) => {
  expect(problemsOf('core/v1.PersistentVolume', withChange(volume, `spec/${path}`, value))).toEqual(problems)
})

const volumeOf = (source: Body): Body => ({
  metadata: { name: 'a' },
  spec: { capacity: { storage: '1' }, accessModes: ['ReadWriteOnce'], ...source },
})

test.each<readonly [string, Body, readonly string[]]>([
  ['a climbing host path', { hostPath: { path: '/a/../b' } }, [`spec.hostPath.path: Invalid value: "/a/../b": must not contain '..'`]],
  [
    'the whole node, to be recycled',
    { hostPath: { path: '/./' }, persistentVolumeReclaimPolicy: 'Recycle' },
    ["spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'"],
  ],
  ['a local path without a node', { local: { path: '/a' } }, ['spec.nodeAffinity: Required value: Local volume requires node affinity']],
  ['a local path on a node', { local: { path: '/a' }, nodeAffinity: affinity }, []],
  ['a relative export', { nfs: { server: 's', path: 'a' } }, ['spec.nfs.path: Invalid value: "a": must be an absolute path']],
  ['no monitors', { rbd: { monitors: [], image: 'i' } }, ['spec.rbd.monitors: Required value']],
  [
    'a share without its names',
    { azureFile: { secretName: '', shareName: '' } },
    ['spec.azureFile.secretName: Required value', 'spec.azureFile.shareName: Required value'],
  ],
])('a PersistentVolume with the source %s has the expected errors', (_, source, problems) => {
  expect(problemsOf('core/v1.PersistentVolume', volumeOf(source))).toEqual(problems)
})

test.each<Row>([
  [
    'its source',
    'csi/volumeHandle',
    'w',
    ['spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation'],
  ],
  ['its mode', 'volumeMode', 'Filesystem', ['volumeMode: Invalid value: "Filesystem": field is immutable']],
  ['its nodes', 'nodeAffinity', undefined, ['nodeAffinity: Invalid value: "null": field is immutable']],
  ['not the secret for growing it', 'csi/controllerExpandSecretRef', { name: 's', namespace: 'n' }, []],
  ['not its class', 'storageClassName', 'slow', []],
])('%s of a PersistentVolume is immutable', (_, path, value, problems) => {
  expect(problemsOf('core/v1.PersistentVolume', withChange(volume, `spec/${path}`, value), { live: volume })).toEqual(problems)
})

test('an absent driver of a PersistentVolume has one error from 1.35 on', () => {
  const problems = (level: number) =>
    problemsOf('core/v1.PersistentVolume', withChange(volume, 'spec/csi', { volumeHandle: 'v' }), { level })
  const absent = 'spec.csi.driver: Required value'
  expect([problems(34), problems(35)]).toEqual([[absent, expect.stringContaining('spec.csi.driver: Invalid value: ""')], [absent]])
})

test('a node label in the affinity of a PersistentVolume may be replaced by the newer one from 1.27 on', () => {
  const on = (key: string) => withChange(volume, 'spec/nodeAffinity/required/nodeSelectorTerms/0/matchExpressions/0/key', key)
  const problems = (before: string, after: string, level: number) =>
    problemsOf('core/v1.PersistentVolume', on(after), { live: on(before), level }).length
  for (const name of ['os', 'arch']) {
    const [before, after] = [`beta.orch.io/${name}`, `orch.io/${name}`]
    expect([problems(before, after, 26), problems(before, after, 27), problems(before, 'a', 27)]).toEqual([1, 0, 1])
  }
})

const claim: Body = {
  metadata: { name: 'a' },
  spec: {
    accessModes: ['ReadWriteOnce'],
    selector: { matchLabels: { a: 'b' } },
    resources: { requests: { storage: '1Gi' } },
    storageClassName: 'fast',
    volumeMode: 'Filesystem',
    dataSource: { kind: 'PersistentVolumeClaim', name: 'b' },
  },
}

test('a PersistentVolumeClaim with everything set is valid', () => {
  expect(problemsOf('core/v1.PersistentVolumeClaim', claim)).toEqual([])
})

test.each<Row>([
  ['no access', 'accessModes', [], ['spec.accessModes: Required value: at least 1 access mode is required']],
  ['no size', 'resources', {}, ['spec.resources[storage]: Required value']],
  ['a size of nothing', 'resources/requests/storage', '0', ['spec.resources[storage]: Invalid value: "0": must be greater than zero']],
  [
    'two origins',
    'dataSourceRef',
    { kind: 'PersistentVolumeClaim', name: 'c' },
    ['spec: Invalid value: "spec.dataSource": must match dataSourceRef'],
  ],
])('a PersistentVolumeClaim with %s has the expected errors', (_, path, value, problems) => {
  expect(problemsOf('core/v1.PersistentVolumeClaim', withChange(claim, `spec/${path}`, value))).toEqual(problems)
})

const kept = 'spec: Forbidden: spec is immutable after creation except resources.requests for bound claims'
const bound: Body = { ...withChange(claim, 'spec/volumeName', 'v'), status: { phase: 'Bound' } }

test.each<readonly [string, Body, Body, readonly string[]]>([
  ['takes its volume', withChange(claim, 'spec/volumeName', 'v'), claim, []],
  ['keeps its volume', withChange(bound, 'spec/volumeName', 'w'), bound, [kept]],
  ['keeps its class', withChange(claim, 'spec/storageClassName', 'slow'), claim, [kept]],
  ['grows when bound', withChange(bound, 'spec/resources/requests/storage', '2Gi'), bound, []],
  ['does not grow before', withChange(claim, 'spec/resources/requests/storage', '2Gi'), claim, [kept]],
  [
    'does not shrink',
    withChange(bound, 'spec/resources/requests/storage', '1Mi'),
    bound,
    ['spec.resources.requests.storage: Forbidden: field can not be less than previous value'],
  ],
])('an update of a PersistentVolumeClaim has the expected errors: %s', (_, after, before, problems) => {
  expect(problemsOf('core/v1.PersistentVolumeClaim', after, { live: before })).toEqual(problems)
})

test('the capacity of a claim is not negative', () => {
  const status: Body = { metadata: { name: 'a' }, status: { capacity: { storage: '-1' } } }
  expect(problemsOf('core/v1.PersistentVolumeClaim', status, { part: 'status' })).toEqual([
    'status.capacity[storage]: Invalid value: -1: must be a valid resource quantity',
  ])
})

const storageClass: Body = {
  metadata: { name: 'a' },
  provisioner: 'example.com/P',
  parameters: { a: 'b' },
  reclaimPolicy: 'Retain',
  mountOptions: ['ro'],
  allowVolumeExpansion: true,
  volumeBindingMode: 'WaitForFirstConsumer',
  allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: ['a', 'b'] }] }],
}

test('a StorageClass with everything set is valid', () => {
  expect(problemsOf('storage/v1.StorageClass', storageClass)).toEqual([])
})

const many = Object.fromEntries(Array.from({ length: 513 }, (_, index) => [`k${index}`, '']))

test.each<Row>([
  ['nobody to make volumes', 'provisioner', '', ['provisioner: Required value']],
  ['many parameters', 'parameters', many, ['parameters: Too long: must have at most 512 bytes']],
  ['large parameters', 'parameters', { a: 'x'.repeat(262_144) }, ['parameters: Too long: must have at most 262144 bytes']],
  ['a parameter without a name', 'parameters', { '': 'x' }, ['parameters: Invalid value: "": field can not be empty.']],
  ['a policy', 'reclaimPolicy', 'Recycle', ['reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"']],
  ['an empty policy', 'reclaimPolicy', '', []],
  [
    'an empty binding mode',
    'volumeBindingMode',
    '',
    ['volumeBindingMode: Unsupported value: "": supported values: "Immediate", "WaitForFirstConsumer"'],
  ],
  [
    'a binding mode',
    'volumeBindingMode',
    'Later',
    ['volumeBindingMode: Unsupported value: "Later": supported values: "Immediate", "WaitForFirstConsumer"'],
  ],
  [
    'a topology without values',
    'allowedTopologies',
    [{ matchLabelExpressions: [{ key: 'zone', values: [] }] }],
    ['allowedTopologies[0].matchLabelExpressions[0].values: Required value'],
  ],
  [
    'a topology twice',
    'allowedTopologies',
    [{ matchLabelExpressions: [{ key: 'z', values: ['a', 'b'] }] }, { matchLabelExpressions: [{ key: 'z', values: ['b', 'a'] }] }],
    ['allowedTopologies[1].matchLabelExpressions: Duplicate value: ""'],
  ],
])('a StorageClass with %s has the expected errors', (_, path, value, problems) => {
  expect(problemsOf('storage/v1.StorageClass', withChange(storageClass, path, value))).toEqual(problems)
})

test.each<Row>([
  ['parameters', 'parameters', {}, ['parameters: Forbidden: updates to parameters are forbidden.']],
  ['provisioner', 'provisioner', 'other', ['provisioner: Forbidden: updates to provisioner are forbidden.']],
  ['reclaim policy', 'reclaimPolicy', 'Delete', ['reclaimPolicy: Forbidden: updates to reclaimPolicy are forbidden.']],
  ['binding mode', 'volumeBindingMode', 'Immediate', ['volumeBindingMode: Invalid value: "Immediate": field is immutable']],
])('%s of a StorageClass is immutable', (_, path, value, problems) => {
  expect(problemsOf('storage/v1.StorageClass', withChange(storageClass, path, value), { live: storageClass })).toEqual(problems)
})

test('a StorageClass with an empty topology term is refused', () => {
  expect(problemsOf('storage/v1.StorageClass', withChange(storageClass, 'allowedTopologies', [{}]))).toEqual([
    'allowedTopologies[0].matchLabelExpressions: Duplicate value: ""',
  ])
})

const attachment = (source: Body): Body => ({ metadata: { name: 'a' }, spec: { attacher: 'a.example', nodeName: 'n', source } })

test.each<readonly [string, string, readonly string[]]>([
  [
    'no name',
    '',
    [
      'spec.source.persistentVolumeName: Required value: must specify non empty persistentVolumeName',
      expect.stringContaining('spec.source.persistentVolumeName: Invalid value: ""'),
    ],
  ],
  ['a bad name', 'V_1', [expect.stringContaining('spec.source.persistentVolumeName: Invalid value: "V_1"')]],
])('KIND-VA-07: a new VolumeAttachment of a volume with %s is refused', (_, persistentVolumeName, problems) => {
  expect(problemsOf('storage/v1.VolumeAttachment', attachment({ persistentVolumeName }))).toEqual(problems)
})

test('KIND-VA-10, KIND-VA-12: strings of a VolumeAttachment are limited in bytes', () => {
  const judge = (status: Body) =>
    problemsOf('storage/v1.VolumeAttachment', { ...attachment({ persistentVolumeName: 'v' }), status }, { part: 'status' })
  expect(judge({ attached: false, attachError: { message: 'ä'.repeat(512) } })).toEqual([])
  expect(judge({ attached: false, attachError: { message: 'ä'.repeat(513) } })).toEqual([
    'status.attachError.message: Too long: must have at most 1024 bytes',
  ])
  expect(judge({ attached: false, attachmentMetadata: { a: 'ä'.repeat(131_072) } })).toEqual([
    'status.attachmentMetadata: Too long: must have at most 262144 bytes',
  ])
})

test.each([
  [25, ['Required value', 'Required value', 'Invalid value'], ['Required value', 'Invalid value']],
  [37, ['Required value'], ['Required value']],
])('KIND-VA-03: at 1.%i a missing driver name has the causes of that release', (level, ofAttachment, ofNode) => {
  const rules = createRuleBook(level)
  const shared = { live: undefined, names: namesOf('kubernetes'), isGateOn: gatesByDefault, level, rules }
  const words = (type: string, object: Body) =>
    rules.checkObject(type, 'main', { ...shared, body: object, object }).map(({ message }) => String(message).split(':')[0])
  const absent = { metadata: { name: 'a' }, spec: { attacher: '', nodeName: 'n', source: { persistentVolumeName: 'v' } } }
  expect(words('storage/v1.VolumeAttachment', absent)).toEqual(ofAttachment)
  const node = { metadata: { name: 'n' }, spec: { drivers: [{ name: '', nodeID: 'x' }] } }
  expect(words('storage/v1.CSINode', node)).toEqual(ofNode)
})
