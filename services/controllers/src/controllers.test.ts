import { createClient, type TransportResponse } from '@orch/client'
import { alreadyExists, invalid, notFound } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import { createMetrics, createWorkqueue, workqueueMetricsOf } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { describe, expect, test } from 'vitest'
import { bootstrap, fixedObjects, gatewayObjects, holds, removeEndpointSlices } from './bootstrap.ts'
import { controllerNames, selectControllers } from './controller-names.ts'
import { namespaceConditions } from './namespace-controller.ts'

const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('the workqueue', () => {
  function aQueue(work: (key: string) => Promise<void>, workersMax = 2, retriesMax?: number) {
    const clock = createFakeClock()
    const errors: string[] = []
    const ending = new AbortController()
    const { signal } = ending
    const counted = createMetrics({ process: false })
    const metrics = workqueueMetricsOf(counted, clock)
    const onError = (key: string) => void errors.push(key)
    const queue = createWorkqueue({ name: 'one', metrics, work, onError, clock, random: () => 0, signal, workersMax, retriesMax })
    /** The value of a metric of this queue. */
    const value = async (name: string) =>
      Number(new RegExp(`^workqueue_${name}{name="one"} (\\S+)$`, 'm').exec(await counted.text())?.[1] ?? Number.NaN)
    return { clock, errors, queue, ending, value }
  }

  test('adds no key that is already waiting', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const worked: string[] = []
    const { queue } = aQueue((key) => (worked.push(key) === 1 ? promise : Promise.resolve()), 1)
    for (const key of ['a', 'b', 'b', 'b']) queue.add(key)
    resolve()
    await settled()
    expect(worked).toEqual(['a', 'b'])
  })

  test('counts waiting and running keys, with their times', async () => {
    const ways = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let begun = 0
    const { clock, queue, value } = aQueue(async () => ways[begun++]?.promise, 1)
    for (const key of ['a', 'b', 'b']) queue.add(key)
    await settled()
    clock.advance(2_000)
    expect([await value('adds_total'), await value('depth')]).toEqual([2, 1])
    expect([await value('unfinished_work_seconds'), await value('longest_running_processor_seconds')]).toEqual([2, 2])
    ways[0]?.resolve()
    await settled()
    clock.advance(1_000)
    expect([await value('depth'), await value('unfinished_work_seconds')]).toEqual([0, 1])
    expect([await value('work_duration_seconds_sum'), await value('queue_duration_seconds_sum')]).toEqual([2, 2])
    expect(await value('retries_total')).toBeNaN()
    ways[1]?.reject(new Error('not yet'))
    await settled()
    expect([await value('retries_total'), await value('unfinished_work_seconds'), await value('work_duration_seconds_count')]).toEqual([
      1, 0, 2,
    ])
    clock.advance(60_000)
    await settled()
    expect([await value('adds_total'), await value('work_duration_seconds_count')]).toEqual([3, 3])
    await queue.close()
  })

  test('WL-COMMON-05: drops a key that fails too often until it is added again, and then counts its failures anew', async () => {
    const { clock, errors, queue } = aQueue(() => Promise.reject(new Error('never')), 1, 2)
    const passTime = async () => {
      for (let times = 0; times < 6; times++) {
        clock.advance(60_000)
        await settled()
      }
    }
    queue.add('a')
    await passTime()
    expect(errors).toEqual(['a', 'a', 'a'])
    queue.add('a')
    await passTime()
    expect(errors).toHaveLength(6)
    await queue.close()
  })

  test('holds no waiting keys after it is closed', async () => {
    const way = Promise.withResolvers<void>()
    const { queue, value } = aQueue(() => way.promise, 1)
    for (const key of ['a', 'b']) queue.add(key)
    await settled()
    expect(await value('depth')).toBe(1)
    const closed = queue.close()
    way.resolve()
    await closed
    expect([await value('depth'), await value('unfinished_work_seconds')]).toEqual([0, 0])
  })

  test('neither counts nor retries work that a stop has interrupted', async () => {
    const cut = Promise.withResolvers<void>()
    const worked: string[] = []
    const { clock, errors, queue, ending } = aQueue((key) => (worked.push(key) === 1 ? cut.promise : Promise.resolve()), 1)
    for (const key of ['a', 'b']) queue.add(key)
    await settled()
    ending.abort()
    cut.reject(new DOMException('This operation was aborted', 'AbortError'))
    await settled()
    clock.advance(60_000)
    await settled()
    expect({ errors, worked }).toEqual({ errors: [], worked: ['a'] })
    await queue.close()
  })

  test('starts work when the initial list has been received', async () => {
    const order: string[] = []
    const { queue } = aQueue(async (key) => void order.push(key))
    queue.add('a')
    order.push('told')
    await settled()
    expect(order).toEqual(['told', 'a'])
  })

  test('repeats the work for a key that is added during its work', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    let atOnce = 0
    const worked: number[] = []
    const { queue } = aQueue(async () => {
      worked.push(++atOnce)
      await promise
      atOnce--
    })
    queue.add('a')
    queue.add('a')
    queue.add('a')
    resolve()
    await settled()
    expect(worked).toEqual([1, 1])
  })

  test('retries a failure with growing delays', async () => {
    let attempts = 0
    const { queue, clock, errors } = aQueue(async () => {
      if (++attempts < 3) throw new Error('not yet')
    })
    queue.add('a')
    await settled()
    clock.advance(9)
    await settled()
    expect(attempts).toBe(1)
    clock.advance(1)
    await settled()
    clock.advance(19)
    await settled()
    expect(attempts).toBe(2)
    clock.advance(1)
    await settled()
    expect([attempts, errors, clock.pendingTimers]).toEqual([3, ['a', 'a'], 0])
  })

  test('uses the shorter of two delays for one key', async () => {
    const worked: number[] = []
    const { queue, clock } = aQueue(async () => void worked.push(clock.monotonic()))
    for (const delayMs of [50, 20, 30]) queue.addAfter('a', delayMs)
    for (const byMs of [20, 80]) {
      clock.advance(byMs)
      await settled()
    }
    expect([worked, clock.pendingTimers]).toEqual([[20], 0])
  })

  test('waits at its close for the work in progress, and drops the rest', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const worked: string[] = []
    const { queue, clock } = aQueue(async (key) => {
      worked.push(key)
      await promise
    }, 1)
    queue.add('a')
    queue.add('b')
    queue.addAfter('c', 5)
    const closed = queue.close()
    resolve()
    await closed
    expect([worked, clock.pendingTimers]).toEqual([['a'], 0])
  })
})

