import type { ApiObject } from '@orch/core/meta'
import type { Pod } from '@orch/core/scheduling'
import { type RunningServer, start } from 'orch'
import { beforeAll, beforeEach, expect, test, vi } from 'vitest'

const driver = 'gpu.example.com'
const namespace = 'default'
const apiVersion = 'resource.k8s.io/v1'
let pristine: RunningServer
let server: RunningServer
beforeAll(async () => {
  pristine = await start({ profile: 'kubernetes', nodes: 2, seed: 7 })
  await pristine.client.objects.create({
    apiVersion,
    kind: 'DeviceClass',
    metadata: { name: 'gpu' },
    spec: { selectors: [{ cel: { expression: `device.driver == "${driver}"` } }], config: [opaque('class')] },
  } as ApiObject)
  return () => pristine.stop()
})
beforeEach(async () => {
  server = await pristine.fork()
  return () => server.stop()
})

const create = (version: string, kind: string, rest: object) =>
  server.client.objects.create({ apiVersion: version, kind, ...rest } as ApiObject)
const pods = () => server.client.resource<Pod>({ group: '', version: 'v1', plural: 'pods', namespaced: true })
const claims = () => server.client.resource<Claim>({ group: 'resource.k8s.io', version: 'v1', plural: 'resourceclaims', namespaced: true })
const opaque = (text: string) => ({ opaque: { driver, parameters: { text } } })
const cel = (expression: string) => ({ selectors: [{ cel: { expression } }] })

interface Claim extends ApiObject {
  readonly status?: {
    readonly allocation?: {
      readonly devices: { readonly results: readonly Result[]; readonly config?: readonly object[] }
      readonly nodeSelector?: object
    }
    readonly reservedFor?: readonly { readonly name: string }[]
  }
}

interface Rule extends ApiObject {
  readonly status?: { readonly conditions: readonly object[] }
}

interface Event extends ApiObject {
  readonly reason: string
  readonly message: string
  readonly involvedObject: { readonly name: string }
  readonly source: { readonly component: string }
}

interface Result {
  readonly request: string
  readonly device: string
  readonly shareID?: string
}

/** A ResourceSlice with the devices of a node, or of the place in `where`. */
function slice(name: string, devices: readonly object[], { pool = name, count = 1, ...where }: SliceOptions = {}) {
  const reach = Object.keys(where).length === 0 ? { nodeName: 'node-1' } : where
  const spec = { driver, pool: { name: pool, generation: 1, resourceSliceCount: count }, ...reach, devices }
  return create(apiVersion, 'ResourceSlice', { metadata: { name }, spec })
}

interface SliceOptions {
  readonly pool?: string
  readonly count?: number
  readonly nodeName?: string
  readonly allNodes?: boolean
  readonly nodeSelector?: object
  readonly perDeviceNodeSelection?: boolean
}

const exactly = (name: string, rest: object = {}) => ({ name, exactly: { deviceClassName: 'gpu', ...rest } })

/** Creates a claim and a Pod that uses it. Returns the Pod's node, or the reason why it has no node. */
async function place(name: string, requests: readonly object[], rest: object = {}): Promise<string> {
  await create(apiVersion, 'ResourceClaim', { metadata: { name, namespace }, spec: { devices: { requests, ...rest } } })
  return use(name, name)
}

/** A Pod that uses a claim. */
async function use(claim: string, pod: string): Promise<string> {
  const spec = { containers: [{ name: 'main', image: 'i' }], resourceClaims: [{ name: 'devices', resourceClaimName: claim }] }
  await create('v1', 'Pod', { metadata: { name: pod, namespace }, spec })
  return placeOf(pod)
}

async function placeOf(pod: string): Promise<string> {
  await server.settled({ within: 60_000 })
  const { spec, status } = await pods().get(pod, { namespace })
  return spec.nodeName ?? status.conditions?.find(({ type }) => type === 'PodScheduled')?.message ?? ''
}

/** `request=device` for each device of a claim. */
async function devicesOf(name: string): Promise<string[]> {
  const { status } = await claims().get(name, { namespace })
  return (status?.allocation?.devices.results ?? []).map(({ request, device }) => `${request}=${device}`)
}

