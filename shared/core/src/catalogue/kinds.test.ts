import { expect, test } from 'vitest'
import { decoderOf } from '../schema/decode.ts'
import { allTypeNames, hasType, resolveStruct, resolveType } from '../schema/resolve.ts'
import { createCatalogue } from './catalogue.ts'
import { stabilityOf } from './runtime-config.ts'

const catalogue = createCatalogue('orch')

test('KIND-GEN-01: every kind has apiVersion, kind and metadata', () => {
  const types = catalogue.resources.map(({ type }) => resolveStruct(type))
  const heads = types.map(({ fields }) =>
    fields
      .slice(0, 3)
      .map(({ name, node }) => (node.kind === 'ref' ? `${name} ${node.name}` : name))
      .join(),
  )
  expect(new Set(heads)).toEqual(new Set(['kind,apiVersion,metadata meta/v1.ObjectMeta']))
})

test('VERB-02, KIND-CSI-16: every kind with the verb list has a list type with metadata and required items', () => {
  const listed = catalogue.resources.filter(({ verbs }) => verbs.includes('list'))
  const lists = listed.map(({ type }) => resolveStruct(`${type}List`).fields)
  expect(listed.every(({ type }) => hasType(`${type}List`))).toBe(true)
  expect(lists.every((fields) => fields.some(({ name, required }) => name === 'items' && required))).toBe(true)
  const metadata = lists.map((fields) => fields.find(({ name }) => name === 'metadata')?.node)
  expect(new Set(metadata.map((node) => JSON.stringify(node)))).toEqual(new Set(['{"kind":"ref","name":"meta/v1.ListMeta"}']))
})

test('VER-01, VER-02, VER-03: the name of a version shows its stability', () => {
  expect(['v1', 'v2', 'v1beta1', 'v2beta3', 'v1alpha1'].map(stabilityOf)).toEqual(['ga', 'ga', 'beta', 'beta', 'alpha'])
  expect(catalogue.resources.map(({ version }) => version).filter((version) => !/^v\d+(?:(?:alpha|beta)\d+)?$/.test(version))).toEqual([])
})

test('every type can be built, and every reference resolves to a type', () => {
  const made = allTypeNames().map((name) => resolveType(name))
  expect(made.length).toBeGreaterThan(700)
  const references = [...JSON.stringify(made).matchAll(/"kind":"ref","name":"([^"]+)"/g)].map((match) => match[1] ?? '')
  expect(references.filter((name) => !hasType(name))).toEqual([])
})

test('field numbers are unique within one message on the wire', () => {
  const repeated = allTypeNames().filter((name) => {
    const node = resolveType(name)
    if (node.kind !== 'struct') return false
    const numbers = node.fields.flatMap(({ tag, inlined }) =>
      tag === undefined ? [] : [`${inlined?.tag ?? ''}.${inlined?.inner?.tag ?? ''}.${tag}`],
    )
    return new Set(numbers).size < numbers.length
  })
  expect(repeated).toEqual([])
})

const time = '2024-01-01T00:00:00Z'
const condition = { type: 'Ready', status: 'True', lastTransitionTime: time, reason: 'r', message: 'm' }

const shapes: readonly (readonly [string, string, Record<string, unknown>])[] = [
  [
    'KIND-CSI-11, KIND-CSI-15: a driver',
    'storage/v1.CSINode',
    { spec: { drivers: [{ name: 'd', nodeID: 'n', topologyKeys: ['a', 'b'], allocatable: { count: 3 } }] } },
  ],
  [
    'KIND-NODE-11, KIND-NODE-12, KIND-NODE-17: the spec of a node',
    'core/v1.Node',
    { spec: { podCIDR: '10.0.0.0/24', providerID: 'a://b', unschedulable: true, externalID: 'x' } },
  ],
  ['KIND-NODE-24: capacity', 'core/v1.Node', { status: { capacity: { cpu: '4', memory: '1Gi' } } }],
  [
    'KIND-NODE-28, KIND-NODE-29: a condition of a node',
    'core/v1.Node',
    { status: { conditions: [{ ...condition, lastHeartbeatTime: time }] } },
  ],
  [
    'KIND-NODE-30, KIND-NODE-31: configurations in use',
    'core/v1.Node',
    { status: { config: { active: {}, assigned: {}, lastKnownGood: {}, error: 'e' } } },
  ],
  [
    'KIND-NODE-32, KIND-NODE-42: ports of node daemons',
    'core/v1.Node',
    { status: { daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } } } },
  ],
  ['KIND-NODE-37: volumes in use', 'core/v1.Node', { status: { volumesInUse: ['a', 'b'] } }],
  [
    'KIND-RQ-04, KIND-RQ-05: scopes and a selector',
    'core/v1.ResourceQuota',
    {
      spec: {
        scopes: ['BestEffort'],
        scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['a'] }] },
      },
    },
  ],
  ['KIND-RQ-12, KIND-RQ-13: limits and usage', 'core/v1.ResourceQuota', { status: { hard: { pods: '3' }, used: { pods: '1' } } }],
  [
    'KIND-RC-11, KIND-RC-12, KIND-RC-13, KIND-RC-14: counts',
    'core/v1.ReplicationController',
    { status: { replicas: 3, fullyLabeledReplicas: 3, readyReplicas: 2, availableReplicas: 1, observedGeneration: 4 } },
  ],
  ['KIND-RC-17: a condition of a controller', 'core/v1.ReplicationController', { status: { replicas: 1, conditions: [condition] } }],
  [
    'KIND-VA-10, KIND-VA-11, KIND-VA-12: the status of an attachment',
    'storage/v1.VolumeAttachment',
    {
      status: { attached: true, attachmentMetadata: { a: 'b' }, attachError: { time, message: 'm' }, detachError: { time, message: 'm' } },
    },
  ],
  [
    'KIND-VA-08: a volume in place',
    'storage/v1.VolumeAttachment',
    { spec: { source: { inlineVolumeSpec: { capacity: { storage: '1Gi' }, csi: { driver: 'd', volumeHandle: 'h' } } } } },
  ],
  [
    'KIND-MISC-06: what a Pod says of its runtime',
    'core/v1.Pod',
    { spec: { overhead: { cpu: '1' }, serviceAccountName: 's', runtimeClassName: 'r', securityContext: { runAsUser: 5 } } },
  ],
  ['KIND-MISC-05: overhead of a runtime class', 'node/v1.RuntimeClass', { handler: 'h', overhead: { podFixed: { cpu: '1' } } }],
]

test.each(shapes)('%s: all fields are stored', (_, type, body) => {
  const decoded = decoderOf(type)(body, { trackUnknown: true })
  expect(decoded).toMatchObject({ kind: 'decoded', unknownFields: [], object: body })
})