describe('FLAG-29: --controllers', () => {
  const names = (...words: string[]) => selectControllers(words)

  test('FLAG-29, CTRL-02: accepts * for all but the bootstrap token controllers, a name to add a controller, and a name with a dash to remove it', () => {
    const usual = names('*')
    const others = ['tokencleaner', 'bootstrapsigner', ...names('workloads'), ...names('nodes')]
    expect(usual).toContain('namespace')
    expect([...usual, ...others]).toEqual(controllerNames)
    expect(names('*', '-namespace')).toEqual(usual.filter((name) => name !== 'namespace'))
    expect(names('namespace')).toEqual(['namespace'])
    expect(names('-namespace')).toEqual([])
    expect(names('-*')).toEqual([])
    expect(names('-namespace', '*', 'namespace')).toEqual(usual)
    expect(names('*', 'tokencleaner')).toContain('tokencleaner')
  })

  test('WL-COMMON-40: starts the controllers of workloads and nodes that it names, together or alone, by short or long names', () => {
    expect(names('workloads')).toEqual(expect.arrayContaining(['replicaset', 'statefulset', 'endpointslicemirroring']))
    expect(names('workloads')).not.toContain('namespace')
    const others = names('workloads').filter((name) => name !== 'replicaset' && name !== 'job')
    expect(names('workloads', '-replicaset-controller', '-job')).toEqual(others)
    expect(names('replicaset-controller', 'namespace-controller')).toEqual(['namespace', 'replicaset'])
    expect(names('endpoints-controller', 'endpointslice-mirroring-controller')).toEqual(['endpoint', 'endpointslicemirroring'])
    expect(names('workloads', '-workloads')).toEqual([])
    expect(names('pod-garbage-collector-controller', 'nodes', '-podgc')).toEqual(names('nodes').filter((name) => name !== 'podgc'))
  })

  test('FLAG-29: refuses an unknown name and suggests the nearest', () => {
    expect(() => names('*', '-namespaces')).toThrow(
      `unknown controller namespaces; did you mean namespace? (known: ${controllerNames.join(', ')}, workloads, nodes)`,
    )
  })
})