test('a claim gets devices on the node of its Pod, is reserved for the Pod, and is released when the Pod is deleted', async () => {
  await slice('one', [{ name: 'a' }, { name: 'b' }])
  expect(await place('first', [exactly('r', { count: 2 })], { config: [opaque('claim')] })).toBe('node-1')
  const { metadata, status } = await claims().get('first', { namespace })
  expect(metadata.finalizers).toEqual(['resource.kubernetes.io/delete-protection'])
  expect(status).toMatchObject({
    allocation: {
      allocationTimestamp: expect.any(String),
      devices: {
        results: ['a', 'b'].map((device) => ({ request: 'r', driver, pool: 'one', device })),
        config: [
          { source: 'FromClass', ...opaque('class') },
          { source: 'FromClaim', ...opaque('claim') },
        ],
      },
      nodeSelector: { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-1'] }] }] },
    },
    reservedFor: [{ resource: 'pods', name: 'first' }],
  })
  expect(await place('second', [exactly('r')])).toContain('2 cannot allocate all claims')
  await pods().delete('first', { namespace })
  expect(await placeOf('second')).toBe('node-1')
  const freed = await claims().get('first', { namespace })
  expect([freed.metadata.finalizers, freed.status]).toEqual([undefined, {}])
})

test('Pods share a claim, and run on the node of its devices', async () => {
  await slice('two', [{ name: 'a' }], { nodeName: 'node-2' })
  expect(await place('shared', [exactly('r')])).toBe('node-2')
  expect(await use('shared', 'other')).toBe('node-2')
  const { status } = await claims().get('shared', { namespace })
  expect(status?.reservedFor?.map(({ name }) => name)).toEqual(['shared', 'other'])
})

test('selectors in CEL see attributes and capacities, with the driver as the default domain; a missing one is reported by name', async () => {
  const attributes = { model: { string: 'a100' }, version: { version: '2.1.0' }, 'other.example.com/rank': { int: 4 } }
  await slice('one', [{ name: 'small' }, { name: 'large', attributes, capacity: { memory: { value: '40Gi' } } }])
  const domain = `device.attributes["${driver}"]`
  const matching = [
    `${domain}.?model.orValue("") == "a100"`,
    `has(${domain}.version) && ${domain}.version.isGreaterThan(semver("2.0.0"))`,
    `"memory" in device.capacity["${driver}"] && device.capacity["${driver}"].memory.compareTo(quantity("40Gi")) >= 0`,
    'device.attributes["other.example.com"].?rank.orValue(0) == 4',
  ]
  const selectors = matching.map((expression) => ({ cel: { expression } }))
  expect(await place('exact', [exactly('r', { selectors })])).toBe('node-1')
  expect(await devicesOf('exact')).toEqual(['r=large'])
  expect(await place('missing', [exactly('r', cel(`${domain}.model == "a100"`))])).toContain(
    'running "DynamicResources" filter plugin: claim default/missing: selector #0 on device gpu.example.com/one/small: CEL runtime error: no such key: model. consider using CEL optional chaining',
  )
})

test('allocationMode All gets every matching device of a node, unless a pool is incomplete or a device is in use', async () => {
  await slice('one', [{ name: 'a' }, { name: 'b' }, { name: 'c' }])
  expect(await place('some', [exactly('r', { allocationMode: 'All', ...cel('device.driver != ""') })])).toBe('node-1')
  expect(await devicesOf('some')).toEqual(['r=a', 'r=b', 'r=c'])
  await slice('half', [{ name: 'a' }], { pool: 'two', count: 2, nodeName: 'node-2' })
  expect(await place('all', [exactly('r', { allocationMode: 'All' })])).toContain(
    'claim default/all, request r: asks for all devices, but resource pool gpu.example.com/two is currently being updated',
  )
  await slice('rest', [{ name: 'b' }], { pool: 'two', count: 2, nodeName: 'node-2' })
  // The scheduler repeats a failed attempt after a pause.
  await expect.poll(() => placeOf('all'), { timeout: 60_000 }).toBe('node-2')
})

test('the first alternative that a node offers is allocated, and a node with an earlier alternative is preferred', async () => {
  const is = (kind: string) => cel(`device.attributes["${driver}"].kind == "${kind}"`)
  await slice('one', [{ name: 'slow', attributes: { kind: { string: 'slow' } } }])
  const alternatives = ['fast', 'slow'].map((name) => ({ name, deviceClassName: 'gpu', ...is(name) }))
  const request = [{ name: 'r', firstAvailable: alternatives }]
  expect(await place('only', request)).toBe('node-1')
  expect(await devicesOf('only')).toEqual(['r/slow=slow'])
  await pods().delete('only', { namespace })
  await slice('two', [{ name: 'fast', attributes: { kind: { string: 'fast' } } }], { nodeName: 'node-2' })
  expect(await place('best', request)).toBe('node-2')
  expect(await devicesOf('best')).toEqual(['r/fast=fast'])
})

test('constraints apply across all requests of a claim, so that an earlier choice may be revised', async () => {
  const on = (root: string) => ({ attributes: { root: { string: root } } })
  await slice('one', [
    { name: 'a', ...on('x') },
    { name: 'b', ...on('y') },
    { name: 'c', ...on('y') },
  ])
  const two = [exactly('r'), exactly('s')]
  expect(await place('same', two, { constraints: [{ matchAttribute: `${driver}/root` }] })).toBe('node-1')
  expect(await devicesOf('same')).toEqual(['r=b', 's=c'])
  await pods().delete('same', { namespace })
  expect(await place('distinct', two, { constraints: [{ distinctAttribute: `${driver}/root` }] })).toBe('node-1')
  expect(await devicesOf('distinct')).toEqual(['r=a', 's=b'])
})

test('admin access leaves devices available, and a taint excludes claims without a toleration', async () => {
  await server.client
    .resource({ group: '', version: 'v1', plural: 'namespaces', namespaced: false })
    .patch(namespace, { metadata: { labels: { 'resource.kubernetes.io/admin-access': 'true' } } }, { type: 'merge' })
  await slice('one', [{ name: 'a', taints: [{ key: 'sick', value: 'yes', effect: 'NoSchedule' }] }])
  expect(await place('healthy', [exactly('r')])).toContain('cannot allocate all claims')
  await pods().delete('healthy', { namespace })
  const tolerations = [{ key: 'sick', operator: 'Equal', value: 'yes' }]
  expect(await place('admin', [exactly('r', { adminAccess: true, tolerations })])).toBe('node-1')
  expect(await place('user', [exactly('r', { tolerations })])).toBe('node-1')
})

test('a DeviceTaintRule taints the devices of its driver, pool and name until it is deleted', async () => {
  await slice('one', [{ name: 'a' }, { name: 'b' }])
  const taint = { key: 'sick', effect: 'NoSchedule' }
  const rule = (name: string, deviceSelector: object) =>
    create(apiVersion, 'DeviceTaintRule', { metadata: { name }, spec: { deviceSelector, taint } })
  await rule('elsewhere', { driver: 'other.example.com' })
  await rule('first', { driver, pool: 'one', device: 'a' })
  expect(await place('next', [exactly('r')])).toBe('node-1')
  expect(await devicesOf('next')).toEqual(['r=b'])
  expect(await place('waiting', [exactly('r')])).toContain('cannot allocate all claims')
  await server.client.resource({ group: 'resource.k8s.io', version: 'v1', plural: 'devicetaintrules', namespaced: false }).delete('first')
  expect(await placeOf('waiting')).toBe('node-1')
  expect(await devicesOf('waiting')).toEqual(['r=a'])
})

test('a DeviceTaintRule with NoExecute evicts the Pods that do not tolerate it, and reports its progress', async () => {
  await slice(
    'one',
    ['a', 'b', 'c', 'd'].map((name) => ({ name })),
  )
  const tolerating = (seconds: object) => ({ tolerations: [{ key: 'sick', operator: 'Exists', effect: 'NoExecute', ...seconds }] })
  await place('staying', [exactly('r', tolerating({}))])
  await place('late', [exactly('r', tolerating({ tolerationSeconds: 3600 }))])
  await place('evicted', [exactly('r')])
  const rules = server.client.resource<Rule>({ group: 'resource.k8s.io', version: 'v1', plural: 'devicetaintrules', namespaced: false })
  const rule = (name: string, effect: string) =>
    create(apiVersion, 'DeviceTaintRule', { metadata: { name }, spec: { deviceSelector: { driver }, taint: { key: 'sick', effect } } })
  await rule('trial', 'None')
  await server.settled({ within: 60_000 })
  const reportOf = async (name: string) => (await rules.get(name)).status?.conditions[0]
  expect(await reportOf('trial')).toMatchObject({
    ...{ type: 'EvictionInProgress', status: 'False', reason: 'NoEffect', observedGeneration: 1 },
    message: expect.stringMatching(
      /^4 published devices selected. 3 allocated devices selected. 2 pods would be evicted in 1 namespace if /,
    ),
  })
  await rule('sick', 'NoExecute')
  await server.settled({ within: 60_000 })
  const left = await pods().list({ namespace })
  expect(left.items.map(({ metadata }) => metadata.name).sort()).toEqual(['late', 'staying'])
  expect(await reportOf('sick')).toMatchObject({ status: 'True', reason: 'PodsPendingEviction' })
  await rules.delete('sick')
  await server.settled({ within: 60_000 })
  const { items } = await server.client
    .resource<Event>({ group: '', version: 'v1', plural: 'events', namespaced: true })
    .list({ namespace })
  const told = items.filter(({ reason }) => reason === 'DeviceTaintManagerEviction')
  expect(told.map(({ message, involvedObject, source }) => [involvedObject.name, message, source.component]).sort()).toEqual([
    ['evicted', 'Marking for deletion', 'device-taint-eviction-controller'],
    ['late', 'Cancelling deletion', 'device-taint-eviction-controller'],
  ])
})

test('a Pod waits for the binding conditions of its devices, and a failure condition frees the claim', async () => {
  const conditions = { bindingConditions: ['Attached'], bindingFailureConditions: ['Broken'], bindsToNode: true }
  await slice(
    'fabric',
    [
      { name: 'a', ...conditions },
      { name: 'b', ...conditions },
    ],
    { allNodes: true },
  )
  const report = async (name: string, type: string) => {
    const claim = await claims().get(name, { namespace })
    const [{ device } = { device: '' }] = claim.status?.allocation?.devices.results ?? []
    const condition = { type, status: 'True', reason: 'Cabled', message: 'by hand', lastTransitionTime: '2030-01-01T00:00:00Z' }
    const devices = [{ driver, pool: 'fabric', device, conditions: [condition] }]
    await claims().patch(name, { status: { devices } }, { type: 'merge', subresource: 'status', namespace })
  }
  const eventsOf = async (name: string) => {
    const { items } = await server.client
      .resource<Event>({ group: '', version: 'v1', plural: 'events', namespaced: true })
      .list({ namespace })
    return items.filter(({ involvedObject }) => involvedObject.name === name).map(({ message }) => message)
  }
  expect(await place('good', [exactly('r')])).toBe('')
  const { status } = await claims().get('good', { namespace })
  expect(status?.allocation?.devices.results).toMatchObject([{ bindingConditions: ['Attached'], bindingFailureConditions: ['Broken'] }])
  expect(await eventsOf('good')).toEqual([expect.stringMatching(/^waiting for binding conditions for device on node node-[12]$/)])
  await report('good', 'Attached')
  await vi.waitFor(async () => expect((await pods().get('good', { namespace })).spec.nodeName).toMatch(/^node-/), { timeout: 60_000 })
  await place('bad', [exactly('r')])
  await report('bad', 'Broken')
  await vi.waitFor(
    async () =>
      expect(await eventsOf('bad')).toEqual(
        expect.arrayContaining([
          'running PreBind plugin "DynamicResources": device binding failed: claim=bad, reason=Cabled, message="by hand"',
          expect.stringContaining('deallocation of ResourceClaim completed'),
        ]),
      ),
    { timeout: 60_000 },
  )
})

/** A class whose devices provide an extended resource. */
const aResourceClass = (name: string, resource?: string) => {
  const spec = { ...cel(`device.driver == "${driver}"`), ...(resource !== undefined && { extendedResourceName: resource }) }
  return create(apiVersion, 'DeviceClass', { metadata: { name }, spec })
}

/** A Pod whose containers, by name, request these amounts of extended resources. Returns its place. */
async function request(pod: string, containers: Record<string, object>, inits: Record<string, object> = {}): Promise<string> {
  const listed = (all: Record<string, object>) => Object.entries(all).map(([name, limits]) => ({ name, image: 'i', resources: { limits } }))
  await create('v1', 'Pod', { metadata: { name: pod, namespace }, spec: { containers: listed(containers), initContainers: listed(inits) } })
  return placeOf(pod)
}

test('the scheduler makes a claim for the extended resources of a Pod that devices of a node provide, which goes with the Pod', async () => {
  const [resource, implicit] = ['example.com/accel', 'deviceclass.resource.kubernetes.io/plain']
  const inits = { before: { [resource]: 4 } }
  expect(await request('user', { one: { cpu: '1', [resource]: 2 }, two: { [implicit]: 1 } }, inits)).toContain(`Insufficient ${resource}`)
  await aResourceClass('accel', resource)
  expect(await placeOf('user')).toContain(`Insufficient ${implicit}`)
  await aResourceClass('plain')
  expect(await placeOf('user')).toContain('2 cannot allocate all claims')
  await slice('few', [{ name: 'a' }, { name: 'b' }])
  await slice(
    'all',
    ['c', 'd', 'e', 'f', 'g'].map((name) => ({ name })),
    { nodeName: 'node-2' },
  )
  await vi.waitFor(async () => expect(await placeOf('user')).toBe('node-2'), { timeout: 60_000 })
  const { metadata, status } = await pods().get('user', { namespace })
  const mapping = (containerName: string, resourceName: string, requestName: string) => ({ containerName, resourceName, requestName })
  expect(status.extendedResourceClaimStatus).toEqual({
    requestMappings: [
      mapping('two', implicit, 'container-2-request-0'),
      mapping('one', resource, 'container-1-request-1'),
      mapping('before', resource, 'container-1-request-1'),
      mapping('before', resource, 'container-0-request-0'),
    ],
    resourceClaimName: expect.stringMatching(/^user-extended-resources-/),
  })
  const { resourceClaimName = '' } = status.extendedResourceClaimStatus ?? {}
  const exactly = (deviceClassName: string, count: number) => ({ deviceClassName, allocationMode: 'ExactCount', count })
  expect(await claims().get(resourceClaimName, { namespace })).toMatchObject({
    metadata: {
      annotations: { 'resource.kubernetes.io/extended-resource-claim': 'true' },
      finalizers: ['resource.kubernetes.io/delete-protection'],
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'user', uid: metadata.uid, controller: true }],
    },
    spec: {
      devices: {
        requests: [
          { name: 'container-0-request-0', exactly: exactly('accel', 2) },
          { name: 'container-1-request-1', exactly: exactly('accel', 2) },
          { name: 'container-2-request-0', exactly: exactly('plain', 1) },
        ],
      },
    },
    status: { reservedFor: [{ resource: 'pods', name: 'user', uid: metadata.uid }] },
  })
  const without = { status: { extendedResourceClaimStatus: null } }
  const kept = await pods().patch('user', without, { type: 'merge', subresource: 'status', namespace })
  expect(kept.status.extendedResourceClaimStatus).toEqual(status.extendedResourceClaimStatus)
  expect(await request('next', { main: { [resource]: 3 } })).toContain('2 cannot allocate all claims')
  await pods().delete('user', { namespace }, { gracePeriodSeconds: 0 })
  await vi.waitFor(async () => expect(await placeOf('next')).toBe('node-2'), { timeout: 60_000 })
  await vi.waitFor(
    async () => {
      const { items } = await claims().list({ namespace })
      expect(items.map(({ status: { reservedFor } = {} }) => reservedFor?.map(({ name }) => name))).toEqual([['next']])
    },
    { timeout: 60_000 },
  )
})

