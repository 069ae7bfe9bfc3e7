import { expect, test } from 'vitest'
import { type Body, problemsOf, withChange } from '../testing/rules-testing.ts'
import { serviceNames } from './api-service.ts'

type Row = readonly [title: string, path: string, value: unknown, problems: readonly string[]]

const label =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
const schema = { openAPIV3Schema: { type: 'object' } }
const version = { name: 'v1', served: true, storage: true, schema }
const former = { ...version, name: 'v0', storage: false }
const conversion = {
  strategy: 'Webhook',
  webhook: { clientConfig: { service: { name: 'n', namespace: 'n' } }, conversionReviewVersions: ['v1'] },
}
const definition: Body = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'widgets', kind: 'Widget', shortNames: ['w'], categories: ['all'] },
    scope: 'Namespaced',
    versions: [version],
    conversion: { strategy: 'None' },
  },
  status: { acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] },
}
const type = 'apiextensions/v1.CustomResourceDefinition'
const wrongStrategy = 'should not be set when strategy is not set to Webhook'

test('a definition with everything set is valid', () => {
  expect(problemsOf(type, definition)).toEqual([])
  expect(problemsOf(type, withChange(definition, 'spec/conversion', conversion))).toEqual([])
})

test.each<Row>([
  [
    'another name',
    'metadata/name',
    'x.example.com',
    ['metadata.name: Invalid value: "x.example.com": must be spec.names.plural+"."+spec.group'],
  ],
  ['no scope', 'spec/scope', undefined, ['spec.scope: Required value']],
  ['an unknown scope', 'spec/scope', 'X', ['spec.scope: Unsupported value: "X": supported values: "Cluster", "Namespaced"']],
  [
    'a version in capitals',
    'spec/versions/0/name',
    'V1',
    [
      `spec.versions[0].name: Invalid value: "V1": ${label}`,
      `spec.version: Invalid value: "V1": ${label}`,
      'status.storedVersions: Invalid value: ["v1"]: must have the storage version V1',
      missing('v1'),
    ],
  ],
  [
    'a version without a schema',
    'spec/versions/0/schema',
    undefined,
    ['spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required'],
  ],
  [
    'absent versions',
    'spec/versions',
    undefined,
    [
      'spec.versions: Invalid value: []apiextensions.CustomResourceDefinitionVersion(nil): must have exactly one version marked as storage version',
      missing('v1'),
    ],
  ],
  [
    'one version twice',
    'spec/versions',
    [version, version],
    [
      expect.stringContaining('must contain unique version names'),
      expect.stringContaining('must have exactly one version marked as storage version'),
      'status.storedVersions: Invalid value: ["v1"]: must have the storage version v1',
    ],
  ],
  [
    'a version without a name',
    'spec/versions/0/name',
    '',
    [
      expect.stringContaining('spec.versions[0].name: Invalid value: ""'),
      'status.storedVersions: Invalid value: ["v1"]: must have the storage version ',
      missing('v1'),
    ],
  ],
  [
    'no version',
    'spec/versions',
    [],
    [
      `spec.versions: Invalid value: []apiextensions.CustomResourceDefinitionVersion{}: must have exactly one version marked as storage version`,
      missing('v1'),
    ],
  ],
  [
    'a kind with a space',
    'spec/names/kind',
    'A b',
    [mixed('kind', 'A b'), mixed('listKind', 'A bList'), singular('a b')].toSorted(byOrder),
  ],
  [
    'a kind that is the kind of lists',
    'spec/names/listKind',
    'Widget',
    ['spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same'],
  ],
  ['a short name in capitals', 'spec/names/shortNames', ['a', 'B'], [`spec.names.shortNames[1]: Invalid value: "B": ${label}`]],
  ['a category in capitals', 'spec/names/categories', ['B'], [`spec.names.categories[0]: Invalid value: "B": ${label}`]],
  [
    'an accepted name in capitals',
    'status/acceptedNames',
    { plural: 'A', kind: '' },
    [`status.acceptedNames.plural: Invalid value: "A": ${label}`],
  ],
  [
    'no stored version',
    'status/storedVersions',
    [],
    ['status.storedVersions: Invalid value: []string{}: must have at least one stored version'],
  ],
  ['a stored version that is gone', 'status/storedVersions', ['v1', 'v0'], [missing('v0', 1)]],
  [
    'an unknown strategy',
    'spec/conversion/strategy',
    'X',
    ['spec.conversion.strategy: Unsupported value: "X": supported values: "None", "Webhook"'],
  ],
  [
    'a webhook that is not asked',
    'spec/conversion',
    { ...conversion, strategy: 'None' },
    [
      `spec.conversion.webhookClientConfig: Forbidden: ${wrongStrategy}`,
      `spec.conversion.conversionReviewVersions: Forbidden: ${wrongStrategy}`,
    ],
  ],
  [
    'no webhook to ask',
    'spec/conversion',
    { strategy: 'Webhook' },
    [
      'spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook',
      'spec.conversion.conversionReviewVersions: Required value',
    ],
  ],
  [
    'unknown versions of reviews',
    'spec/conversion',
    { ...conversion, webhook: { ...conversion.webhook, conversionReviewVersions: ['v2', 'v2'] } },
    [
      'spec.conversion.conversionReviewVersions[1]: Invalid value: "v2": duplicate version',
      'spec.conversion.conversionReviewVersions: Invalid value: ["v2","v2"]: must include at least one of v1, v1beta1',
    ],
  ],
  [
    'a warning of a version that is not deprecated',
    'spec/versions/0/deprecationWarning',
    'old',
    ['spec.versions[0].deprecationWarning: Invalid value: "old": can only be set for deprecated versions'],
  ],
  [
    'unknown fields that are kept',
    'spec/preserveUnknownFields',
    true,
    [
      'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
    ],
  ],
])('a definition with %s is refused', (_title, path, value, problems) => {
  expect(problemsOf(type, withChange(definition, path, value))).toEqual(problems)
})

