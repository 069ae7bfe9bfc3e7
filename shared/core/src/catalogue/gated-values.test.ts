import { expect, test } from 'vitest'
import type { IsGateOn } from '../feature-gates.ts'
import { type Body, problemsOf, withChange } from './testing/rules-testing.ts'

const on: IsGateOn = () => true

const claimSpec: Body = { accessModes: ['ReadWriteOncePod'], resources: { requests: { storage: '2Gi' } } }
const claim: Body = { metadata: { name: 'c', namespace: 'n' }, spec: claimSpec }
const volume: Body = {
  metadata: { name: 'v' },
  spec: { accessModes: ['ReadWriteOncePod'], capacity: { storage: '1Gi' }, hostPath: { path: '/x' } },
}
const pod: Body = {
  metadata: { name: 'p', namespace: 'n' },
  spec: {
    containers: [{ name: 'c', image: 'i', terminationMessagePolicy: 'File', imagePullPolicy: 'Always' }],
    volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: { spec: claimSpec } } }],
  },
}

const refusal = 'accessModes: Unsupported value: "ReadWriteOncePod": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce"'

test.each([
  ['core/v1.PersistentVolumeClaim', claim, 'spec'],
  ['core/v1.PersistentVolume', volume, 'spec'],
  ['core/v1.Pod', pod, 'spec.volumes[0].ephemeral.volumeClaimTemplate.spec'],
])('%s: a value of a feature that is off is refused, unless the object already has it', (type, body, path) => {
  expect(problemsOf(type, body)).toEqual([`${path}.${refusal}`])
  expect(problemsOf(type, body, { live: body })).toEqual([])
  expect(problemsOf(type, body, { isGateOn: on })).toEqual([])
})

const bound = (size: string, spec: Body = {}): Body => ({
  ...claim,
  spec: { ...claimSpec, resources: { requests: { storage: size } }, ...spec },
  status: { phase: 'Bound', capacity: { storage: '1Gi' } },
})
const shrunk = 'spec.resources.requests.storage: Forbidden: field can not be less than'

test('RecoverVolumeExpansionFailure: a claim may be shrunk to more than its capacity', () => {
  const shrink = (size: string, isGateOn?: IsGateOn) =>
    problemsOf('core/v1.PersistentVolumeClaim', bound(size), { live: bound('3Gi'), ...(isGateOn && { isGateOn }) })
  expect(shrink('2Gi')).toEqual([`${shrunk} previous value`])
  expect(shrink('2Gi', on)).toEqual([])
  expect(shrink('1Gi', on)).toEqual([`${shrunk} status.capacity`])
})

test('RecoverVolumeExpansionFailure: an expansion’s status is validated', () => {
  const status = { allocatedResources: { cpu: '1', storage: '-1' } }
  const judge = (isGateOn?: IsGateOn) =>
    problemsOf('core/v1.PersistentVolumeClaim', { ...claim, status }, { part: 'status', ...(isGateOn && { isGateOn }) })
  expect(judge()).toEqual([])
  expect(judge(on)).toEqual([
    'status.allocatedResources: Unsupported value: "cpu": supported values: "storage"',
    expect.stringContaining('status.allocatedResources[storage]: Invalid value: -1'),
  ])
})

test('RetroactiveDefaultStorageClass: a class may be added to a claim without one', () => {
  const give = (isGateOn?: IsGateOn) =>
    problemsOf('core/v1.PersistentVolumeClaim', bound('2Gi', { storageClassName: 'fast' }), {
      live: bound('2Gi'),
      ...(isGateOn && { isGateOn }),
    })
  expect(give()).toEqual([expect.stringContaining('spec: Forbidden: spec is immutable')])
  expect(give(on)).toEqual([])
})

const metrics = [{ type: 'External', external: { metric: { name: 'q' }, target: { type: 'Value', value: '5' } } }]
const autoscaler: Body = {
  metadata: { name: 'a', namespace: 'n' },
  spec: { minReplicas: 0, maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd' }, metrics },
}

test('HPAScaleToZero: an autoscaler may scale down to zero', () => {
  const type = 'autoscaling/v2.HorizontalPodAutoscaler'
  expect(problemsOf(type, autoscaler)).toEqual(['spec.minReplicas: Invalid value: 0: must be greater than or equal to 1'])
  expect(problemsOf(type, autoscaler, { live: autoscaler })).toEqual([])
  expect(problemsOf(type, autoscaler, { isGateOn: on })).toEqual([])
  expect(problemsOf(type, withChange(autoscaler, 'spec/minReplicas', -1), { isGateOn: on })).toEqual([
    'spec.minReplicas: Invalid value: -1: must be greater than or equal to 0',
  ])
})