test('devices with shared counters are allocated while the counters last, also for a device on another node', async () => {
  const sets = (value: string) => [{ counterSet: 'memory', counters: { size: { value } } }]
  const counters = { sharedCounters: [{ name: 'memory', counters: { size: { value: '10Gi' } } }] }
  await create(apiVersion, 'ResourceSlice', {
    metadata: { name: 'counters' },
    spec: { driver, pool: { name: 'p', generation: 1, resourceSliceCount: 2 }, allNodes: true, ...counters },
  })
  await slice(
    'parts',
    [
      { name: 'half-1', nodeName: 'node-1', consumesCounters: sets('5Gi') },
      { name: 'most-1', nodeName: 'node-1', consumesCounters: sets('6Gi') },
      { name: 'half-2', nodeName: 'node-2', consumesCounters: sets('5Gi') },
    ],
    { pool: 'p', count: 2, perDeviceNodeSelection: true },
  )
  expect(await place('one', [exactly('r')])).toMatch(/^node-/)
  expect(await place('two', [exactly('r')])).toMatch(/^node-/)
  expect([...(await devicesOf('one')), ...(await devicesOf('two'))].sort()).toEqual(['r=half-1', 'r=half-2'])
  expect(await place('three', [exactly('r')])).toContain('cannot allocate all claims')
})