describe('conditions of a namespace that is being emptied', () => {
  const nothing = { undiscovered: undefined, failures: [], remaining: new Map(), finalizers: new Map() }
  const nowMs = Date.UTC(2026, 0, 1)

  test('report the remaining contents and their finalizers', () => {
    const report = { ...nothing, remaining: new Map([['pods.', 2]]), finalizers: new Map([['example.com/x', 1]]) }
    const conditions = namespaceConditions([], report, nowMs)
    expect(conditions.map(({ type, status, reason }) => [type, status, reason])).toEqual([
      ['NamespaceDeletionDiscoveryFailure', 'False', 'ResourcesDiscovered'],
      ['NamespaceDeletionGroupVersionParsingFailure', 'False', 'ParsedGroupVersions'],
      ['NamespaceDeletionContentFailure', 'False', 'ContentDeleted'],
      ['NamespaceContentRemaining', 'True', 'SomeResourcesRemain'],
      ['NamespaceFinalizersRemaining', 'True', 'SomeFinalizersRemain'],
    ])
    expect(conditions.map(({ message }) => message)).toEqual([
      'All resources successfully discovered',
      'All legacy kube types successfully parsed',
      'All content successfully deleted, may be waiting on finalization',
      'Some resources are remaining: pods. has 2 resource instances',
      'Some content in the namespace has finalizers remaining: example.com/x in 1 resource instances',
    ])
    expect(conditions[3]).toMatchObject({
      lastTransitionTime: '2026-01-01T00:00:00Z',
    })
  })

  test('the time of a transition moves only when the status does, and an unchanged report changes nothing', () => {
    const first = namespaceConditions([], { ...nothing, failures: ['pods: no'] }, nowMs)
    expect(namespaceConditions(first, { ...nothing, failures: ['pods: no'] }, nowMs + 5_000)).toBe(first)
    const second = namespaceConditions(first, { ...nothing, failures: ['pods: never'] }, nowMs + 5_000)
    expect(second[2]).toMatchObject({ message: expect.stringContaining('never'), lastTransitionTime: '2026-01-01T00:00:00Z' })
    const third = namespaceConditions(second, nothing, nowMs + 5_000)
    expect(third[2]).toMatchObject({ status: 'False', lastTransitionTime: '2026-01-01T00:00:05Z' })
  })
})

test('the bootstrap objects carry the names of the profile', () => {
  const options = { names: namesOf('kubernetes'), serviceAddress: '10.0.0.1', advertised: [{ address: '192.0.2.7', port: 6443 }] }
  const serviceRange = { cidrs: ['10.0.0.0/24', 'fd00::/112'], now: '2030-01-01T00:00:00Z' }
  const objects = [...fixedObjects(options.names, serviceRange), ...gatewayObjects(options)].map(({ object }) => object)
  expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
    'Namespace kube-system',
    'Namespace kube-public',
    'Namespace kube-node-lease',
    'Namespace default',
    'PriorityClass system-node-critical',
    'PriorityClass system-cluster-critical',
    'ServiceCIDR kubernetes',
    'Service kubernetes',
    'Endpoints kubernetes',
    'EndpointSlice kubernetes',
  ])
  expect(objects[4]).toMatchObject({ apiVersion: 'scheduling.k8s.io/v1', value: 2000001000 })
  expect(objects[6]).toMatchObject({ spec: { cidrs: ['10.0.0.0/24', 'fd00::/112'] } })
  expect(objects[7]).toMatchObject({ spec: { clusterIP: '10.0.0.1', ports: [{ port: 443, targetPort: 6443 }] } })
})

test('slices of the Service list every gateway: one slice for each port and family, the first with the name of the Service', () => {
  const addresses = ['192.0.2.7 6443', '192.0.2.8 6443', '2001:db8::1 6443', '192.0.2.7 6444'].map((text) => text.split(' '))
  const advertised = addresses.map(([address = '', port]) => ({ address, port: Number(port) }))
  const objects = gatewayObjects({ names: namesOf('kubernetes'), serviceAddress: '10.0.0.1', advertised })
  const slices = objects.flatMap(({ object }) => (object.kind === 'EndpointSlice' ? [object as unknown as Slice] : []))
  expect(
    slices.map(({ metadata, addressType, endpoints, ports }) => [
      metadata.name,
      addressType,
      ports[0]?.port,
      endpoints.flatMap((one) => one.addresses),
    ]),
  ).toEqual([
    ['kubernetes', 'IPv4', 6443, ['192.0.2.7', '192.0.2.8']],
    ['kubernetes-6443-ipv6', 'IPv6', 6443, ['2001:db8::1']],
    ['kubernetes-6444-ipv4', 'IPv4', 6444, ['192.0.2.7']],
  ])
  for (const { metadata } of slices) expect(metadata.labels).toMatchObject({ 'kubernetes.io/service-name': 'kubernetes' })
  expect(slices[0]?.metadata.labels).toEqual({ 'kubernetes.io/service-name': 'kubernetes' })
})