function missing(name: string, index = 0): string {
  return `status.storedVersions[${index}]: Invalid value: "${name}": missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`
}

function mixed(field: string, name: string): string {
  return `spec.names.${field}: Invalid value: "${name}": may have mixed case, but should otherwise match: ${label}`
}

function singular(name: string): string {
  return `spec.names.singular: Invalid value: "${name}": ${label}`
}

/** Compares by the order of validation: the singular before the kinds. */
function byOrder(left: string, right: string): number {
  return Number(right.includes('singular')) - Number(left.includes('singular'))
}

test.each<[string, string[]]>([
  ['', ['metadata.name: Invalid value: "widgets.example.com": must be spec.names.plural+"."+spec.group', 'spec.group: Required value']],
  [
    'example',
    [
      'metadata.name: Invalid value: "widgets.example.com": must be spec.names.plural+"."+spec.group',
      'spec.group: Invalid value: "example": should be a domain with at least one dot',
    ],
  ],
])('a definition of the group %j is refused', (group, problems) => {
  expect(problemsOf(type, withChange(definition, 'spec/group', group))).toEqual(problems)
})

test('one of several versions is stored, and each has a distinct name', () => {
  const problems = (versions: Body[]) =>
    problemsOf(type, withChange(definition, 'spec/versions', versions)).map((text) => text.slice(text.lastIndexOf(': ') + 2))
  expect(problems([version, former])).toEqual([])
  expect(problems([version, { ...former, storage: true }])).toEqual([
    'must have exactly one version marked as storage version',
    'must have the storage version v0',
  ])
  expect(problems([version, { ...former, name: 'v1' }])).toEqual(['must contain unique version names'])
})

