import { describe, expect, test } from 'vitest'
import type { ApiObject } from '../../meta/object-meta.ts'
import { createCatalogue } from '../catalogue.ts'
import { convert, type Form } from './convert.ts'
import { plainSlice } from './devices.ts'

const catalogue = createCatalogue('orch')
const { names } = catalogue

const form = (group: string, version: string, plural: string): Form => {
  const resource = catalogue.find(group, version, plural)
  if (resource === undefined) throw new Error(`${group}/${version} ${plural} is not served`)
  return resource
}

const read = ({ readers, apiVersion }: Form, kind: string, body: Record<string, unknown>): ApiObject => {
  const decoded = readers.decode({ apiVersion, kind, metadata: { name: 'a', namespace: 'b' }, ...body }, { trackUnknown: true })
  if (decoded.kind !== 'decoded' || decoded.unknownFields.length > 0) throw new Error(JSON.stringify(decoded))
  return decoded.object
}

const event = {
  involvedObject: { kind: 'Pod', name: 'p' },
  reason: 'Started',
  message: 'it runs',
  source: { component: 'agent', host: 'n' },
  firstTimestamp: '2024-01-01T00:00:00Z',
  lastTimestamp: '2024-01-02T00:00:00Z',
  count: 3,
  type: 'Normal',
  eventTime: '2024-01-01T00:00:00.000001Z',
  action: 'Start',
  reportingComponent: 'agent',
  reportingInstance: 'agent-1',
}

const metrics = [
  { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '100Mi' } } },
  { type: 'ContainerResource', containerResource: { name: 'cpu', container: 'c', target: { type: 'Utilization', averageUtilization: 5 } } },
  {
    type: 'Pods',
    pods: { metric: { name: 'm', selector: { matchLabels: { a: 'b' } } }, target: { type: 'AverageValue', averageValue: '5' } },
  },
  {
    type: 'Object',
    object: {
      describedObject: { kind: 'Service', name: 's', apiVersion: 'v1' },
      metric: { name: 'm' },
      target: { type: 'Value', value: '7' },
    },
  },
  { type: 'External', external: { metric: { name: 'q' }, target: { type: 'AverageValue', averageValue: '9' } } },
  { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } } },
]
const autoscaler = {
  spec: {
    scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' },
    minReplicas: 1,
    maxReplicas: 5,
    metrics,
    behavior: { scaleDown: { stabilizationWindowSeconds: 60 } },
  },
  status: {
    desiredReplicas: 2,
    currentReplicas: 2,
    currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 55, averageValue: '250m' } } }],
    conditions: [{ type: 'AbleToScale', status: 'True', lastTransitionTime: '2024-01-01T00:00:00Z' }],
  },
}

const trips: readonly (readonly [string, Form, Form, string, Record<string, unknown>])[] = [
  ['events of the core group through the newer one', form('', 'v1', 'events'), form('events.orch.io', 'v1', 'events'), 'Event', event],
  [
    'autoscalers of v2 through v1',
    form('autoscaling', 'v2', 'horizontalpodautoscalers'),
    form('autoscaling', 'v1', 'horizontalpodautoscalers'),
    'HorizontalPodAutoscaler',
    autoscaler,
  ],
  [
    'autoscalers of v2 through v2beta2',
    form('autoscaling', 'v2', 'horizontalpodautoscalers'),
    form('autoscaling', 'v2beta2', 'horizontalpodautoscalers'),
    'HorizontalPodAutoscaler',
    autoscaler,
  ],
  [
    'autoscalers of v1 through v2',
    form('autoscaling', 'v1', 'horizontalpodautoscalers'),
    form('autoscaling', 'v2', 'horizontalpodautoscalers'),
    'HorizontalPodAutoscaler',
    {
      spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 5, targetCPUUtilizationPercentage: 50 },
      status: { currentReplicas: 1, desiredReplicas: 1, currentCPUUtilizationPercentage: 40 },
    },
  ],
  [
    'storage capacities of v1 through v1beta1',
    form('storage.orch.io', 'v1', 'csistoragecapacities'),
    form('storage.orch.io', 'v1beta1', 'csistoragecapacities'),
    'CSIStorageCapacity',
    { storageClassName: 's', capacity: '1Gi' },
  ],
  [
    'flow schemas of v1beta2 through v1beta1',
    form('flowcontrol.apiserver.orch.io', 'v1beta2', 'flowschemas'),
    form('flowcontrol.apiserver.orch.io', 'v1beta1', 'flowschemas'),
    'FlowSchema',
    { spec: { priorityLevelConfiguration: { name: 'p' }, matchingPrecedence: 5 } },
  ],
]

test.each(trips)('DEP-02: %s are converted back unchanged', (_, from, to, kind, body) => {
  const object = read(from, kind, body)
  const there = convert(object, { names, from, to })
  expect(there.apiVersion).toBe(to.apiVersion)
  const back = convert(there, { names, from: to, to: from })
  // An autoscaler of v1 keeps v2's measurements in an annotation, which its v1 original did not have.
  const { annotations: _made, ...metadata } = back.metadata
  expect({ ...back, metadata }).toEqual(object)
})

describe('events', () => {
  test('STORE-06: an event is readable in the other group', () => {
    const from = form('', 'v1', 'events')
    const to = form('events.orch.io', 'v1', 'events')
    expect(convert(read(from, 'Event', event), { names, from, to })).toMatchObject({
      apiVersion: 'events.orch.io/v1',
      regarding: { kind: 'Pod', name: 'p' },
      note: 'it runs',
      reportingController: 'agent',
      deprecatedCount: 3,
    })
  })
})