interface Slice {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> }
  readonly addressType: string
  readonly endpoints: readonly { readonly addresses: readonly string[] }[]
  readonly ports: readonly { readonly port: number }[]
}

test('slices of removed gateways are deleted, and no other slices', async () => {
  const names = namesOf('kubernetes')
  const asked: string[] = []
  const named = (name: string) => ({ metadata: { name, namespace: 'default' } })
  const items = ['kubernetes-6444-ipv4', 'kubernetes-6445-ipv4', 'kubernetes-6446-ipv4'].map(named)
  const send = async ({ method, path }: { method: string; path: string }): Promise<TransportResponse> => {
    asked.push(`${method} ${path}`)
    const status = path.endsWith('6446-ipv4') ? 404 : 200
    const gone = notFound({ group: 'discovery.k8s.io', resource: 'endpointslices' }, 'a').status
    const body = method === 'GET' ? { kind: 'EndpointSliceList', metadata: {}, items } : status === 404 ? gone : {}
    return { status, headers: {}, body: bytesOf(JSON.stringify(body)) }
  }
  const advertised = [6443, 6444].map((port) => ({ address: '192.0.2.7', port }))
  await removeEndpointSlices(createClient({ send, close() {} }), names, gatewayObjects({ names, serviceAddress: '10.0.0.1', advertised }))
  const path = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices'
  const labels = 'kubernetes.io/service-name=kubernetes,endpointslice.kubernetes.io/managed-by=kube-apiserver'
  expect(asked.map((text) => decodeURIComponent(text))).toEqual([
    `GET ${path}?labelSelector=${labels}`,
    `DELETE ${path}/kubernetes-6445-ipv4`,
    `DELETE ${path}/kubernetes-6446-ipv4`,
  ])
})

test('an object with additional fields still contains the wanted fields', () => {
  const live = { a: 1, b: { c: [{ d: 1, e: 2 }] } }
  expect(holds(live, { b: { c: [{ d: 1 }] } })).toBe(true)
  expect(holds(live, { b: { c: [] } })).toBe(false)
  expect(holds(live, { b: { x: 1 } })).toBe(false)
})

describe('the bootstrap objects', () => {
  const wanted = gatewayObjects({
    names: namesOf('orch'),
    serviceAddress: '10.0.0.1',
    advertised: [{ address: '192.0.2.7', port: 6443 }],
  }).filter(({ object }) => object.kind === 'Service')
  const exists = alreadyExists({ group: '', resource: 'services' }, 'orch').status
  const absent = notFound({ group: '', resource: 'services' }, 'orch').status
  const refused = invalid({ group: '', kind: 'Service' }, 'orch', []).status

  /** Runs the start against a server with these answers, one per request; returns the requests. */
  async function asked(...answers: [number, unknown][]) {
    const methods: string[] = []
    const send = async ({ method }: { method: string }): Promise<TransportResponse> => {
      methods.push(method)
      const [status, body] = answers.shift()!
      return { status, headers: {}, body: bytesOf(JSON.stringify(body)) }
    }
    await bootstrap(createClient({ send, close() {} }), wanted)
    return methods
  }

  test('a bootstrap object that is absent is created, also when another client creates it first', async () => {
    expect(await asked([404, absent], [201, {}])).toEqual(['GET', 'POST'])
    expect(await asked([404, absent], [409, exists])).toEqual(['GET', 'POST'])
  })

  test('a bootstrap object that is present and unchanged is left unchanged', async () => {
    expect(await asked([200, wanted[0]!.object])).toEqual(['GET'])
  })

  test('a bootstrap object that has been changed is patched', async () => {
    expect(await asked([200, { metadata: {} }], [200, {}])).toEqual(['GET', 'PATCH'])
  })

  test('a bootstrap object that is being deleted is created later', async () => {
    expect(await asked([200, { metadata: { deletionTimestamp: 'now' } }])).toEqual(['GET'])
  })

  test('a bootstrap object that cannot be changed is created again', async () => {
    expect(await asked([200, { metadata: {} }], [422, refused], [200, {}], [201, {}])).toEqual(['GET', 'PATCH', 'DELETE', 'POST'])
  })
})

async function* bytesOf(text: string) {
  yield new TextEncoder().encode(text)
}
