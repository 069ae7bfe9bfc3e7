import { expect, test } from 'vitest'
import { actingGates, gateOf, type IsGateOn } from '../feature-gates.ts'
import { actingSteps, otherSteps } from '../gate-steps.ts'
import { allTypeNames, hasTypeAt, resolveType, typeNameAt } from '../schema/resolve.ts'
import { disabledFieldsDropper } from './gated-fields.ts'

const on: IsGateOn = () => true
const off: IsGateOn = () => false

type Row = readonly [type: string, written: object, whenOff: object]

const spread = { maxSkew: 1, topologyKey: 'zone' }
const container = { name: 'c', image: 'i' }
const shownProc = { ...container, securityContext: { procMount: 'Unmasked' } }
const hiddenProc = { ...container, securityContext: { procMount: 'Default' } }
const patient = { ...container, livenessProbe: { terminationGracePeriodSeconds: 5 } }
const template = (spec: object) => ({ spec: { template: { spec } } })

const rows: readonly Row[] = [
  [
    'core/v1.PersistentVolume',
    { spec: { csi: { driver: 'd', nodeExpandSecretRef: { name: 's', namespace: 'n' } } } },
    { spec: { csi: { driver: 'd' } } },
  ],
  ['core/v1.PersistentVolumeClaim', { status: { allocatedResources: { storage: '1' }, resizeStatus: '' } }, { status: {} }],
  ['core/v1.Pod', { spec: { hostUsers: false } }, { spec: {} }],
  ['core/v1.Pod', { spec: { initContainers: [container, shownProc] } }, { spec: { initContainers: [container, hiddenProc] } }],
  ['core/v1.Pod', { spec: { containers: [patient] } }, { spec: { containers: [{ ...container, livenessProbe: {} }] } }],
  [
    'apps/v1.Deployment',
    template({ topologySpreadConstraints: [{ ...spread, minDomains: 2 }] }),
    template({ topologySpreadConstraints: [spread] }),
  ],
  [
    'batch/v1.CronJob',
    { spec: { jobTemplate: template({ topologySpreadConstraints: [{ ...spread, matchLabelKeys: ['a'], nodeTaintsPolicy: 'Honor' }] }) } },
    { spec: { jobTemplate: template({ topologySpreadConstraints: [spread] }) } },
  ],
  ['batch/v1.Job', { spec: { podFailurePolicy: { rules: [] } } }, { spec: {} }],
  [
    'apps/v1.StatefulSet',
    { spec: { persistentVolumeClaimRetentionPolicy: {}, updateStrategy: { rollingUpdate: { partition: 1, maxUnavailable: 1 } } } },
    { spec: { updateStrategy: { rollingUpdate: { partition: 1 } } } },
  ],
  ['storage/v1.CSIDriver', { spec: { seLinuxMount: true } }, { spec: {} }],
  [
    'autoscaling/v2.HorizontalPodAutoscaler',
    { spec: { metrics: [{ type: 'T', containerResource: { name: 'cpu' } }] } },
    { spec: { metrics: [{ type: 'T' }] } },
  ],
  ['core/v1.Service', { spec: { type: 'T', internalTrafficPolicy: 'Local' } }, { spec: { type: 'T' } }],
  [
    'discovery/v1.EndpointSlice',
    { endpoints: [{ hints: {}, conditions: { ready: true, serving: true } }] },
    { endpoints: [{ conditions: { ready: true } }] },
  ],
]

function dropperOf(type: string) {
  const drop = disabledFieldsDropper(type)
  if (drop === undefined) throw new Error(`${type} has no fields of features`)
  return drop
}

test.each(rows)('a field of %s whose feature is off is dropped, unless the object already has it', (type, written, whenOff) => {
  const before = structuredClone(written)
  const drop = dropperOf(type)
  expect(drop({ ...written }, undefined, off)).toEqual(whenOff)
  expect(drop({ ...written }, { ...whenOff }, off)).toEqual(whenOff)
  expect(drop({ ...written }, { ...written }, off)).toEqual(written)
  expect(drop({ ...written }, undefined, on)).toEqual(written)
  expect(written).toEqual(before)
})

test('a gated field that the object has in one place stays in all places, and another gated field does not', () => {
  const spec = (...constraints: object[]) => ({ spec: { topologySpreadConstraints: constraints } })
  const written = spec({ minDomains: 1 }, { minDomains: 2, nodeTaintsPolicy: 'Honor' })
  expect(dropperOf('core/v1.Pod')(written, spec({ minDomains: 3 }), off)).toEqual(spec({ minDomains: 1 }, { minDomains: 2 }))
})

test('an empty hook is dropped, and an image volume is dropped with its mounts', () => {
  const mount = (...names: string[]) => ({ volumeMounts: names.map((name) => ({ name, mountPath: name })) })
  const image = { name: 'i', image: { reference: 'r' } }
  const written = {
    spec: {
      volumes: [{ name: 'e', emptyDir: {} }, image],
      initContainers: [{ ...container, ...mount('i'), lifecycle: { stopSignal: 'SIGTERM' } }],
      containers: [{ ...container, ...mount('i', 'e'), lifecycle: { preStop: {}, stopSignal: 'SIGTERM' } }],
    },
  }
  const kept = {
    spec: {
      volumes: [{ name: 'e', emptyDir: {} }],
      initContainers: [container],
      containers: [{ ...container, ...mount('e'), lifecycle: { preStop: {} } }],
    },
  }
  const drop = dropperOf(typeNameAt('core/v1.Pod', 37))
  expect(drop(written, undefined, off)).toEqual(kept)
  expect(drop(written, written, off)).toEqual(written)
  expect(drop({ spec: { volumes: [image], containers: [container] } }, undefined, off)).toEqual({ spec: { containers: [container] } })
})

test('an object of a type without gated fields is returned unchanged, and a type that contains only such types has no drop function', () => {
  const written = { metadata: { name: 'p' }, spec: { nodeName: 'n' } }
  expect(dropperOf('core/v1.Pod')(written, undefined, off)).toBe(written)
  expect(disabledFieldsDropper('core/v1.ConfigMap')).toBeUndefined()
})

test('an embedded claim keeps its fields', () => {
  const written = { spec: { volumeClaimTemplates: [{ status: { resizeStatus: 'NodeExpansionFailed' } }] } }
  expect(dropperOf('apps/v1.StatefulSet')(written, undefined, off)).toBe(written)
})

test.each([25, 37])('every feature that a type of 1.%d names exists at that level, and is GA or can be switched', (level) => {
  const types = allTypeNames().filter((type) => hasTypeAt(type, level))
  const named = types.flatMap((type) => {
    const node = resolveType(typeNameAt(type, level))
    return node.kind === 'struct'
      ? node.fields.flatMap(({ featureGate, gatedValues = {} }) => [featureGate ?? [], Object.values(gatedValues)].flat())
      : []
  })
  expect(named.length).toBeGreaterThan(10)
  const acting = new Set<string>(actingGates)
  const isUnknown = (name: string) => !Object.hasOwn({ ...actingSteps, ...otherSteps }, name)
  expect(named.filter((name) => isUnknown(name) || (gateOf(name, level)?.isLocked === false && !acting.has(name)))).toEqual([])
})