test('group and plural are immutable, and scope and kind are once the definition is established', () => {
  const established = withChange(definition, 'status/conditions', [{ type: 'Established', status: 'True' }])
  const changed = (live: Body, path: string, value: string) =>
    problemsOf(type, withChange(live, path, value), { live }).filter((text) => text.includes('immutable'))
  expect(changed(definition, 'spec/group', 'other.example.com')).toEqual([
    'spec.group: Invalid value: "other.example.com": field is immutable',
  ])
  expect(changed(definition, 'spec/names/plural', 'others')).toEqual(['spec.names.plural: Invalid value: "others": field is immutable'])
  expect(changed(definition, 'spec/scope', 'Cluster')).toEqual([])
  expect(changed(established, 'spec/scope', 'Cluster')).toEqual(['spec.scope: Invalid value: "Cluster": field is immutable'])
  expect(changed(established, 'spec/names/kind', 'Other')).toEqual(['spec.names.kind: Invalid value: "Other": field is immutable'])
})

const service: Body = {
  metadata: { name: 'v1.example.com' },
  spec: {
    group: 'example.com',
    version: 'v1',
    groupPriorityMinimum: 20_000,
    versionPriority: 1_000,
    service: { name: 'a', namespace: 'b' },
  },
}
const apiService = 'apiregistration/v1.APIService'

test('an APIService with everything set is valid', () => {
  expect(problemsOf(apiService, service)).toEqual([])
})

test('an APIService is named after its group version', () => {
  const check = serviceNames({ spec: { group: 'example.com', version: 'v1' } })
  expect(check('v1.example.com')).toEqual([])
  expect(check('x')).toEqual(['must be `spec.version+"."+spec.group`: "v1.example.com"'])
  expect(check('a/b')).toEqual(["may not contain '/'"])
})

test.each<Row>([
  ['too high a priority of the group', 'spec/groupPriorityMinimum', 20_001, [priority('groupPriorityMinimum', 20_001, 20_000)]],
  ['no priority of the group', 'spec/groupPriorityMinimum', undefined, [priority('groupPriorityMinimum', 0, 20_000)]],
  ['too high a priority of the version', 'spec/versionPriority', 1_001, [priority('versionPriority', 1_001, 1_000)]],
  ['no namespace of the service', 'spec/service', { name: 'a' }, ['spec.service.namespace: Required value']],
  ['no name of the service', 'spec/service', { namespace: 'a' }, ['spec.service.name: Required value']],
])('an APIService with %s is refused', (_title, path, value, problems) => {
  expect(problemsOf(apiService, withChange(service, path, value))).toEqual(problems)
})

function priority(field: string, value: number, max: number): string {
  return `spec.${field}: Invalid value: ${value}: must be positive and less than ${max}`
}

test('a remote APIService has a CA bundle or skips verification, and a local one has neither', () => {
  const both = withChange(withChange(service, 'spec/insecureSkipTLSVerify', true), 'spec/caBundle', 'YWJj')
  expect(problemsOf(apiService, both)).toEqual(['spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present'])
  expect(problemsOf(apiService, withChange(both, 'spec/service', undefined))).toEqual([
    'spec.caBundle: Invalid value: "3 bytes": local APIServices may not have a caBundle',
    'spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify',
  ])
})

test('only v1 has no group, and a condition is True, False or Unknown', () => {
  const core = withChange(withChange(service, 'spec/group', ''), 'metadata/name', 'v1.')
  expect(problemsOf(apiService, core)).toEqual([])
  const other = withChange(withChange(core, 'spec/version', 'v2'), 'metadata/name', 'v2.')
  expect(problemsOf(apiService, other)).toEqual([
    'spec.group: Required value: only v1 may have an empty group and it better be legacy kube',
  ])
  const withStatus = withChange(service, 'status', { conditions: [{ type: 'Available', status: 'Maybe' }] })
  expect(problemsOf(apiService, withStatus, { part: 'status' })).toEqual([
    'status.conditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"',
  ])
})
