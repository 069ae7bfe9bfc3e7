import { createCatalogue } from '@orch/core/catalogue'
import { knownReleases, parseFeatureGates } from '@orch/core/feature-gates'
import { describe, expect, test } from 'vitest'
import { readApi } from '../../services/orch/src/api/settings.ts'
import { catalogueOf } from '../../services/orch/src/surroundings.ts'
import { versionInfo } from '../../services/orch/src/version.ts'
import { aGateway, aStorage } from './own-gateway.ts'

interface Words {
  readonly featureGates?: readonly string[]
  readonly runtimeConfig?: readonly string[]
}

const apiOf = (version: string, { featureGates = [], runtimeConfig = [] }: Words = {}) =>
  readApi({ profile: 'orch', emulatedVersion: version === '' ? [] : [version], featureGates, runtimeConfig })
const catalogueAt = (minor: number) => createCatalogue('orch', { minor })

/** A gateway that emulates a release; `''` for no emulation. */
const emulating = (version: string, storage: Awaited<ReturnType<typeof aStorage>>, words: Words = {}) => {
  const api = apiOf(version, words)
  return aGateway(undefined, { catalogue: catalogueOf(api), version: versionInfo(api.level) }, storage)
}

const removals: readonly (readonly [minor: number, group: string, version: string, plural: string])[] = [
  [25, 'autoscaling', 'v2beta1', 'horizontalpodautoscalers'],
  [25, 'batch', 'v1beta1', 'cronjobs'],
  [25, 'discovery.orch.io', 'v1beta1', 'endpointslices'],
  [25, 'events.orch.io', 'v1beta1', 'events'],
  [25, 'node.orch.io', 'v1beta1', 'runtimeclasses'],
  [25, 'policy', 'v1beta1', 'poddisruptionbudgets'],
  [26, 'autoscaling', 'v2beta2', 'horizontalpodautoscalers'],
  [26, 'flowcontrol.apiserver.orch.io', 'v1beta1', 'flowschemas'],
  [26, 'flowcontrol.apiserver.orch.io', 'v1beta1', 'prioritylevelconfigurations'],
  [27, 'storage.orch.io', 'v1beta1', 'csistoragecapacities'],
  [29, 'flowcontrol.apiserver.orch.io', 'v1beta2', 'flowschemas'],
  [29, 'flowcontrol.apiserver.orch.io', 'v1beta2', 'prioritylevelconfigurations'],
  [32, 'flowcontrol.apiserver.orch.io', 'v1beta3', 'flowschemas'],
  [32, 'flowcontrol.apiserver.orch.io', 'v1beta3', 'prioritylevelconfigurations'],
]

const additions: typeof removals = [
  [26, 'flowcontrol.apiserver.orch.io', 'v1beta3', 'flowschemas'],
  [26, 'flowcontrol.apiserver.orch.io', 'v1beta3', 'prioritylevelconfigurations'],
  [28, 'authentication.orch.io', 'v1', 'selfsubjectreviews'],
  [29, 'flowcontrol.apiserver.orch.io', 'v1', 'flowschemas'],
  [29, 'flowcontrol.apiserver.orch.io', 'v1', 'prioritylevelconfigurations'],
  [30, 'admissionregistration.orch.io', 'v1', 'validatingadmissionpolicies'],
  [30, 'admissionregistration.orch.io', 'v1', 'validatingadmissionpolicybindings'],
  [33, 'networking.orch.io', 'v1', 'ipaddresses'],
  [33, 'networking.orch.io', 'v1', 'servicecidrs'],
  [34, 'resource.orch.io', 'v1', 'deviceclasses'],
  [34, 'resource.orch.io', 'v1', 'resourceclaims'],
  [34, 'resource.orch.io', 'v1', 'resourceclaimtemplates'],
  [34, 'resource.orch.io', 'v1', 'resourceslices'],
  [34, 'storage.orch.io', 'v1', 'volumeattributesclasses'],
  [36, 'admissionregistration.orch.io', 'v1', 'mutatingadmissionpolicies'],
  [36, 'admissionregistration.orch.io', 'v1', 'mutatingadmissionpolicybindings'],
  [37, 'certificates.orch.io', 'v1', 'clustertrustbundles'],
  [37, 'certificates.orch.io', 'v1', 'podcertificaterequests'],
  [37, 'resource.orch.io', 'v1', 'devicetaintrules'],
  [37, 'storagemigration.orch.io', 'v1', 'storageversionmigrations'],
]