test('claims share a device that allows it, up to its capacity', async () => {
  const requestPolicy = { default: '1Gi', validRange: { min: '1Gi', step: '1Gi' } }
  await slice('one', [{ name: 'a', allowMultipleAllocations: true, capacity: { memory: { value: '4Gi', requestPolicy } } }])
  const part = (memory: string) => [exactly('r', { capacity: { requests: { memory } } })]
  expect(await place('half', part('1500Mi'))).toBe('node-1')
  expect(await place('usual', [exactly('r')])).toBe('node-1')
  expect(await place('much', part('2Gi'))).toContain('cannot allocate all claims')
  const results = await Promise.all(
    ['half', 'usual'].map(async (name) => (await claims().get(name, { namespace })).status?.allocation?.devices),
  )
  expect(results.map((one) => one?.results[0])).toMatchObject([
    { device: 'a', shareID: expect.any(String), consumedCapacity: { memory: '2Gi' } },
    { device: 'a', shareID: expect.any(String), consumedCapacity: { memory: '1Gi' } },
  ])
})

test('a claim allocated for a deleted node is released, so that its Pod runs on another node', async () => {
  await slice('one', [{ name: 'a' }])
  await create(apiVersion, 'ResourceClaim', { metadata: { name: 'moved', namespace }, spec: { devices: { requests: [exactly('r')] } } })
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: ['node-9'] }]
  const allocation = {
    devices: { results: [{ request: 'r', driver, pool: 'nine', device: 'a' }] },
    nodeSelector: { nodeSelectorTerms: [{ matchFields }] },
  }
  await claims().patch('moved', { status: { allocation } }, { type: 'merge', subresource: 'status', namespace })
  expect(await use('moved', 'pod')).toBe('node-1')
  expect(await devicesOf('moved')).toEqual(['r=a'])
})

