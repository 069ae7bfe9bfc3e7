import { describe, expect, test } from 'vitest'
import { type Api, aName, aNamespace, anApi, created, sharedApi } from '../api/api.ts'

const server = sharedApi()

type Fields = Record<string, unknown>

const container = { name: 'c', image: 'i' }

function aPod(spec: Fields = {}, metadata: Fields = {}) {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: aName('pod'), ...metadata }, spec: { containers: [container], ...spec } }
}

const podsIn = (namespace: string) => `/api/v1/namespaces/${namespace}/pods`
const storage = '/apis/storage.orch.io/v1/storageclasses'
const scheduling = '/apis/scheduling.orch.io/v1/priorityclasses'
const runtimes = '/apis/node.orch.io/v1/runtimeclasses'
const networking = '/apis/networking.orch.io/v1'

async function createdPod(api: Api, spec: Fields = {}) {
  const namespace = await aNamespace(api)
  return (await created(api, podsIn(namespace), aPod(spec))) as unknown as { metadata: Fields; spec: Fields }
}

/** The answer's code and message. */
async function refusal(api: Api, path: string, object: unknown) {
  const { status, body } = await api.post(path, object)
  return [status, (body as Fields)['message']]
}

function aPriorityClass(value: number, more: Fields = {}) {
  return { apiVersion: 'scheduling.orch.io/v1', kind: 'PriorityClass', metadata: { name: aName('priority') }, value, ...more }
}

describe('Priority', () => {
  test('a Pod without a class has the priority 0 and may preempt others', async () => {
    expect(await createdPod(server.api)).toMatchObject({ spec: { priority: 0, preemptionPolicy: 'PreemptLowerPriority' } })
  })

  test('a Pod gets the value of its class as soon as the class is created', async () => {
    const one = await created(server.api, scheduling, aPriorityClass(7, { preemptionPolicy: 'Never' }))
    const pod = await createdPod(server.api, { priorityClassName: one.metadata?.name })
    expect(pod).toMatchObject({ spec: { priority: 7, preemptionPolicy: 'Never' } })
  })

  test('the system classes exist from the start', async () => {
    expect(await createdPod(server.api, { priorityClassName: 'system-node-critical' })).toMatchObject({ spec: { priority: 2_000_001_000 } })
  })

  test('an absent class is refused, and so is a Pod with its own priority or policy', async () => {
    const path = podsIn(await aNamespace(server.api))
    const named = (spec: Fields) => aPod(spec, { name: 'p' })
    expect(await refusal(server.api, path, named({ priorityClassName: 'none' }))).toEqual([
      403,
      'pods "p" is forbidden: no PriorityClass with name none was found',
    ])
    expect(await refusal(server.api, path, named({ priority: 3 }))).toEqual([
      403,
      'pods "p" is forbidden: the integer value of priority (3) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name',
    ])
    expect(await refusal(server.api, path, named({ preemptionPolicy: 'Never' }))).toEqual([
      403,
      'pods "p" is forbidden: the string value of PreemptionPolicy (Never) must not be provided in pod spec; priority admission controller computed PreemptLowerPriority from the given PriorityClass name',
    ])
  })

  test('one class may be the default, and Pods without a class get it', async () => {
    const api = await anApi()
    const first = await created(api, scheduling, aPriorityClass(5, { globalDefault: true }))
    const name = first.metadata?.name
    expect(await createdPod(api)).toMatchObject({ spec: { priority: 5, priorityClassName: name } })
    expect(await refusal(api, scheduling, aPriorityClass(6, { globalDefault: true }))).toEqual([
      403,
      expect.stringContaining(`PriorityClass ${name} is already marked as default. Only one default can exist`),
    ])
  })
})

describe('tolerations', () => {
  test('NODE-LC-09: a Pod stays five minutes on a Node that is not ready or unreachable, unless it has its own toleration', async () => {
    const seconds = (key: string) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 })
    const own = { key: 'node.orch.io/not-ready', operator: 'Exists', effect: 'NoExecute' }
    expect((await createdPod(server.api)).spec['tolerations']).toEqual([
      seconds('node.orch.io/not-ready'),
      seconds('node.orch.io/unreachable'),
    ])
    expect((await createdPod(server.api, { tolerations: [own] })).spec['tolerations']).toEqual([own, seconds('node.orch.io/unreachable')])
    const all = [{ operator: 'Exists' }]
    expect((await createdPod(server.api, { tolerations: all })).spec['tolerations']).toEqual(all)
  })

  test('a flag sets the duration', async () => {
    const flags = ['--default-not-ready-toleration-seconds=5', '--default-unreachable-toleration-seconds=6']
    const pod = await createdPod(await anApi({ flags }))
    expect(pod.spec['tolerations']).toMatchObject([{ tolerationSeconds: 5 }, { tolerationSeconds: 6 }])
  })
})