const minors = Array.from({ length: knownReleases.newest - knownReleases.oldest + 1 }, (_, index) => knownReleases.oldest + index)

describe('--emulated-version', () => {
  test.each([
    ['1.23', 23],
    ['1.28', 28],
    ['1.37', 37],
    ['kube=1.27', 27],
    ['kube=v1.26.0', 26],
  ])('EMV-01: accepts %j', (word, minor) => {
    expect(apiOf(word).level).toBe(minor)
  })

  test.each([
    ['1.38', 'must be at most 1.37, the newest release whose types are known here'],
    ['1.22', 'must be at least 1.23: older releases serve group versions that the types here do not have'],
    ['two', 'must be a release from 1.23 to 1.37, such as kube=1.27'],
    ['2.25', 'must be a release from 1.23 to 1.37, such as kube=1.27'],
    ['wardle=1.25', 'there is no component wardle whose release could be emulated, only kube'],
  ])('EMV-01: refuses %j', (word, reason) => {
    expect(() => apiOf(word)).toThrow(`--emulated-version=${word}: ${reason}`)
  })

  test('EMV-02: is 1.37, the newest level, by default', () => {
    expect(apiOf('').level).toBe(37)
  })
})

describe('feature gates of a level', () => {
  const isOnAt = (minor: number, name: string, ...words: string[]) => {
    const gates = parseFeatureGates(words, minor)
    return gates.kind === 'gates' ? gates.isOn(name) : gates.message
  }

  test.each([
    ['EndpointSliceTerminatingCondition', [true, true, true, true, true, true]],
    ['JobPodFailurePolicy', [false, false, false, true, true, true]],
    ['ReadWriteOncePod', [false, false, false, false, true, true]],
    ['SELinuxMountReadWriteOncePod', [false, false, false, false, false, true]],
    ['ServerSideFieldValidation', [false, false, true, true, true, true]],
    ['TopologyAwareHints', [false, true, true, true, true, true]],
    ['APIListChunking', [true, true, true, true, true, true]],
  ])('EMV-03: have the default of %s from 1.23 to 1.28', (name, expected) => {
    expect([23, 24, 25, 26, 27, 28].map((minor) => isOnAt(minor, name))).toEqual(expected)
  })

  test('EMV-03: of GA features cannot be switched off', () => {
    const word = 'ServerSideFieldValidation=false'
    expect(isOnAt(26, 'ServerSideFieldValidation', word)).toBe(false)
    expect(isOnAt(27, 'ServerSideFieldValidation', word)).toBe(
      'feature gate ServerSideFieldValidation: the feature is settled and cannot be switched off',
    )
  })

  test('EMV-04: of features that the release lacks cannot be switched', () => {
    expect(isOnAt(25, 'JobPodFailurePolicy', 'JobPodFailurePolicy=true')).toBe(true)
    const refusal = 'feature gate JobPodFailurePolicy: the feature does not exist at version 1.24'
    expect(isOnAt(24, 'JobPodFailurePolicy', 'JobPodFailurePolicy=false')).toBe(refusal)
    expect(isOnAt(24, 'JobPodFailurePolicy', 'JobPodFailurePolicy=true')).toBe(refusal)
  })

  test('VAL-15: leave field validation off at 1.23 and 1.24, where its gate can switch it on, and on from 1.25', async () => {
    const storage = await aStorage()
    const map = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, unknown: 1 })
    const path = '/api/v1/namespaces/default/configmaps?fieldValidation=Strict'
    const codeAt = async (version: string) => (await (await emulating(version, storage)).call('POST', path, map(`m-${version}`))).code
    expect([await codeAt('1.23'), await codeAt('1.24'), await codeAt('1.25'), await codeAt('1.28')]).toEqual([201, 201, 400, 400])
    expect(isOnAt(24, 'ServerSideFieldValidation', 'ServerSideFieldValidation=true')).toBe(true)
  })
})