test('SCHED-23: a Pod with a claim of 33 devices is refused, and a search beyond its time limit ends with a sentence', async () => {
  await slice(
    'one',
    Array.from({ length: 60 }, (_, at) => ({ name: `d-${at}`, attributes: { at: { int: at } } })),
  )
  expect(await place('many', [exactly('r', { count: 20 }), exactly('s', { count: 12 })])).toBe('node-1')
  expect((await devicesOf('many')).length).toBe(32)
  await pods().delete('many', { namespace })
  expect(await place('more', [exactly('r', { count: 32 }), exactly('s')])).toBe(
    'running "DynamicResources" filter plugin: claim default/more, request s: adding 1 devices exceeds the claim limit of 32, with 32 already accounted for',
  )
  const never = { constraints: [{ matchAttribute: `${driver}/absent`, requests: ['z'] }] }
  expect(await place('long', [...'abcde'].map((name) => exactly(name, { count: 4 })).concat(exactly('z')), never)).toContain(
    'node node-1: timed out trying to allocate devices',
  )
})

test('a node that lacks one of many devices does not end the search on the others', async () => {
  const devices = (count: number) => Array.from({ length: count }, (_, at) => ({ name: `d-${at}` }))
  await slice('one', devices(20))
  await slice('two', devices(21), { nodeName: 'node-2' })
  expect(await place('many', [exactly('r', { count: 21 })])).toBe('node-2')
})

