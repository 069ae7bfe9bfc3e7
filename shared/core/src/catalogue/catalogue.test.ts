import { describe, expect, test } from 'vitest'
import type { Catalogue } from '../kind/resource.ts'
import { createCatalogue, parseRuntimeConfigOf, withGroups } from './catalogue.ts'
import type { RuntimeConfig } from './runtime-config.ts'

const catalogue = createCatalogue('orch')

const kinds: readonly (readonly [string, string, string, string, boolean, readonly string[]])[] = [
  ['KIND-CSI-01, KIND-CSI-16, EP-01, EP-02', 'storage.orch.io', 'csinodes', 'CSINode', false, []],
  ['KIND-VA-01, KIND-VA-14, EP-03, EP-04', 'storage.orch.io', 'volumeattachments', 'VolumeAttachment', false, ['status']],
  ['KIND-NODE-01, KIND-NODE-38, EP-05, EP-06', '', 'nodes', 'Node', false, ['proxy', 'status']],
  ['KIND-RQ-01, KIND-RQ-14, EP-07, EP-08', '', 'resourcequotas', 'ResourceQuota', true, ['status']],
  ['KIND-RC-01, KIND-RC-18, EP-09, EP-10', '', 'replicationcontrollers', 'ReplicationController', true, ['scale', 'status']],
]

test.each(kinds)('%s: %s/v1 %s is served', (_, group, plural, kind, isNamespaced, subresources) => {
  const resource = catalogue.find(group, 'v1', plural)
  expect(resource).toMatchObject({ kind, listKind: `${kind}List`, isNamespaced })
  expect(resource?.subresources.map(({ name }) => name)).toEqual(subresources)
})