describe('API versions of a level', () => {
  test('EMV-05: exclude versions removed since the previous release, and include new ones', () => {
    const servedAt = (minor: number) => catalogueAt(minor).resources.map(({ group, version, plural }) => `${group}/${version}/${plural}`)
    for (const minor of minors.slice(1)) {
      const [before, after] = [servedAt(minor - 1), new Set(servedAt(minor))]
      const changedAt = (changes: typeof removals) => changes.flatMap(([at, ...place]) => (at === minor ? [place.join('/')] : [])).sort()
      expect(before.filter((one) => !after.has(one)).sort()).toEqual(changedAt(removals))
      expect([...after].filter((one) => !before.includes(one)).sort()).toEqual(changedAt(additions))
    }
  })

  test('EMV-06: read an object of a removed version in other versions, and in that version before its removal', async () => {
    const storage = await aStorage()
    const path = (version: string) => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`
    const spec = { scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' }, maxReplicas: 3 }
    const older = await emulating('1.25', storage)
    const autoscaler = { apiVersion: 'autoscaling/v2beta2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'a' }, spec }
    expect((await older.call('POST', path('v2beta2'), autoscaler)).code).toBe(201)
    const newer = await emulating('1.26', storage)
    expect((await newer.call('GET', `${path('v2beta2')}/a`)).code).toBe(404)
    for (const version of ['v1', 'v2']) {
      expect((await newer.call('GET', `${path(version)}/a`)).body).toMatchObject({
        apiVersion: `autoscaling/${version}`,
        spec: { maxReplicas: 3 },
      })
    }
    const patched = await newer.call('PATCH', `${path('v2')}/a`, { spec: { maxReplicas: 4 } }, 'application/merge-patch+json')
    expect(patched.code).toBe(200)
    const again = await emulating('1.25', storage)
    expect((await again.call('GET', `${path('v2beta2')}/a`)).body).toMatchObject({
      apiVersion: 'autoscaling/v2beta2',
      spec: { maxReplicas: 4 },
    })
  })

  const beta = (group: string, plural: string) => `/apis/${group}/v1beta1/namespaces/default/${plural}`
  const first = (group: string, plural: string) => `/apis/${group}/v1/namespaces/default/${plural}`
  const container = { name: 'c', image: 'i' }
  const job = { template: { spec: { restartPolicy: 'Never', containers: [container] } } }

  test.each([
    ['batch', 'CronJob', 'cronjobs', { spec: { schedule: '* * * * *', jobTemplate: { spec: job } } }],
    ['policy', 'PodDisruptionBudget', 'poddisruptionbudgets', { spec: { maxUnavailable: 1, selector: { matchLabels: { a: 'b' } } } }],
    ['discovery.orch.io', 'EndpointSlice', 'endpointslices', { addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'] }] }],
    ['events.orch.io', 'Event', 'events', { regarding: { kind: 'Pod', namespace: 'default', name: 'p' }, note: 'n', reason: 'R' }],
  ])('EMV-14: include %s/v1beta1 up to 1.24, and its %s equals v1', async (group, kind, plural, fields) => {
    const storage = await aStorage()
    const old = await emulating('1.24', storage)
    const object = { apiVersion: `${group}/v1beta1`, kind, metadata: { name: 'a', namespace: 'default' }, ...fields }
    const made = await old.call('POST', beta(group, plural), object)
    expect(made).toMatchObject({ code: 201, body: { apiVersion: `${group}/v1beta1`, ...fields } })
    expect(String(made.warning)).toContain(`${group}/v1beta1 ${kind} is deprecated in v1.2`)
    expect((await old.call('GET', `${first(group, plural)}/a`)).body).toMatchObject({ apiVersion: `${group}/v1`, kind, ...fields })
    const { body } = await old.call('GET', `/apis/${group}`)
    expect((body['versions'] as { version: string }[]).map(({ version }) => version)).toEqual(['v1', 'v1beta1'])
    const own = await emulating('1.25', storage)
    expect((await own.call('GET', `${beta(group, plural)}/a`)).code).toBe(404)
    expect((await own.call('GET', `${first(group, plural)}/a`)).body).toMatchObject({ apiVersion: `${group}/v1`, ...fields })
  })

  test('EMV-14: include a RuntimeClass of v1beta1 that equals v1', async () => {
    const old = await emulating('1.23', await aStorage())
    const object = { apiVersion: 'node.orch.io/v1beta1', kind: 'RuntimeClass', metadata: { name: 'a' }, handler: 'h' }
    expect((await old.call('POST', '/apis/node.orch.io/v1beta1/runtimeclasses', object)).code).toBe(201)
    const { body } = await old.call('GET', '/apis/node.orch.io/v1/runtimeclasses/a')
    expect(body).toMatchObject({ apiVersion: 'node.orch.io/v1', handler: 'h' })
  })

  const never = { matchExpressions: [{ key: 'pdb.orch.io/deprecated-v1beta1-empty-selector-match', operator: 'Exists' }] }
  const always = { matchExpressions: [{ key: 'pdb.orch.io/deprecated-v1beta1-empty-selector-match', operator: 'DoesNotExist' }] }

  test.each([
    ['an empty selector, which matches nothing in v1beta1', {}, never],
    ['a selector of v1beta1 that matches all', always, {}],
  ])('EMV-14: have equal meaning of %s in v1', async (_title, inBeta, inFirst) => {
    const old = await emulating('1.24', await aStorage())
    const budget = (version: string, name: string, selector: object) => ({
      apiVersion: `policy/${version}`,
      kind: 'PodDisruptionBudget',
      metadata: { name, namespace: 'default' },
      spec: { maxUnavailable: 1, selector },
    })
    const [older, newer] = [beta('policy', 'poddisruptionbudgets'), first('policy', 'poddisruptionbudgets')]
    await old.call('POST', older, budget('v1beta1', 'a', inBeta))
    await old.call('POST', newer, budget('v1', 'b', inFirst))
    for (const name of ['a', 'b']) {
      expect((await old.call('GET', `${older}/${name}`)).body).toHaveProperty('spec.selector', inBeta)
      expect((await old.call('GET', `${newer}/${name}`)).body).toHaveProperty('spec.selector', inFirst)
    }
  })

  test('EMV-14: convert metrics of a v2beta1 autoscaler to v2, and its behavior to an annotation', async () => {
    const old = await emulating('1.24', await aStorage())
    const at = (version: string) => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }
    const target = { apiVersion: 'v1', kind: 'Service', name: 's' }
    const metrics = [
      { type: 'Pods', pods: { metricName: 'm', targetAverageValue: '5', selector: { matchLabels: { a: 'b' } } } },
      { type: 'Object', object: { target, metricName: 'o', targetValue: '7' } },
      { type: 'External', external: { metricName: 'e', targetAverageValue: '9' } },
      { type: 'Resource', resource: { name: 'cpu', targetAverageUtilization: 50 } },
    ]
    const key = 'autoscaling.alpha.orch.io/behavior'
    const annotations = { [key]: '{"ScaleDown":{"SelectPolicy":"Disabled","Policies":[{"Type":"Pods","Value":1,"PeriodSeconds":60}]}}' }
    const object = {
      apiVersion: 'autoscaling/v2beta1',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'a', namespace: 'default', annotations },
      spec: { scaleTargetRef, maxReplicas: 3, metrics },
    }
    expect(await old.call('POST', at('v2beta1'), object)).toMatchObject({ code: 201, body: { spec: { minReplicas: 1, metrics } } })
    const newer = (await old.call('GET', `${at('v2')}/a`)).body
    expect(newer).toMatchObject({
      spec: {
        metrics: [
          { pods: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '5' } } },
          { object: { describedObject: target, metric: { name: 'o' }, target: { type: 'Value', value: '7' } } },
          { external: { metric: { name: 'e' }, target: { type: 'AverageValue', averageValue: '9' } } },
          { resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
        ],
        behavior: { scaleDown: { selectPolicy: 'Disabled' } },
      },
    })
    expect(newer.metadata).not.toHaveProperty('annotations')
    const older = (await old.call('GET', `${at('v2beta1')}/a`)).body
    expect(older).toMatchObject({ spec: { metrics } })
    expect(older.metadata).toHaveProperty(['annotations', key], expect.stringContaining('"SelectPolicy":"Disabled"'))
    const plain = { ...object, metadata: { name: 'b', namespace: 'default' }, spec: { scaleTargetRef, maxReplicas: 3 } }
    const cpu = { type: 'Resource', resource: { name: 'cpu', targetAverageUtilization: 80 } }
    expect((await old.call('POST', at('v2beta1'), plain)).body).toMatchObject({ spec: { metrics: [cpu] } })
    const nameless = { ...plain, spec: { ...plain.spec, metrics: [{ type: 'Pods', pods: { targetAverageValue: '5' } }] } }
    const { code, body } = await old.call('POST', at('v2beta1'), nameless)
    expect([code, String(body['message'])]).toEqual([422, expect.stringContaining('spec.metrics[0].pods.metric.name: Required value')])
  })

  test('EMV-14: convert the topology of a v1beta1 endpoint to zone and node in v1', async () => {
    const old = await emulating('1.24', await aStorage())
    const topology = { 'topology.orch.io/zone': 'z', 'orch.io/hostname': 'n', rack: 'r' }
    const slice = {
      apiVersion: 'discovery.orch.io/v1beta1',
      kind: 'EndpointSlice',
      metadata: { name: 'a', namespace: 'default' },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.0.0.1'], nodeName: 'n', topology }],
    }
    const [older, newer] = [beta('discovery.orch.io', 'endpointslices'), first('discovery.orch.io', 'endpointslices')]
    await old.call('POST', older, slice)
    const { endpoints } = (await old.call('GET', `${newer}/a`)).body
    expect(endpoints).toMatchObject([{ nodeName: 'n', zone: 'z', deprecatedTopology: { rack: 'r' } }])
    expect((await old.call('GET', `${older}/a`)).body).toMatchObject({ endpoints: [{ nodeName: 'n', topology }] })
  })

  test('DEP-06: include a preferred and a storage version of each kind that the previous release serves too', () => {
    for (const minor of minors.slice(1)) {
      const [before, now] = [catalogueAt(minor - 1), catalogueAt(minor)]
      for (const group of now.groups) {
        for (const { plural } of now.resources.filter((one) => one.group === group.name)) {
          const preferred = group.versions.find((version) => now.find(group.name, version, plural) !== undefined) ?? ''
          const isNewKind = !before.resources.some((one) => one.group === group.name && one.plural === plural)
          if (!isNewKind) expect(before.find(group.name, preferred, plural)).toBeDefined()
        }
      }
      for (const { stored, backing } of now.resources) {
        if (backing !== 'stored' || !before.resources.some((one) => one.stored.prefix === stored.prefix)) continue
        // The previous release can read a form in which it also stores objects, served or not.
        const isReadBefore = before.resources.some(
          (one) => [one.apiVersion, one.stored.apiVersion].includes(stored.apiVersion) && one.stored.prefix === stored.prefix,
        )
        expect(isReadBefore).toBe(true)
      }
    }
  })

  test('TODAY-SVC-04: an address allocated to a Service at 1.25 is taken at 1.37, with an IPAddress', async () => {
    const storage = await aStorage()
    const services = '/api/v1/namespaces/default/services'
    const aService = (name: string, clusterIP: string) => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace: 'default' },
      spec: { clusterIP, ports: [{ port: 80 }] },
    })
    const older = await emulating('1.25', storage)
    expect((await older.call('POST', services, aService('a', '10.0.0.9'))).code).toBe(201)
    const newer = await emulating('1.37', storage)
    const refused = await newer.call('POST', services, aService('b', '10.0.0.9'))
    expect([refused.code, refused.body['message']]).toEqual([422, expect.stringContaining('provided IP is already allocated')])
    const address = await newer.call('GET', '/apis/networking.orch.io/v1/ipaddresses/10.0.0.9')
    expect(address.body).toMatchObject({ spec: { parentRef: { namespace: 'default', name: 'a' } } })
  })

  test('EMV-07: clients get warnings about versions deprecated at the emulated release, and not about later ones', async () => {
    const storage = await aStorage()
    const warningsAt = async (version: string, path: string) => (await (await emulating(version, storage)).call('GET', path)).warning
    const schemas = '/apis/flowcontrol.apiserver.orch.io/v1beta2/flowschemas'
    expect(await warningsAt('1.25', schemas)).toBeUndefined()
    expect(String(await warningsAt('1.26', schemas))).toContain(
      'flowcontrol.apiserver.orch.io/v1beta2 FlowSchema is deprecated in v1.26+, unavailable in v1.29+',
    )
    const capacities = '/apis/storage.orch.io/v1beta1/csistoragecapacities'
    expect(await warningsAt('1.23', capacities)).toBeUndefined()
    expect(String(await warningsAt('1.24', capacities))).toContain('is deprecated in v1.24+, unavailable in v1.27+')
  })

  test.each([
    ['1.28', 'v1alpha1', null, { 'k:{"name":"x"}': { '.': {}, 'f:expression': {}, 'f:name': {} } }],
    ['1.28', 'v1beta1', null, { 'k:{"name":"x"}': {} }],
    ['1.30', 'v1alpha1', undefined, { '.': {}, 'k:{"name":"x"}': { '.': {}, 'f:expression': {}, 'f:name': {} } }],
    ['1.30', 'v1', undefined, { '.': {}, 'k:{"name":"x"}': {} }],
  ])('EMV-07, EMV-13: a policy at %s in %s has no warning, and variables as in that release', async (version, served, none, owned) => {
    const { call } = await emulating(version, await aStorage(), { runtimeConfig: ['api/all=true'] })
    const group = 'admissionregistration.orch.io'
    const rules = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] }
    const post = (name: string, variables?: readonly object[]) =>
      call('POST', `/apis/${group}/${served}/validatingadmissionpolicies`, {
        apiVersion: `${group}/${served}`,
        kind: 'ValidatingAdmissionPolicy',
        metadata: { name },
        spec: { matchConstraints: { resourceRules: [rules] }, validations: [{ expression: 'true' }], variables },
      })
    const { body, warning } = await post('a', [{ name: 'x', expression: '1' }])
    expect(warning).toBeUndefined()
    expect(body).toMatchObject({ metadata: { managedFields: [{ fieldsV1: { 'f:spec': { 'f:variables': owned } } }] } })
    const plain = await post('b')
    expect((plain.body as { spec?: { variables?: unknown } }).spec?.variables).toBe(none)
  })

  test('EMV-08, TODAY-VER-04: /version has the version of the release, and shows the emulation from 1.32 on', async () => {
    const versionAt = async (word: string) => (await (await emulating(word, await aStorage())).call('GET', '/version')).body
    const emulation = { emulationMajor: '1', emulationMinor: '32', minCompatibilityMajor: '1', minCompatibilityMinor: '31' }
    expect(await versionAt('1.32')).toMatchObject({
      major: '1',
      minor: '32',
      gitVersion: expect.stringMatching(/^v1\.32\.0\+/),
      ...emulation,
    })
    const older = await versionAt('kube=1.27')
    expect(older).toMatchObject({ major: '1', minor: '27', gitVersion: expect.stringMatching(/^v1\.27\.0\+/) })
    expect(older).not.toHaveProperty('emulationMinor')
  })

  test('EMV-09: --runtime-config cannot name a version that the release does not serve', () => {
    const runtimeConfig = ['autoscaling/v2beta2=true']
    expect(() => apiOf('1.25', { runtimeConfig })).not.toThrow()
    expect(() => apiOf('1.26', { runtimeConfig })).toThrow('no group version or resource is called autoscaling/v2beta2')
  })
})

describe('fields of a level', () => {
  const path = '/api/v1/namespaces/default/pods'
  const sidecar = (name: string) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: { containers: [{ name: 'c', image: 'i' }], initContainers: [{ name: 's', image: 'i', restartPolicy: 'Always' }] },
  })
  const initOf = ({ body }: { body: unknown }) =>
    (body as { spec?: { initContainers: { restartPolicy?: string }[] } }).spec?.initContainers[0]?.restartPolicy

  test('EMV-17: of later levels are refused, warned about or dropped like unknown fields, and never stored', async () => {
    const storage = await aStorage()
    const { call } = await emulating('1.27', storage)
    const strict = await call('POST', `${path}?fieldValidation=Strict`, sidecar('a'))
    expect([strict.code, strict.body.message]).toEqual([
      400,
      expect.stringContaining('unknown field "spec.initContainers[0].restartPolicy"'),
    ])
    const warned = await call('POST', `${path}?fieldValidation=Warn`, sidecar('b'))
    expect([warned.code, initOf(warned)]).toEqual([201, undefined])
    expect(String(warned.warning).replaceAll('\\', '')).toContain('unknown field "spec.initContainers[0].restartPolicy"')
    const ignored = await call('POST', `${path}?fieldValidation=Ignore`, sidecar('c'))
    expect([ignored.code, ignored.warning, initOf(ignored)]).toEqual([201, undefined, undefined])
    expect(initOf(await (await emulating('1.37', storage)).call('GET', `${path}/c`))).toBeUndefined()
  })

  test('EMV-18: with their gate off are dropped silently, and kept if the object has them', async () => {
    const storage = await aStorage()
    const off = await emulating('1.28', storage)
    const dropped = await off.call('POST', `${path}?fieldValidation=Strict`, sidecar('a'))
    expect([dropped.code, dropped.warning, initOf(dropped)]).toEqual([201, undefined, undefined])
    const on = await emulating('1.29', storage)
    expect(initOf(await on.call('POST', path, sidecar('b')))).toBe('Always')
    const label = { metadata: { labels: { a: 'b' } } }
    expect(initOf(await off.call('PATCH', `${path}/b`, label, 'application/merge-patch+json'))).toBe('Always')
  })

  test('a source of a claim in another namespace is in dataSourceRef alone, with its gate on', async () => {
    const { call } = await emulating('1.37', await aStorage(), { featureGates: ['CrossNamespaceVolumeDataSource=true'] })
    const source = { apiGroup: 'example.com', kind: 'Other', name: 'n' }
    const sourcesOf = async (dataSourceRef: object) => {
      const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, dataSourceRef }
      const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'c' }, spec }
      return (await call('POST', '/api/v1/namespaces/default/persistentvolumeclaims?dryRun=All', claim)).body.spec
    }
    expect(await sourcesOf({ ...source, namespace: 'other' })).not.toHaveProperty('dataSource')
    expect(await sourcesOf({ ...source, namespace: '' })).toMatchObject({ dataSource: source })
  })

  test('EMV-13: include singular names in discovery from 1.27 on, and statuses of NetworkPolicies up to 1.27', async () => {
    const storage = await aStorage()
    const shownAt = async (version: string) => {
      const { body } = await (await emulating(version, storage)).call('GET', '/apis/networking.orch.io/v1')
      const resources = body['resources'] as { name: string; singularName: string }[]
      const names = resources.map(({ name }) => name)
      return [resources.find(({ name }) => name === 'ingresses')?.singularName, names.includes('networkpolicies/status')]
    }
    expect([await shownAt('1.26'), await shownAt('1.27'), await shownAt('1.28')]).toEqual([
      ['', true],
      ['ingress', true],
      ['ingress', false],
    ])
  })

  test('EMV-20: include the generation of a Pod from 1.33 on, which counts changes of its spec and its deletion', async () => {
    const generationOf = ({ body }: { body: unknown }) => (body as { metadata?: { generation?: number } }).metadata?.generation
    const merge = 'application/merge-patch+json'
    const generationsAt = async (version: string) => {
      const { call } = await emulating(version, await aStorage())
      const pod = { ...sidecar('a'), spec: { containers: [{ name: 'c', image: 'i' }], nodeName: 'n' } }
      return [
        await call('POST', path, pod),
        await call('PATCH', `${path}/a`, { metadata: { labels: { a: 'b' } } }, merge),
        await call('PATCH', `${path}/a`, { spec: { activeDeadlineSeconds: 9 } }, merge),
        await call('DELETE', `${path}/a`),
      ].map(generationOf)
    }
    expect(await generationsAt('1.32')).toEqual([undefined, undefined, undefined, undefined])
    expect(await generationsAt('1.33')).toEqual([1, 1, 2, 3])
  })

  test('EMV-19: of flow control are read and written in the version of each release, with equal shares', async () => {
    const storage = await aStorage()
    const at = (version: string) => `/apis/flowcontrol.apiserver.orch.io/${version}/prioritylevelconfigurations`
    const level = (version: string, limited: object) => ({
      apiVersion: `flowcontrol.apiserver.orch.io/${version}`,
      kind: 'PriorityLevelConfiguration',
      metadata: { name: 'mine' },
      spec: { type: 'Limited', limited: { ...limited, limitResponse: { type: 'Reject' } } },
    })
    const limitedOf = ({ body }: { body: unknown }) => (body as { spec?: { limited?: object } }).spec?.limited
    const today = await emulating('1.37', storage)
    const made = await today.call('POST', at('v1'), level('v1', { nominalConcurrencyShares: 7 }))
    expect([made.code, limitedOf(made)]).toEqual([201, expect.objectContaining({ nominalConcurrencyShares: 7, lendablePercent: 0 })])
    expect(limitedOf(await (await emulating('1.28', storage)).call('GET', `${at('v1beta2')}/mine`))).toMatchObject({
      assuredConcurrencyShares: 7,
    })
    expect(limitedOf(await (await emulating('1.30', storage)).call('GET', `${at('v1beta3')}/mine`))).toMatchObject({
      nominalConcurrencyShares: 7,
    })
    for (const [version, limited] of [
      ['1.25', { assuredConcurrencyShares: 30 }],
      ['1.26', { assuredConcurrencyShares: 30, lendablePercent: 0 }],
    ] as const) {
      const created = await (await emulating(version, await aStorage())).call('POST', at('v1beta2'), level('v1beta2', {}))
      expect(limitedOf(created)).toEqual({ ...limited, limitResponse: { type: 'Reject' } })
    }
    const none = await today.call(
      'PATCH',
      `${at('v1')}/mine`,
      { spec: { limited: { nominalConcurrencyShares: 0 } } },
      'application/merge-patch+json',
    )
    expect(limitedOf(none)).toMatchObject({ nominalConcurrencyShares: 0 })
    const wrong = { spec: { limited: { lendablePercent: 101, borrowingLimitPercent: -1 } } }
    expect((await today.call('PATCH', `${at('v1')}/mine`, wrong, 'application/merge-patch+json')).body.message).toContain(
      'spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive',
    )
  })
})