describe('the plugin TaintNodesByCondition', () => {
  test('ADM-BI-13: taints a new Node once as not ready', async () => {
    const taint = { key: 'node.orch.io/not-ready', effect: 'NoSchedule' }
    const aNode = (spec: Fields = {}) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name: aName('node') }, spec })
    const other = { key: 'a', effect: 'NoExecute' }
    expect(await created(server.api, '/api/v1/nodes', aNode({ taints: [other] }))).toMatchObject({ spec: { taints: [other, taint] } })
    expect(await created(server.api, '/api/v1/nodes', aNode({ taints: [taint] }))).toMatchObject({ spec: { taints: [taint] } })
  })

  test('ADM-BI-20: can be disabled', async () => {
    const api = await anApi({ flags: ['--disable-admission-plugins=TaintNodesByCondition'] })
    const node = await created(api, '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } })
    expect(node['spec'] ?? {}).toEqual({})
  })
})

describe('storage', () => {
  const claim = (spec: Fields = {}) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: aName('claim') },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  })
  const aClass = (more: Fields = {}, annotations: Fields = {}) => ({
    apiVersion: 'storage.orch.io/v1',
    kind: 'StorageClass',
    metadata: { name: aName('class'), annotations },
    provisioner: 'p',
    ...more,
  })

  test('ADM-BI-10: a new claim gets its finalizer, ADM-BI-12: and its deletion waits for it', async () => {
    const path = `/api/v1/namespaces/${await aNamespace(server.api)}/persistentvolumeclaims`
    const { metadata } = await created(server.api, path, claim())
    expect(metadata).toMatchObject({ finalizers: ['orch.io/pvc-protection'] })
  })

  test('ADM-BI-11: a new volume gets its finalizer', async () => {
    const volume = {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: aName('volume') },
      spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/a' } },
    }
    expect(await created(server.api, '/api/v1/persistentvolumes', volume)).toMatchObject({
      metadata: { finalizers: ['orch.io/pv-protection'] },
    })
  })

  test('a claim without a class gets the default class; with two defaults it is refused at 1.25, and gets the newest from 1.26 on', async () => {
    const api = await anApi({ version: '1.25' })
    const path = `/api/v1/namespaces/${await aNamespace(api)}/persistentvolumeclaims`
    const mark = { 'storageclass.orch.io/is-default-class': 'true' }
    expect((await created(api, path, claim()))['spec']).not.toHaveProperty('storageClassName')
    const first = await created(api, storage, aClass({}, mark))
    expect(await created(api, path, claim())).toMatchObject({ spec: { storageClassName: first.metadata?.name } })
    expect(await created(api, path, claim({ storageClassName: '' }))).toMatchObject({ spec: { storageClassName: '' } })
    await created(api, storage, aClass({}, mark))
    expect(await refusal(api, path, claim())).toEqual([
      403,
      expect.stringMatching(/is forbidden: Internal error occurred: 2 default StorageClasses were found$/),
    ])

    const today = await anApi({ version: '1.26' })
    const claims = `/api/v1/namespaces/${await aNamespace(today)}/persistentvolumeclaims`
    const aDefault = (name: string) => ({ ...aClass({}, mark), metadata: { name, annotations: mark } })
    // Within one second, the first by name counts as the newest.
    for (const name of ['b', 'a']) await created(today, storage, aDefault(name))
    expect(await created(today, claims, claim())).toMatchObject({ spec: { storageClassName: 'a' } })
  })

  test('a claim may grow only if it is bound and its class allows expansion', async () => {
    const { api } = server
    const path = `/api/v1/namespaces/${await aNamespace(api)}/persistentvolumeclaims`
    const grow = { spec: { resources: { requests: { storage: '2Gi' } } } }
    const boundOf = async (more: Fields) => {
      const { metadata } = await created(api, storage, aClass(more))
      const made = await created(api, path, claim({ storageClassName: metadata?.name, volumeName: 'v' }))
      const item = `${path}/${made.metadata?.name}`
      return item
    }
    const fixed = await boundOf({})
    expect((await api.patch(fixed, grow)).status).toBe(422)
    await api.patch(`${fixed}/status`, { status: { phase: 'Bound', capacity: { storage: '1Gi' } } })
    expect((await api.patch(fixed, grow)).body).toMatchObject({
      code: 403,
      message: expect.stringContaining('only dynamically provisioned pvc can be resized'),
    })
    const growing = await boundOf({ allowVolumeExpansion: true })
    await api.patch(`${growing}/status`, { status: { phase: 'Bound', capacity: { storage: '1Gi' } } })
    expect((await api.patch(growing, grow)).status).toBe(200)
  })
})

