import { expect, test } from 'vitest'
import { namesOf } from '../names.ts'
import type { DefinitionStatus } from './definition-spec.ts'
import { takenNames } from './naming.ts'
import { settleStatus } from './settle-status.ts'

const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList', shortNames: ['wd'] }
const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }

function widgets(spec: object = {}, status?: DefinitionStatus, metadata: object = {}) {
  const definition = { metadata: { name: 'widgets.example.com', generation: 3, ...metadata } }
  return { ...definition, spec: { group: 'example.com', names, versions: [version], ...spec }, ...(status !== undefined && { status }) }
}

function settle(definition: object, { taken = takenNames([]), now = 't1' } = {}) {
  return settleStatus(definition as never, { taken, names: namesOf('kubernetes'), now, level: 25 })
}

const accepted = { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found', lastTransitionTime: 't1' }
const established = {
  type: 'Established',
  status: 'True',
  reason: 'InitialNamesAccepted',
  message: 'the initial names have been accepted',
  lastTransitionTime: 't1',
}

test('CRD-57: a definition with free names is established, at a time', () => {
  expect(settle(widgets())).toEqual({ acceptedNames: names, conditions: [accepted, established] })
})

test('an up-to-date status is returned itself', () => {
  const status = settle(widgets())
  expect(settle(widgets({}, status), { now: 't2' })).toBe(status)
})

test('CRD-58: a later conflict leaves the definition established, and its names unchanged', () => {
  const status = settle(widgets())
  const renamed = widgets({ names: { ...names, shortNames: ['gd'] } }, status)
  const after = settle(renamed, { taken: takenNames([{ plural: 'gadgets', shortNames: ['gd'] }]), now: 't2' })
  expect(after.acceptedNames).toEqual(names)
  expect(after.conditions).toEqual([
    { type: 'NamesAccepted', status: 'False', reason: 'ShortNamesConflict', message: '"gd" is already in use', lastTransitionTime: 't2' },
    established,
  ])
})

test('CRD-60: a name that becomes free is assigned', () => {
  const taken = takenNames([{ plural: 'widgets' }])
  const refused = settle(widgets(), { taken })
  expect(refused.conditions).toMatchObject([{ reason: 'PluralConflict' }, { status: 'False', reason: 'NotAccepted' }])
  expect(settle(widgets({}, refused), { now: 't2' })).toMatchObject({
    acceptedNames: names,
    conditions: [
      { status: 'True', lastTransitionTime: 't2' },
      { type: 'Established', status: 'True', lastTransitionTime: 't2' },
    ],
  })
})

test('CRD-63: a conversion webhook without a valid bundle keeps a definition from being established', () => {
  const conversion = { strategy: 'Webhook', webhook: { clientConfig: { url: 'https://x', caBundle: 'Cg==' } } }
  expect(settle(widgets({ conversion })).conditions).toContainEqual({
    type: 'Established',
    status: 'False',
    reason: 'InvalidCABundle',
    message: 'The conversion webhook CABundle is invalid',
    lastTransitionTime: 't1',
  })
})

test('CRD-61: a schema that is not structural is reported until it is', () => {
  const open = { ...version, schema: { openAPIV3Schema: { type: 'object', properties: { a: {} } } } }
  const status = settle(widgets({ versions: [open], preserveUnknownFields: true }))
  expect(status.conditions?.[2]).toEqual({
    type: 'NonStructuralSchema',
    status: 'True',
    reason: 'Violations',
    message:
      '[spec.preserveUnknownFields: Invalid value: true: must be false, spec.versions[0].schema.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields]',
    lastTransitionTime: 't1',
  })
  expect(settle(widgets({}, status)).conditions).toEqual([accepted, established])
})

test('CRD-62: the approval is reported only in groups of the project', () => {
  const annotations = { 'api-approved.kubernetes.io': 'unapproved, a trial' }
  const status = settle(widgets({ group: 'x.k8s.io' }, undefined, { annotations }))
  expect(status.conditions?.[2]).toMatchObject({
    type: 'KubernetesAPIApprovalPolicyConformant',
    status: 'False',
    reason: 'UnapprovedAnnotation',
    message: 'not approved: "unapproved, a trial"',
  })
  expect(settle(widgets({}, undefined, { annotations })).conditions).toHaveLength(2)
})

test('CRD-08, MACH-CRD-05: observedGeneration is not set, and values that a client has written stay', () => {
  expect(JSON.stringify(settle(widgets()))).not.toContain('observedGeneration')
  const written = { ...settle(widgets()), observedGeneration: 2 }
  const conditions = written.conditions?.map((condition) => ({ ...condition, observedGeneration: 2 }))
  const status = { ...written, conditions }
  expect(settle(widgets({}, status, { generation: 4 }), { now: '2026-01-02T00:00:00Z' })).toEqual(status)
})