test('a Pod with a shared claim preempts Pods of lower priority on the node of its devices', async () => {
  await slice('one', [{ name: 'a' }])
  expect(await place('shared', [exactly('r')])).toBe('node-1')
  await create('scheduling.k8s.io/v1', 'PriorityClass', { metadata: { name: 'high' }, value: 1_000 })
  const container = (cpu: string) => ({ name: 'main', image: 'i', resources: { requests: { cpu } } })
  await create('v1', 'Pod', { metadata: { name: 'large', namespace }, spec: { nodeName: 'node-1', containers: [container('7')] } })
  const resourceClaims = [{ name: 'devices', resourceClaimName: 'shared' }]
  const spec = { containers: [container('5')], priorityClassName: 'high', resourceClaims }
  await create('v1', 'Pod', { metadata: { name: 'urgent', namespace }, spec })
  await expect.poll(() => placeOf('urgent'), { timeout: 60_000 }).toBe('node-1')
  await expect(pods().get('large', { namespace })).rejects.toMatchObject({ code: 404 })
  const { status } = await claims().get('shared', { namespace })
  expect(status?.reservedFor?.map(({ name }) => name)).toEqual(['shared', 'urgent'])
})

test('a claim that a Pod names twice gets its devices once', async () => {
  await slice('one', [{ name: 'a' }])
  await create(apiVersion, 'ResourceClaim', { metadata: { name: 'twice', namespace }, spec: { devices: { requests: [exactly('r')] } } })
  const resourceClaims = ['x', 'y'].map((name) => ({ name, resourceClaimName: 'twice' }))
  const spec = { containers: [{ name: 'main', image: 'i' }], resourceClaims }
  await create('v1', 'Pod', { metadata: { name: 'twice', namespace }, spec })
  expect(await placeOf('twice')).toBe('node-1')
  expect(await devicesOf('twice')).toEqual(['r=a'])
})