describe('DefaultIngressClass', () => {
  const ingress = (spec: Fields = {}, annotations: Fields = {}) => ({
    apiVersion: 'networking.orch.io/v1',
    kind: 'Ingress',
    metadata: { name: aName('ingress'), annotations },
    spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } }, ...spec },
  })

  test('an Ingress without a class gets the default class', async () => {
    const api = await anApi()
    const path = `${networking}/namespaces/${await aNamespace(api)}/ingresses`
    const annotations = { 'ingressclass.orch.io/is-default-class': 'true' }
    const aClass = {
      apiVersion: 'networking.orch.io/v1',
      kind: 'IngressClass',
      metadata: { name: 'main', annotations },
      spec: { controller: 'a.io/b' },
    }
    await created(api, `${networking}/ingressclasses`, aClass)
    expect(await created(api, path, ingress())).toMatchObject({ spec: { ingressClassName: 'main' } })
    expect(await created(api, path, ingress({ ingressClassName: 'own' }))).toMatchObject({ spec: { ingressClassName: 'own' } })
    expect((await created(api, path, ingress({}, { 'orch.io/ingress.class': 'old' })))['spec']).not.toHaveProperty('ingressClassName')
  })
})

describe('RuntimeClass', () => {
  async function aRuntimeClass(more: Fields): Promise<string> {
    const name = aName('runtime')
    await created(server.api, runtimes, { apiVersion: 'node.orch.io/v1', kind: 'RuntimeClass', metadata: { name }, handler: 'h', ...more })
    return name
  }
  const overhead = { podFixed: { cpu: '250m', memory: '10Mi' } }

  test('ADM-BI-06: a Pod gets the overhead, the node labels and the tolerations of its class', async () => {
    const scheduling = { nodeSelector: { runtime: 'h' }, tolerations: [{ key: 'runtime', operator: 'Exists' }] }
    const runtimeClassName = await aRuntimeClass({ overhead, scheduling })
    expect(await createdPod(server.api, { runtimeClassName, nodeSelector: { disk: 'ssd' } })).toMatchObject({
      spec: {
        overhead: overhead.podFixed,
        nodeSelector: { disk: 'ssd', runtime: 'h' },
        tolerations: expect.arrayContaining([{ key: 'runtime', operator: 'Exists' }]),
      },
    })
  })

  test('ADM-BI-05: a Pod that sets an overhead is refused if its class has one, and if it has none', async () => {
    const path = podsIn(await aNamespace(server.api))
    const withOverhead = await aRuntimeClass({ overhead })
    const without = await aRuntimeClass({})
    const pod = (runtimeClassName: string, cpu: string) => aPod({ runtimeClassName, overhead: { cpu, memory: '10Mi' } }, { name: 'p' })
    expect(await refusal(server.api, path, pod(withOverhead, '1'))).toEqual([
      403,
      "pods \"p\" is forbidden: pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
    ])
    expect(await refusal(server.api, path, pod(withOverhead, '250m'))).toEqual([
      403,
      `pods "p" is forbidden: pod rejected: Overhead is set by RuntimeClass "${withOverhead}", not by the Pod`,
    ])
    expect(await refusal(server.api, path, pod(without, '1'))).toEqual([
      403,
      'pods "p" is forbidden: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
    ])
    expect(await refusal(server.api, path, aPod({ runtimeClassName: 'none' }, { name: 'p' }))).toEqual([
      403,
      'pods "p" is forbidden: pod rejected: RuntimeClass "none" not found',
    ])
  })

  test('a Pod whose node selector contradicts its class is refused', async () => {
    const path = podsIn(await aNamespace(server.api))
    const runtimeClassName = await aRuntimeClass({ scheduling: { nodeSelector: { a: 'b' } } })
    expect(await refusal(server.api, path, aPod({ runtimeClassName, nodeSelector: { a: 'c' } }, { name: 'p' }))).toEqual([
      403,
      'pods "p" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = c',
    ])
  })
})