test.each([
  ['KIND-MISC-01', '', ['pods', 'services', 'namespaces']],
  ['KIND-MISC-02', '', ['secrets', 'configmaps']],
  ['KIND-MISC-03', '', ['serviceaccounts']],
  ['KIND-MISC-04', '', ['persistentvolumeclaims', 'persistentvolumes']],
  ['KIND-MISC-05', 'node.orch.io', ['runtimeclasses']],
  ['VER-12', 'admissionregistration.orch.io', ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations']],
] as const)('%s: %s has %s', (_, group, plurals) => {
  expect(plurals.map((plural) => catalogue.find(group, 'v1', plural)?.plural)).toEqual(plurals)
})

test.each([
  [28, 'admissionregistration.orch.io', ['v1', 'v1beta1', 'v1alpha1']],
  [33, 'resource.orch.io', ['v1beta2', 'v1beta1', 'v1alpha3']],
  [37, 'storagemigration.orch.io', ['v1', 'v1beta1']],
] as const)('at 1.%i a new version of %s has its place at once if no earlier one is on by default', (minor, group, versions) => {
  const reading = parseRuntimeConfigOf('orch', 'api/all=true')
  const all = reading.kind === 'malformed' ? catalogue : createCatalogue('orch', { minor, runtimeConfig: reading.config })
  expect(all.groups.find(({ name }) => name === group)?.versions).toEqual(versions)
})

test('EP-34: status paths serve get, put and patch only', () => {
  const verbs = catalogue.resources.flatMap(({ subresources }) =>
    subresources.filter(({ name }) => name === 'status').map((one) => one.verbs),
  )
  expect(verbs.length).toBeGreaterThan(20)
  expect(new Set(verbs.map((list) => list.join()))).toEqual(new Set(['get,patch,update']))
})

test('NAME-02: groups carry the domain of the profile', () => {
  expect(catalogue.groups.map(({ name }) => name)).toContain('storage.orch.io')
  expect(createCatalogue('kubernetes').groups.map(({ name }) => name)).toContain('storage.k8s.io')
})

test('the first version of a group is the preferred one', () => {
  expect(catalogue.groups.find(({ name }) => name === 'autoscaling')?.versions).toEqual(['v2', 'v1', 'v2beta2'])
})

describe('the stored form of objects', () => {
  test.each([
    [
      'STORE-06: all versions of a kind are kept as one',
      'autoscaling',
      'v1',
      'horizontalpodautoscalers',
      'autoscaling/v2',
      'autoscaling/horizontalpodautoscalers',
    ],
    ['STORE-06: events of both groups are kept as core ones', 'events.orch.io', 'v1', 'events', 'v1', 'core/events'],
    [
      'the newest version, where none is stable',
      'flowcontrol.apiserver.orch.io',
      'v1beta1',
      'flowschemas',
      'flowcontrol.apiserver.orch.io/v1beta2',
      'flowcontrol.apiserver.orch.io/flowschemas',
    ],
    [
      'a stable version goes before a newer beta',
      'storage.orch.io',
      'v1beta1',
      'csistoragecapacities',
      'storage.orch.io/v1',
      'storage.orch.io/csistoragecapacities',
    ],
  ])('%s', (_, group, version, plural, apiVersion, prefix) => {
    expect(catalogue.find(group, version, plural)?.stored).toMatchObject({ apiVersion, prefix })
  })

  test('a prefix is mapped back to its resource', () => {
    expect(catalogue.findStored('core/events')).toMatchObject({ group: '', plural: 'events' })
  })
})

describe('field selectors', () => {
  test('QP-12: a kind without selectable fields of its own has name and namespace', () => {
    expect(Object.keys(catalogue.find('', 'v1', 'configmaps')?.fieldLabels ?? {})).toEqual(['metadata.name', 'metadata.namespace'])
  })

  test('TODAY-POD-23: Pods can be selected by spec.hostNetwork since 1.28', () => {
    const podsAt = (minor: number) => createCatalogue('orch', { minor }).find('', 'v1', 'pods')
    expect([27, 28].map((minor) => 'spec.hostNetwork' in (podsAt(minor)?.fieldLabels ?? {}))).toEqual([false, true])
    const textOf = (spec: object) => podsAt(28)?.stored.readers.fieldsOf({ spec })['spec.hostNetwork']
    expect([{ hostNetwork: true }, { hostNetwork: false }, {}].map(textOf)).toEqual(['true', 'false', 'false'])
  })

  test('QP-12: Pods have their selectable fields', () => {
    const pod = {
      metadata: { name: 'a', namespace: 'b' },
      spec: { nodeName: 'n' },
      status: { phase: 'Running', podIPs: [{ ip: '1.2.3.4' }] },
    }
    expect(catalogue.find('', 'v1', 'pods')?.stored.readers.fieldsOf(pod)).toEqual({
      'spec.hostNetwork': 'false',
      'spec.nodeName': 'n',
      'status.phase': 'Running',
      'status.podIP': '1.2.3.4',
    })
  })

  test('QP-12: events of the newer group are selected by the core names', () => {
    expect(catalogue.find('events.orch.io', 'v1', 'events')?.fieldLabels['regarding.kind']).toBe('involvedObject.kind')
  })
})

describe('kinds in bodies', () => {
  test.each([
    ['', 'v1', 'Pod', 'core/v1.Pod'],
    ['', 'v1', 'DeleteOptions', 'meta/v1.DeleteOptions'],
    ['apps', 'v1', 'DeleteOptions', 'meta/v1.DeleteOptions'],
    ['policy', 'v1', 'Eviction', 'policy/v1.Eviction'],
    ['', 'v1', 'PodSpec', undefined],
    ['', 'v2', 'Pod', undefined],
  ])('%s/%s %s is %s', (group, version, kind, type) => {
    expect(catalogue.readersOfKind({ group, version, kind })).toEqual(type === undefined ? undefined : expect.objectContaining({ type }))
  })
})

describe('runtime config', () => {
  const read = (text: string): RuntimeConfig => {
    const reading = parseRuntimeConfigOf('orch', text)
    if (reading.kind === 'malformed') throw new Error(reading.message)
    return reading.config
  }
  const served = (text: string, group: string, version: string, plural: string): boolean =>
    createCatalogue('orch', { runtimeConfig: read(text) }).find(group, version, plural) !== undefined

  test.each([
    ['VER-04: alpha is off by default', '', 'networking.orch.io', 'v1alpha1', 'clustercidrs', false],
    ['VER-05: beta is on by default', '', 'storage.orch.io', 'v1beta1', 'csistoragecapacities', true],
    [
      'VER-01, RTC-04: a bare group version is switched on',
      'networking.orch.io/v1alpha1',
      'networking.orch.io',
      'v1alpha1',
      'clustercidrs',
      true,
    ],
    ['RTC-02: a missing value means true', 'networking.orch.io/v1alpha1', 'networking.orch.io', 'v1alpha1', 'clustercidrs', true],
    ['RTC-03: a group version is switched off', 'batch/v1=false', 'batch', 'v1', 'jobs', false],
    ['RTC-05: a single resource is switched on', 'batch/v1=false,batch/v1/jobs', 'batch', 'v1', 'jobs', true],
    ['RTC-07: a single resource is switched off', 'batch/v1/jobs=false', 'batch', 'v1', 'jobs', false],
    ['RTC-07: the rest of the version stays', 'batch/v1/jobs=false', 'batch', 'v1', 'cronjobs', true],
    ['RTC-01: pairs are separated by commas', 'batch/v1/jobs=false,batch/v1/cronjobs=false', 'batch', 'v1', 'cronjobs', false],
    ['RTC-06: all betas are switched off', 'api/beta=false', 'storage.orch.io', 'v1beta1', 'csistoragecapacities', false],
    ['RTC-06: all but one are switched off', 'api/all=false,v1=true', '', 'v1', 'pods', true],
    ['RTC-06: the others are gone', 'api/all=false,api/v1=true', 'apps', 'v1', 'deployments', false],
  ])('%s', (_, text, group, version, plural, expected) => {
    expect(served(text, group, version, plural)).toBe(expected)
  })

  test.each(['nope/v1', 'apps/v9', 'apps/v1/nope', 'apps/v1=maybe', 'apps/v1/deployments/status', 'apps/v1=true=false'])(
    'RTC-01: %s is refused',
    (text) => {
      expect(parseRuntimeConfigOf('orch', text).kind).toBe('malformed')
    },
  )

  test('a group without enabled versions is not listed', () => {
    expect(createCatalogue('orch', { runtimeConfig: read('batch/v1=false') }).groups.map(({ name }) => name)).not.toContain('batch')
  })
})

test('DEP-14, DEP-15, DEP-17, DEP-19: deprecated versions are served and marked', () => {
  const marked = catalogue.resources.filter(({ deprecated }) => deprecated !== undefined)
  expect(marked.map(({ apiVersion, plural, deprecated }) => `${apiVersion} ${plural} ${deprecated?.removed}`).sort()).toEqual([
    'autoscaling/v2beta2 horizontalpodautoscalers 1.26',
    'flowcontrol.apiserver.orch.io/v1beta1 flowschemas 1.26',
    'flowcontrol.apiserver.orch.io/v1beta1 prioritylevelconfigurations 1.26',
    'storage.orch.io/v1beta1 csistoragecapacities 1.27',
    'v1 componentstatuses undefined',
  ])
})

test.each([
  ['DEP-16', 'flowcontrol.apiserver.orch.io', 'v1beta2', 'flowschemas'],
  ['DEP-18', 'autoscaling', 'v2', 'horizontalpodautoscalers'],
  ['DEP-20', 'storage.orch.io', 'v1', 'csistoragecapacities'],
])('%s: %s/%s %s is served without a mark', (_, group, version, plural) => {
  const resource = catalogue.find(group, version, plural)
  expect(resource?.plural).toBe(plural)
  expect(resource?.deprecated).toBeUndefined()
})

test('EP-24, EP-25: a delete has its documented answer', () => {
  const answers = ['csinodes', 'volumeattachments'].map((plural) => catalogue.find('storage.orch.io', 'v1', plural)?.deleteAnswer)
  expect(answers).toEqual(['object', 'object'])
  expect(['resourcequotas', 'nodes', 'replicationcontrollers'].map((plural) => catalogue.find('', 'v1', plural)?.deleteAnswer)).toEqual([
    'object',
    'status',
    'statusUnasked',
  ])
})

test('writes through a subresource are dropped while its feature gate is off', () => {
  const statusOf = (isOn: boolean) =>
    createCatalogue('orch', { isGateOn: () => isOn })
      .find('networking.orch.io', 'v1', 'networkpolicies')
      ?.subresources.find(({ name }) => name === 'status')
  expect(statusOf(false)?.dropsWrites).toBe(true)
  expect(statusOf(true)).toBeDefined()
  expect(statusOf(true)?.dropsWrites).toBeUndefined()
})

test('groups changed together serve the given resources, after the built-in ones and by name; all other groups are reused', () => {
  const base = createCatalogue('orch')
  const [pods] = base.inGroupVersion('', 'v1')
  if (pods === undefined) throw new Error('the core group serves nothing')
  const inGroup = (group: string) => ({ name: group, versions: ['v1'], resources: [{ ...pods, group, version: 'v1' }] })
  const both = withGroups(base, [inGroup('b.example.com'), inGroup('a.example.com')])
  const namesOf = ({ groups }: Catalogue) => groups.map(({ name }) => name)
  expect(namesOf(both)).toEqual([...namesOf(base), 'a.example.com', 'b.example.com'])
  expect(both.find('a.example.com', 'v1', pods.plural)?.group).toBe('a.example.com')
  const more = withGroups(both, ['c.example.com', 'a.example.com', 'aa.example.com', '0.example.com'].map(inGroup))
  const inOrder = ['0.example.com', 'a.example.com', 'aa.example.com', 'b.example.com', 'c.example.com']
  expect(namesOf(more)).toEqual([...namesOf(base), ...inOrder])
  expect(more.group('b.example.com')).toBe(both.group('b.example.com'))
  expect(more.group('a.example.com')).not.toBe(both.group('a.example.com'))
  const one = withGroups(both, [{ name: 'a.example.com', versions: [], resources: [] }])
  expect(namesOf(one)).toEqual([...namesOf(base), 'b.example.com'])
  expect([one.group('a.example.com'), one.group('')]).toEqual([undefined, undefined])
  for (const group of base.groups) expect(one.groups).toContain(group)
  expect(one.groups.at(-1)).toBe(both.groups.at(-1))
})