describe('autoscalers', () => {
  const first = form('autoscaling', 'v1', 'horizontalpodautoscalers')
  const second = form('autoscaling', 'v2', 'horizontalpodautoscalers')

  test('STORE-06, DEP-21: v1 has a number for CPU and annotations for the rest', () => {
    const { metadata, spec, status } = convert(read(second, 'HorizontalPodAutoscaler', autoscaler), { names, from: second, to: first })
    expect(spec).toMatchObject({ targetCPUUtilizationPercentage: 60 })
    expect(status).toMatchObject({ currentCPUUtilizationPercentage: 55 })
    expect(Object.keys(metadata.annotations ?? {}).sort()).toEqual(
      ['behavior', 'conditions', 'current-metrics', 'metrics'].map((name) => `autoscaling.alpha.orch.io/${name}`),
    )
    expect(JSON.parse(metadata.annotations?.['autoscaling.alpha.orch.io/metrics'] ?? '')[0]).toEqual({
      type: 'Resource',
      resource: { name: 'memory', targetAverageValue: '100Mi' },
    })
  })

  test('a v1 autoscaler without metrics scales by CPU', () => {
    const object = read(first, 'HorizontalPodAutoscaler', { spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 5 } })
    expect(convert(object, { names, from: first, to: second }).spec).toMatchObject({
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } }],
    })
  })

  test.each(['not json', '[1]', '{}', 'null', '[{"type":5}]', '[{"type":"Resource","resource":{"name":"cpu","targetAverageValue":{}}}]'])(
    'DEP-21: an annotation of the first version that holds %s is dropped',
    (text) => {
      const annotations = Object.fromEntries(
        ['metrics', 'behavior', 'conditions', 'current-metrics'].map((name) => [`autoscaling.alpha.orch.io/${name}`, text]),
      )
      const object = read(first, 'HorizontalPodAutoscaler', {
        metadata: { name: 'a', annotations: { ...annotations, other: 'stays' } },
        spec: { scaleTargetRef: { kind: 'D', name: 'd' }, maxReplicas: 5 },
      })
      const { metadata, spec } = convert(object, { names, from: first, to: second })
      expect(metadata.annotations).toEqual({ other: 'stays' })
      expect(spec).not.toHaveProperty('behavior')
      expect(spec).toMatchObject({
        metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } }],
      })
    },
  )

  test('the first version keeps a behavior with the names of kube-apiserver, and reads names in any case', () => {
    const behavior = { scaleUp: { selectPolicy: 'Min', policies: [{ type: 'Pods', value: 1, periodSeconds: 5 }] } }
    const spec = { scaleTargetRef: { kind: 'D', name: 'd' }, maxReplicas: 5, behavior }
    const there = convert(read(second, 'HorizontalPodAutoscaler', { metadata: { name: 'a' }, spec }), { names, from: second, to: first })
    const kept = there.metadata.annotations?.['autoscaling.alpha.orch.io/behavior'] ?? ''
    expect(kept).toBe(
      '{"ScaleUp":{"StabilizationWindowSeconds":null,"SelectPolicy":"Min","Policies":[{"Type":"Pods","Value":1,"PeriodSeconds":5}]},"ScaleDown":null}',
    )
    expect(convert(there, { names, from: first, to: second }).spec).toMatchObject({ behavior })
    const annotations = { 'autoscaling.alpha.orch.io/behavior': kept.toLowerCase().replace('"min"', '"Min"').replace('"pods"', '"Pods"') }
    const lower = { ...there, metadata: { ...there.metadata, annotations } }
    expect(convert(lower, { names, from: first, to: second }).spec).toMatchObject({ behavior })
  })
})

test('the tolerances of a behavior are kept by the first version', () => {
  const newest = createCatalogue('orch', { minor: 37 })
  const [first, second] = ['v1', 'v2'].map((version) => newest.find('autoscaling', version, 'horizontalpodautoscalers')!)
  const behavior = { scaleUp: { tolerance: '50m', policies: [{ type: 'Pods', value: 1, periodSeconds: 5 }] } }
  const spec = { scaleTargetRef: { kind: 'D', name: 'd' }, maxReplicas: 5, behavior }
  const there = convert(read(second!, 'HorizontalPodAutoscaler', { spec }), { names, from: second!, to: first! })
  expect(convert(there, { names, from: first!, to: second! }).spec).toMatchObject({ behavior })
})

test('TODAY-VER-03: the capacities of a slice of v1alpha3 are plain amounts, and have a member value in v1', () => {
  const at = (capacity: object) => ({
    ...{ apiVersion: 'a', kind: 'ResourceSlice', metadata: { name: 's' } },
    spec: {
      driver: 'd',
      devices: [
        { name: 'a', basic: { capacity } },
        { name: 'b', basic: {} },
      ],
    },
  })
  const stored = plainSlice.toStored(at({ memory: '1Gi' }), names)
  expect(stored['spec']).toEqual({ driver: 'd', devices: [{ name: 'a', capacity: { memory: { value: '1Gi' } } }, { name: 'b' }] })
  expect(plainSlice.fromStored(stored, names)).toEqual(at({ memory: '1Gi' }))
})