describe('LimitRanger', () => {
  async function limited(...limits: readonly Fields[]): Promise<string> {
    const namespace = await aNamespace(server.api)
    const range = { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'l' }, spec: { limits } }
    await created(server.api, `/api/v1/namespaces/${namespace}/limitranges`, range)
    return namespace
  }
  const resources = (requests: Fields, limits: Fields) => ({ containers: [{ ...container, resources: { requests, limits } }] })

  test('a container without values gets the defaults, with an annotation', async () => {
    const namespace = await limited({ type: 'Container', default: { cpu: '2', memory: '1Gi' }, defaultRequest: { cpu: '1' } })
    const pod = await created(server.api, podsIn(namespace), aPod({ initContainers: [{ ...container, name: 'first' }] }))
    expect(pod).toMatchObject({
      metadata: {
        annotations: {
          'orch.io/limit-ranger':
            'LimitRanger plugin set: cpu, memory request for container c; cpu, memory limit for container c; cpu, memory request for init container first; cpu, memory limit for init container first',
        },
      },
      spec: { containers: [{ resources: { limits: { cpu: '2', memory: '1Gi' }, requests: { cpu: '1', memory: '1Gi' } } }] },
    })
  })

  test.each([
    [
      'less than the least',
      { min: { cpu: '500m' } },
      resources({ cpu: '100m' }, { cpu: '2' }),
      'minimum cpu usage per Container is 500m, but request is 100m',
    ],
    [
      'more than the most',
      { max: { memory: '1Gi' } },
      resources({ memory: '2Gi' }, { memory: '2Gi' }),
      'maximum memory usage per Container is 1Gi, but limit is 2Gi',
    ],
    [
      'too wide a ratio',
      { maxLimitRequestRatio: { cpu: '2' } },
      resources({ cpu: '500m' }, { cpu: '1500m' }),
      'cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000',
    ],
    [
      'no request where there must be one',
      { maxLimitRequestRatio: { cpu: '2' } },
      {},
      'cpu max limit to request ratio per Container is 2, but no request is specified or request is 0',
    ],
    [
      'two faults',
      { min: { cpu: '500m', memory: '1Gi' } },
      resources({ cpu: '100m', memory: '1Mi' }, { cpu: '2', memory: '2Gi' }),
      '[minimum cpu usage per Container is 500m, but request is 100m, minimum memory usage per Container is 1Gi, but request is 1Mi]',
    ],
  ])('a container with %s is refused', async (_title, limit, spec, message) => {
    const namespace = await limited({ type: 'Container', ...limit })
    expect(await refusal(server.api, podsIn(namespace), aPod(spec, { name: 'p' }))).toEqual([403, `pods "p" is forbidden: ${message}`])
  })

  test('a Pod as a whole is compared by the sum of its containers and by its largest init container', async () => {
    const namespace = await limited({ type: 'Pod', max: { cpu: '1' } })
    const containers = ['a', 'b'].map((name) => ({ ...container, name, resources: { limits: { cpu: '600m' } } }))
    expect(await refusal(server.api, podsIn(namespace), aPod({ containers }, { name: 'p' }))).toEqual([
      403,
      'pods "p" is forbidden: maximum cpu usage per Pod is 1, but limit is 1200m',
    ])
    expect(await refusal(server.api, podsIn(namespace), aPod({}, { name: 'p' }))).toEqual([
      403,
      'pods "p" is forbidden: maximum cpu usage per Pod is 1.  No limit is specified',
    ])
  })

  test('claims are limited by size', async () => {
    const namespace = await limited({ type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '5Gi' } })
    const path = `/api/v1/namespaces/${namespace}/persistentvolumeclaims`
    const claim = (storage: string) => ({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'c' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
    })
    const refused = 'persistentvolumeclaims "c" is forbidden:'
    expect(await refusal(server.api, path, claim('1Mi'))).toEqual([
      403,
      `${refused} minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi`,
    ])
    expect(await refusal(server.api, path, claim('6Gi'))).toEqual([
      403,
      `${refused} maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 6Gi`,
    ])
    await created(server.api, path, claim('2Gi'))
  })

  test('a deleted LimitRange has no effect', async () => {
    const namespace = await limited({ type: 'Container', max: { cpu: '1' } })
    await server.api.delete(`/api/v1/namespaces/${namespace}/limitranges/l`)
    expect((await server.api.post(podsIn(namespace), aPod(resources({ cpu: '4' }, { cpu: '4' })))).status).toBe(201)
  })
})
